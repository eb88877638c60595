/** `soda task list`, `count`, `errors`: which tasks there are, how many, and why they failed. */
import { type ErrorList, exactJson, type SodaClient } from '@soda-scheduler/client';
import { endedStates, taskStates } from '@soda-scheduler/protocol';
import { type Command, Option } from 'commander';
import { type ConnectionOptions, connect, interruptible, remoteCommand } from '../connection.ts';
import { instantOf, TIME } from '../instant.ts';
import { count, once } from '../options.ts';
import { savedQuery } from '../view-command.ts';
import { rounded } from './progress-words.ts';
import { queryOf, search, type SearchOptions, searchOptions, sortOption } from './task-search.ts';

/** Failed tasks that are looked at where nobody says how many. */
const LOOK_COUNT = 10_000;

export function listCommand(): Command {
  const command = searchOptions(remoteCommand('list', 'List tasks, newest first.'));
  return command
    .addOption(sortOption())
    .addOption(
      once(new Option('--view <name>', 'what a saved view looks for, and what is given here')),
    )
    .option('--limit <count>', 'how many at most', count, 50)
    .addHelpText(
      'after',
      `
Into a pipe: id, state, type, group, percent, attempt, submit time and state of the callback, with
tabs between. What is rare among many tasks takes a while to find; Ctrl-C ends the search with 130.

Examples:
  $ soda task list --state failed --limit 1000
  $ soda task list --state failed --error 'moov atom' --from 2026-12-01T00:00:00Z
  $ soda task list --sort order --type transcode
  $ soda task list --view broken-inputs --group video
  $ soda task list --notification gave_up
  $ soda task list --state failed --json | jq -r .task_id | xargs soda task retry`,
    )
    .action(async (options: ConnectionOptions & SearchOptions & { view?: string }) => {
      const { client, output } = connect(options);
      const { view, limit } = options;
      const saved = view === undefined ? {} : await savedQuery(client, view);
      const query = { ...saved, ...queryOf(options) };
      const head = ['task', 'state', 'type', 'group', '%', 'attempt', 'submitted', 'callback'];
      await interruptible((signal) =>
        output.rows(
          search(client, query, limit, signal),
          head,
          (task) => [
            task.task_id,
            task.state,
            task.type,
            task.user.group,
            rounded(task.progress?.percent ?? null),
            task.attempt,
            task.submitted_at,
            task.notification?.state ?? null,
          ],
          (task) => exactJson(task),
        ),
      );
    });
}

type CountOptions = Pick<SearchOptions, 'state' | 'type' | 'group'>;

export function countCommand(): Command {
  return remoteCommand('count', 'Count live tasks by state; or ended ones, up to 10,000.')
    .addOption(once(new Option('--state <state>', 'in this state only').choices(taskStates)))
    .addOption(once(new Option('--type <type>', 'live tasks of this type only')))
    .addOption(once(new Option('--group <group>', 'live tasks of this group only')))
    .addHelpText('after', '\nAn ended state is counted in all: neither by type nor by group.')
    .action(async ({ state, type, group, ...options }: ConnectionOptions & CountOptions) => {
      const { client, output } = connect(options);
      const found = await client.count({ state, type, group });
      const states = Object.entries(found.states);
      output.fields(
        found,
        states.map(([name, count]) => [name, `${count}${found.exact ? '' : inexact(name)}`]),
      );
    });
}

/** Ended tasks are counted up to a bound; of live ones the last may not be stored. */
function inexact(state: string): string {
  const isEnded = endedStates.some((ended) => ended === state);
  return isEnded ? ' or more' : ', by memory alone: the store does not answer';
}

type ErrorOptions = Pick<SearchOptions, 'type' | 'group' | 'from' | 'to' | 'limit'>;

export function errorsCommand(): Command {
  return remoteCommand('errors', 'Tell why tasks have failed, the most frequent errors first.')
    .addOption(once(new Option('--type <type>', 'of this type only')))
    .addOption(once(new Option('--group <group>', 'of this group only')))
    .addOption(once(new Option('--from <time>', `failed then or later, ${TIME}`)))
    .addOption(once(new Option('--to <time>', 'failed before')))
    .option('--limit <count>', 'failed tasks to look at, about, the newest', count, LOOK_COUNT)
    .addHelpText(
      'after',
      `
Errors that differ in numbers, ids, times and paths only are one, with # in place of these.

Examples:
  $ soda task errors --from 2026-12-01T00:00:00Z
  $ soda task errors --type transcode --limit 100000`,
    )
    .action(async (options: ConnectionOptions & ErrorOptions) => {
      const { client, output } = connect(options);
      await interruptible(async (signal) => {
        const { errors, lookedCount, isAll } = await findErrors(client, options, signal);
        await output.rows(errors, ['count', 'error', 'such as'], ({ count, error, sample }) => [
          count,
          error,
          sample.join(' '),
        ]);
        if (!isAll)
          output.hint(`Of the newest ${lookedCount} failed tasks; --limit looks at more.`);
      });
    });
}

/** Page after page, with what is the same on several as one. */
async function findErrors(
  client: SodaClient,
  { type, group, from, to, limit = LOOK_COUNT }: ErrorOptions,
  signal: AbortSignal,
) {
  const asked = {
    type,
    group,
    from: instantOf(from)?.toString(),
    to: instantOf(to)?.toString(),
  };
  const known = new Map<string, ErrorList['errors'][number]>();
  let lookedCount = 0;
  let cursor: string | undefined;
  do {
    const page = await client.errors({ ...asked, cursor }, { signal });
    for (const one of page.errors) {
      const before = known.get(one.error);
      const count = one.count + (before?.count ?? 0);
      known.set(one.error, { ...one, ...before, count });
    }
    lookedCount += page.looked_at;
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined && lookedCount < limit);
  const errors = [...known.values()].sort((a, b) => b.count - a.count);
  return { errors, lookedCount, isAll: cursor === undefined };
}
