/** `soda task`: submit, look at, follow and steer tasks. */
import type { SodaClient, TaskSummary } from '@soda-scheduler/client';
import { HTTP_LIMITS, priorityNames, taskStates } from '@soda-scheduler/protocol';
import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import { type ConnectionOptions, connect, interruptible, remoteCommand } from './connection.ts';
import { ExitCode, Failure } from './exit-code.ts';
import { priorityOf, readJson, submissionOf, type SubmitOptions } from './submission.ts';
import { showAttempt, showTask } from './task-view.ts';
import { rounded, watch } from './watch.ts';

/** Each looks at tens of thousands of tasks. */
const EMPTY_PAGE_COUNT_MAX = 1000;

export function taskCommand(): Command {
  return new Command('task')
    .description('Submit tasks, look at them, follow and steer them.')
    .addCommand(submitCommand())
    .addCommand(getCommand())
    .addCommand(listCommand())
    .addCommand(watchCommand())
    .addCommand(
      steerCommand('cancel', 'Cancel a task. A running attempt is told to end.')
        .option('--reason <text>', 'why, for the log of the master')
        .action(async (id: string, options: ConnectionOptions & { reason?: string }) => {
          const { client, output } = connect(options);
          await client.cancel(id, options.reason === undefined ? {} : { reason: options.reason });
          output.say({ task_id: id, code: 200 }, `cancel requested: ${id}`);
        }),
    )
    .addCommand(changeCommand())
    .addCommand(
      steerCommand('retry', 'Run a task that has ended again, with fresh attempts.').action(
        steer('runs again', (client, id) => client.retry(id)),
      ),
    )
    .addCommand(
      steerCommand('redeliver', 'Send the callback of a task that has ended again.').action(
        steer('callback requested', (client, id) => client.redeliver(id)),
      ),
    );
}

function submitCommand(): Command {
  return remoteCommand('submit', 'Submit a task. Prints its id once it is stored.')
    .requiredOption('--type <type>', 'which handler of an executor runs it')
    .addOption(
      new Option('--group <group>', 'project group that the usage is counted for')
        .env('SODA_GROUP')
        .makeOptionMandatory(),
    )
    .option('--params <json|@file|->', 'what the handler gets: JSON, a file, or - for stdin')
    .option('--id <id>', 'an id of your own; submitting the same request twice is then harmless')
    .option('--project <name>', 'project within the group')
    .option('--env <name>', 'environment, such as prod')
    .option('--user <name>', 'who submits')
    .addOption(priorityOption())
    .option('--label <label...>', 'labels of the task')
    .option('--requires <label...>', 'labels that the executor must have')
    .option('--run-at <time>', 'not before this time, such as 2026-12-01T08:00:00Z')
    .option('--deadline <time>', 'the end of the task over all its attempts')
    .option('--max-attempts <count>', '0: until success (default: 10)', number)
    .option('--retry-interval <seconds>', 'longest wait between attempts (default: 600)', number)
    .option('--execution-timeout <seconds>', 'for one attempt (default: none)', number)
    .option('--stall-timeout <seconds>', 'without progress (default: none)', number)
    .option('--notify-url <url>', 'called back when the task has ended')
    .option('--wait', 'follow the task until it has ended')
    .addHelpText(
      'after',
      `
With --wait the exit code is 0 if the task succeeded and 1 if it did not. Ctrl-C ends the waiting
with 130; the task goes on.

Examples:
  $ soda task submit --group video --type transcode --params '{"input":"a.mov"}'
  $ soda task submit --group video --type transcode --params @job.json --priority high --wait
  $ jq -c .job order.json | soda task submit --group video --type transcode --params -`,
    )
    .action(
      async (options: ConnectionOptions & SubmitOptions & { params?: string; wait?: true }) => {
        const { client, output } = connect(options);
        const params = options.params === undefined ? undefined : await readJson(options.params);
        const { task, user } = submissionOf(options, params);
        const accepted = await client.submit(task, user);
        if (!options.wait || !output.json) output.say(accepted, accepted.task_id);
        if (options.wait) await watch(client, output, accepted.task_id);
      },
    );
}

function changeCommand(): Command {
  return steerCommand('change', 'Change when a task that waits is due, or its head start.')
    .addOption(priorityOption())
    .option('--run-at <time>', 'not before this time, such as 2026-12-01T08:00:00Z')
    .addHelpText(
      'after',
      `
Examples:
  $ soda task change order-17 --priority urgent
  $ soda task change order-17 --run-at 2026-12-01T08:00:00Z`,
    )
    .action(
      async (id: string, options: ConnectionOptions & { priority?: string; runAt?: string }) => {
        const { priority, runAt } = options;
        if (priority === undefined && runAt === undefined) {
          throw new Failure('nothing to change: give --priority, --run-at or both', ExitCode.usage);
        }
        const { client, output } = connect(options);
        await client.change(id, { priority: priorityOf(priority), run_at: runAt });
        output.say({ task_id: id, code: 200 }, `changed: ${id}`);
      },
    );
}

function priorityOption(): Option {
  const names = Object.keys(priorityNames).join(', ');
  return new Option('--priority <name|seconds>', `head start: ${names} or seconds`);
}

function getCommand(): Command {
  return steerCommand('get', 'Show a task: state, progress, attempts, result, callback.')
    .option('--attempt <number>', 'this attempt only, with all the details of its error', number)
    .action(async (id: string, options: ConnectionOptions & { attempt?: number }) => {
      const { client, output } = connect(options);
      const { attempt } = options;
      if (attempt === undefined) showTask(output, await client.get(id));
      else showAttempt(output, await client.attempt(id, attempt));
    });
}

function listCommand(): Command {
  return remoteCommand('list', 'List tasks, newest first.')
    .addOption(new Option('--state <state>', 'in this state only').choices(taskStates))
    .option('--type <type>', 'of this type only')
    .option('--group <group>', 'of this group only')
    .option('--label <label>', 'with this label only')
    .option('--limit <count>', 'how many at most', number, 50)
    .addHelpText(
      'after',
      `
Into a pipe: id, state, type, group, percent, attempt and submit time, with tabs between. What is
rare among many tasks takes a while to find; Ctrl-C ends the search with 130.

Examples:
  $ soda task list --state failed --limit 1000
  $ soda task list --state failed --json | jq -r .task_id | xargs -n 1 soda task retry`,
    )
    .action(async (options: ConnectionOptions & ListOptions) => {
      const { client, output } = connect(options);
      const head = ['task', 'state', 'type', 'group', '%', 'attempt', 'submitted'];
      await interruptible((signal) =>
        output.rows(listed(client, options, signal), head, (task) => [
          task.task_id,
          task.state,
          task.type,
          task.user.group,
          rounded(task.progress?.percent ?? null),
          task.attempt,
          task.submitted_at,
        ]),
      );
    });
}

type ListOptions = Pick<NonNullable<Parameters<SodaClient['list']>[0]>, 'state' | 'type'> & {
  readonly group?: string;
  readonly label?: string;
  readonly limit: number;
};

/** @throws {Failure} so many pages in a row have brought nothing that it gives up. */
async function* listed(
  client: SodaClient,
  { state, type, group, label, limit }: ListOptions,
  signal: AbortSignal,
): AsyncGenerator<TaskSummary> {
  let left = limit;
  let emptyCount = 0;
  for (let cursor: string | undefined; ; ) {
    const size = Math.min(left, HTTP_LIMITS.listCountMax);
    const query = { state, type, group, label, limit: size, cursor };
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

function watchCommand(): Command {
  return steerCommand('watch', 'Follow a task until it has ended.')
    .addHelpText(
      'after',
      `
The exit code is 0 if the task succeeded and 1 if it did not. Ctrl-C ends the watching with 130;
the task goes on.`,
    )
    .action(async (id: string, options: ConnectionOptions) => {
      const { client, output } = connect(options);
      await watch(client, output, id);
    });
}

/** A command about one task. */
function steerCommand(name: string, description: string): Command {
  return remoteCommand(name, description).addArgument(new Argument('<id>', 'the id of the task'));
}

function steer(done: string, call: (client: SodaClient, id: string) => Promise<void>) {
  return async (id: string, options: ConnectionOptions): Promise<void> => {
    const { client, output } = connect(options);
    await call(client, id);
    output.say({ task_id: id, code: 200 }, `${done}: ${id}`);
  };
}

function number(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || Number.isNaN(value))
    throw new InvalidArgumentError('Expected a number.');
  return value;
}
