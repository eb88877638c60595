/** `soda task cancel`, `suspend`, `resume`, `first`, `last`, `retry`, `delete`, `redeliver`: one task, several, or those that a search finds. */
import type { SodaClient, TaskSummary } from '@soda-scheduler/client';
import { Argument, type Command } from 'commander';
import { type ConnectionOptions, connect, interruptible, remoteCommand } from '../connection.ts';
import { eachTask, Report, steerNamed } from './each-task.ts';
import { ExitCode, Failure } from '../exit-code.ts';
import { count } from '../options.ts';
import type { Output } from '../output.ts';
import { queryOf, search, type SearchOptions, searchOptions } from './task-search.ts';

/** Of what would be done, shown before it is. */
const SAMPLE_COUNT = 10;

export function cancelCommand(): Command {
  return steerCommand('cancel', 'Cancel tasks. A running attempt is told to end.')
    .option('--reason <text>', 'why, for the log of the master')
    .action(async (ids: string[], options: ConnectionOptions & { reason?: string }) => {
      const { reason } = options;
      await steer(options, ids, 'cancel requested', (client, id, signal) =>
        client.cancel(id, { signal, ...(reason !== undefined && { reason }) }),
      );
    });
}

export function suspendCommand(): Command {
  return steerCommand(
    'suspend',
    'Set tasks aside until they are resumed. A running attempt is told to end.',
  )
    .option('--reason <text>', 'why, for the log of the master')
    .addHelpText(
      'after',
      `
What it has saved as its checkpoint stays. It keeps its place in the order, and its deadline.

Examples:
  $ soda task suspend order-17 --reason 'the disk is needed'
  $ soda task resume order-17`,
    )
    .action(async (ids: string[], options: ConnectionOptions & { reason?: string }) => {
      const { reason } = options;
      await steer(options, ids, 'suspend requested', (client, id, signal) =>
        client.suspend(id, { signal, ...(reason !== undefined && { reason }) }),
      );
    });
}

export function resumeCommand(): Command {
  return steerCommand('resume', 'Put suspended tasks back to their places.').action(
    (ids: string[], options: ConnectionOptions) =>
      steer(options, ids, 'resumed', (client, id, signal) => client.resume(id, { signal })),
  );
}

export function firstCommand(): Command {
  return steerCommand('first', 'Put waiting tasks before all others of their type.')
    .addHelpText(
      'after',
      `
Before all that are due now; several in the order in which they are named. Limits, pauses and run times
hold. Other types are passed as far as the first of the type passes them. It stays there until it has
failed, or its priority or its time is changed.

Examples:
  $ soda task first order-17
  $ soda task list --sort order --type transcode`,
    )
    .action((ids: string[], options: ConnectionOptions) =>
      // From the last on: each comes before the one before it.
      steer(
        options,
        ids.toReversed(),
        'first of its type',
        (client, id, signal) => client.first(id, { signal }),
        1,
      ),
    );
}

export function lastCommand(): Command {
  return steerCommand('last', 'Put waiting tasks behind all others of their type.')
    .addHelpText(
      'after',
      `
Behind all that are due now, several in the order in which they are named; what is submitted later comes
behind.

Examples:
  $ soda task last order-17
  $ soda bulk last --label nightly --yes`,
    )
    .action((ids: string[], options: ConnectionOptions) =>
      steer(
        options,
        ids,
        'last of its type',
        (client, id, signal) => client.last(id, { signal }),
        1,
      ),
    );
}

export function retryCommand(): Command {
  return steerCommand('retry', 'Run ended tasks again, with fresh attempts.')
    .addHelpText(
      'after',
      `
Examples:
  $ soda task retry order-17 order-18
  $ soda task list --state failed --limit 1000 --json | jq -r .task_id | xargs soda task retry`,
    )
    .action((ids: string[], options: ConnectionOptions) =>
      steer(options, ids, 'runs again', (client, id, signal) => client.retry(id, { signal })),
    );
}

export function deleteCommand(): Command {
  return steerCommand('delete', 'Forget ended tasks, and all that is known of them.')
    .addHelpText(
      'after',
      `
One that waits or runs is cancelled first (soda task cancel). Its id is free then.

Examples:
  $ soda task delete order-17
  $ soda task list --state canceled --limit 1000 --json | jq -r .task_id | xargs soda task delete`,
    )
    .action((ids: string[], options: ConnectionOptions) =>
      steer(options, ids, 'deleted', (client, id, signal) => client.delete(id, { signal })),
    );
}

type RedeliverOptions = ConnectionOptions & SearchOptions & { readonly yes?: true };

export function redeliverCommand(): Command {
  const command = remoteCommand(
    'redeliver',
    'Send the callbacks of ended tasks again.',
  ).addArgument(new Argument('[id...]', 'the ids of the tasks'));
  return searchOptions(command)
    .option('--limit <count>', 'how many at most (default: all that are found)', count)
    .option('--yes', 'do it: without, a search only tells what it would send again')
    .addHelpText(
      'after',
      `
Either ids, or --notification and what else is to fit. A search sends the newest first, some at a
time, and ends with how many were done, skipped (they had changed meanwhile) and failed. Ctrl-C ends
it with 130; what was sent is sent, and the same command goes on with the rest.

Examples:
  $ soda task redeliver order-17
  $ soda task redeliver --notification gave_up --type transcode
  $ soda task redeliver --notification gave_up --type transcode --yes`,
    )
    .action(async (ids: string[], options: RedeliverOptions) => {
      const { notification, limit } = options;
      const isSearch = Object.keys(queryOf(options)).length > 0 || limit !== undefined;
      if (isSearch === ids.length > 0 || (isSearch && notification === undefined)) {
        throw new Failure('which callbacks? give either ids or --notification', ExitCode.usage);
      }
      if (isSearch) await redeliverFound(options);
      else await steer(options, ids, 'callback requested', redeliver);
    });
}

const redeliver = (client: SodaClient, id: string, signal: AbortSignal): Promise<void> =>
  client.redeliver(id, { signal });

async function redeliverFound(options: RedeliverOptions): Promise<void> {
  const { client, output } = connect(options);
  await interruptible(async (signal) => {
    const found = search(client, queryOf(options), options.limit, signal);
    if (options.yes !== true) {
      await preview(output, found);
      return;
    }
    const report = new Report();
    try {
      await eachTask(
        idsOf(found),
        (id) => redeliver(client, id, signal),
        (outcome) => {
          report.add(outcome);
          const { taskId, refusal } = outcome;
          if (output.json) {
            const { code = 200, message } = refusal ?? {};
            output.say({ task_id: taskId, code, message }, '');
          } else output.progress(report.counts);
        },
      );
    } finally {
      output.progress('');
      report.print(output);
    }
    if (report.failedCount > 0) throw new Failure('');
  });
}

async function* idsOf(tasks: AsyncIterable<TaskSummary>): AsyncGenerator<string> {
  for await (const { task_id } of tasks) yield task_id;
}

/** How many there are, and the newest of them. */
async function preview(output: Output, found: AsyncIterable<TaskSummary>): Promise<void> {
  const sample: TaskSummary[] = [];
  let count = 0;
  for await (const task of found) {
    count += 1;
    if (sample.length < SAMPLE_COUNT) sample.push(task);
    output.progress(`${count} found`);
  }
  output.progress('');
  if (output.json) {
    output.say({ count, sample }, '');
    return;
  }
  const head = ['task', 'state', 'type', 'group', 'callback', 'tries', 'error'];
  await output.rows(sample, head, ({ notification, ...task }) => [
    task.task_id,
    task.state,
    task.type,
    task.user.group,
    notification?.state ?? null,
    notification?.tries ?? null,
    notification?.last_error ?? null,
  ]);
  const rest = count > sample.length ? `, the newest ${sample.length} of them above` : '';
  output.hint(
    `Nothing was sent. --yes sends ${count === 1 ? 'it' : `these ${count}`} again${rest}.`,
  );
}

/** A command about tasks that are named. */
function steerCommand(name: string, description: string): Command {
  return remoteCommand(name, description).addArgument(
    new Argument('<id...>', 'the ids of the tasks'),
  );
}

async function steer(
  options: ConnectionOptions,
  ids: readonly string[],
  done: string,
  call: (client: SodaClient, id: string, signal: AbortSignal) => Promise<void>,
  atOnceCount?: number,
): Promise<void> {
  const { client, output } = connect(options);
  await interruptible((signal) =>
    steerNamed(output, ids, done, (id) => call(client, id, signal), atOnceCount),
  );
}
