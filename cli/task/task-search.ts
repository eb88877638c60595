/** The filters that tasks are looked for by, and the search: as many pages as it takes. */
import type { SodaClient, TaskSummary } from '@soda-scheduler/client';
import {
  failureReasons,
  HTTP_LIMITS,
  notificationStates,
  taskStates,
} from '@soda-scheduler/protocol';
import { type Command, Option } from 'commander';
import { Failure } from '../exit-code.ts';
import { instantOf, TIME } from '../instant.ts';
import { number, once } from '../options.ts';

/** Each looks at tens of thousands of tasks. */
const EMPTY_PAGE_COUNT_MAX = 1000;

export type Query = NonNullable<Parameters<SodaClient['list']>[0]>;

/** What tasks are looked for by, as the command line has it. */
export interface FilterOptions {
  readonly state?: Query['state'];
  readonly type?: string;
  readonly group?: string;
  readonly project?: string;
  readonly env?: string;
  readonly user?: string;
  readonly label?: string;
  readonly requires?: string;
  readonly executor?: string;
  readonly idPrefix?: string;
  readonly error?: string;
  readonly failureReason?: Query['failure_reason'];
  readonly notification?: Query['notification'];
  readonly from?: string;
  readonly to?: string;
  readonly minAttempts?: number;
  readonly job?: string;
}

export type SearchOptions = FilterOptions & {
  readonly sort?: NonNullable<Query['sort']>;
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
    .addOption(once(new Option('--project <name>', 'of this project only')))
    .addOption(once(new Option('--env <name>', 'of this environment only')))
    .addOption(once(new Option('--user <name>', 'submitted by this user only')))
    .addOption(once(new Option('--label <label>', 'with this label only')))
    .addOption(once(new Option('--requires <label>', 'which require this label only')))
    .addOption(
      once(new Option('--executor <id>', 'whose newest attempt this executor has, or had')),
    )
    .addOption(once(new Option('--id-prefix <text>', 'whose id begins so')))
    .addOption(once(new Option('--error <text>', 'whose error has this text')))
    .addOption(once(new Option('--failure-reason <why>', 'failed so').choices(failureReasons)))
    .addOption(once(new Option('--notification <state>', ended).choices(notificationStates)))
    .addOption(once(new Option('--job <job>', 'which are runs of this job')))
    .addOption(once(new Option('--from <time>', `ended then or later, or were submitted, ${TIME}`)))
    .addOption(once(new Option('--to <time>', 'ended before, or were submitted')))
    .addOption(
      once(new Option('--min-attempts <count>', 'with so many attempts')).argParser(number),
    );
}

export function sortOption(): Option {
  const order = 'order: those that wait, by when their turn is';
  return once(new Option('--sort <order>', order).choices(['newest', 'order']));
}

/** As the API has it: what was given. */
export function queryOf(options: SearchOptions): Query {
  const { state, type, group, project, env, user, label, requires, error, notification } = options;
  const { from, to, sort, job } = options;
  const query = {
    ...{ state, type, group, project, env, user, label, requires, error, notification },
    from: instantOf(from)?.toString(),
    to: instantOf(to)?.toString(),
    executor_id: options.executor,
    id_prefix: options.idPrefix,
    failure_reason: options.failureReason,
    min_attempts: options.minAttempts,
    job,
    sort,
  };
  return Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined));
}

/** @throws {Failure} so many pages in a row have brought nothing that it gives up. */
export async function* search(
  client: SodaClient,
  query: Query,
  limit: number | undefined,
  signal: AbortSignal,
): AsyncGenerator<TaskSummary> {
  let left = limit ?? Number.POSITIVE_INFINITY;
  let emptyCount = 0;
  for (let cursor: string | undefined; ; ) {
    const size = Math.min(left, HTTP_LIMITS.listCountMax);
    const page = { ...query, limit: size, cursor };
    const { tasks, next_cursor } = await client.page(page, { signal });
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

/** The first so many; asks for nothing behind the last of them. */
export async function* upTo<T>(
  count: number | undefined,
  items: AsyncIterable<T>,
): AsyncGenerator<T> {
  let left = count ?? Number.POSITIVE_INFINITY;
  if (left <= 0) return;
  for await (const item of items) {
    yield item;
    left -= 1;
    if (left <= 0) return;
  }
}
