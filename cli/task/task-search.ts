/** The filters that tasks are looked for by, and the search: as many pages as it takes. */
import type { SodaClient, TaskSummary } from '@soda-scheduler/client';
import { HTTP_LIMITS, notificationStates, taskStates } from '@soda-scheduler/protocol';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { Failure } from '../exit-code.ts';

/** Each looks at tens of thousands of tasks. */
const EMPTY_PAGE_COUNT_MAX = 1000;

type Query = NonNullable<Parameters<SodaClient['list']>[0]>;

export type SearchOptions = Pick<Query, 'state' | 'type' | 'notification'> & {
  readonly group?: string;
  readonly label?: string;
  /** Of tasks found; none: all there are. */
  readonly limit?: number;
};

/** Gives the command the options of a search, the limit excepted. */
export function searchOptions(command: Command): Command {
  const ended = 'ended, and its callback is in this state';
  return command
    .addOption(once(new Option('--state <state>', 'in this state only').choices(taskStates)))
    .addOption(once(new Option('--type <type>', 'of this type only')))
    .addOption(once(new Option('--group <group>', 'of this group only')))
    .addOption(once(new Option('--label <label>', 'with this label only')))
    .addOption(once(new Option('--notification <state>', ended).choices(notificationStates)));
}

/** A second value would take the place of the first without a word. */
function once(option: Option): Option {
  const { parseArg: parse } = option;
  return option.argParser((value: string, previous?: string) => {
    if (previous !== undefined) throw new InvalidArgumentError('It takes one value only.');
    return parse?.<string | undefined>(value, previous) ?? value;
  });
}

/** @throws {Failure} so many pages in a row have brought nothing that it gives up. */
export async function* search(
  client: SodaClient,
  { state, type, group, label, notification, limit }: SearchOptions,
  signal: AbortSignal,
): AsyncGenerator<TaskSummary> {
  let left = limit ?? Number.POSITIVE_INFINITY;
  let emptyCount = 0;
  for (let cursor: string | undefined; ; ) {
    const size = Math.min(left, HTTP_LIMITS.listCountMax);
    const query = { state, type, group, label, notification, limit: size, cursor };
    const { tasks, next_cursor } = await client.page(query, { signal });
    yield* tasks;
    left -= tasks.length;
    if (left <= 0 || next_cursor === null) return;
    cursor = next_cursor;
    emptyCount = tasks.length === 0 ? emptyCount + 1 : 0;
    if (emptyCount === EMPTY_PAGE_COUNT_MAX) {
      throw new Failure('no more found among the last millions of tasks: --state makes them fewer');
    }
  }
}

export function number(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || Number.isNaN(value))
    throw new InvalidArgumentError('Expected a number.');
  return value;
}
