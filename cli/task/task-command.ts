/** `soda task`: submit, look at, follow and steer tasks. */
import { priorityNames } from '@soda-scheduler/protocol';
import { Argument, Command, Option } from 'commander';
import { type ConnectionOptions, connect, remoteCommand } from '../connection.ts';
import { ExitCode, Failure } from '../exit-code.ts';
import { countCommand, errorsCommand, listCommand } from './find-command.ts';
import { cancelCommand, redeliverCommand, retryCommand } from './steer-command.ts';
import { instantOf, priorityOf, readJson, submissionOf, type SubmitOptions } from './submission.ts';
import { number } from './task-search.ts';
import { showAttempt, showTask } from './task-view.ts';
import { watch } from './watch.ts';

const INSTANT = 'such as 2026-12-01T08:00:00Z, or epoch milliseconds';

export function taskCommand(): Command {
  return new Command('task')
    .description('Submit tasks, look at them, follow and steer them.')
    .addCommand(submitCommand())
    .addCommand(getCommand())
    .addCommand(listCommand())
    .addCommand(countCommand())
    .addCommand(errorsCommand())
    .addCommand(watchCommand())
    .addCommand(cancelCommand())
    .addCommand(changeCommand())
    .addCommand(retryCommand())
    .addCommand(redeliverCommand());
}

function submitCommand(): Command {
  const command = remoteCommand('submit', 'Submit a task. Prints its id once it is stored.')
    .requiredOption('--type <type>', 'required: which handler of an executor runs it')
    .addOption(
      new Option(
        '--group <group>',
        'required, here or in the environment: who the usage counts for',
      )
        .env('SODA_GROUP')
        .makeOptionMandatory(),
    )
    .option('--params <json|@file|->', 'what the handler gets: JSON, a file, or - for stdin')
    .option('--id <id>', 'an id of your own; submitting the same request twice is then harmless')
    .option('--project <name>', 'project within the group')
    .option('--env <name>', 'environment, such as prod')
    .option('--user <name>', 'who submits')
    .addOption(priorityOption())
    .option(
      '--label <label...>',
      'labels of the task: to find it by, and for executors reserved so',
    )
    .option('--requires <label...>', 'labels that the executor must have, all of them')
    .option(
      '--use <limit...>',
      'what it takes of shared limits while it runs: encoder, or encoder=2',
    )
    .option('--run-at <time>', `not before this time, ${INSTANT}`)
    .option('--deadline <time>', `the end of the task over all its attempts, ${INSTANT}`);
  return limitOptions(command)
    .option('--disk-bytes <bytes>', 'free disk that its executor must have', number)
    .option('--notify-url <url>', 'where a callback goes when the task has ended')
    .option('--wait', 'follow the task until it has ended')
    .addHelpText(
      'after',
      `
With --wait the exit code is 0 if the task succeeded and 1 if it did not. It waits on while the
master is away. Ctrl-C ends the waiting with 130; the task goes on.

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

/** How often and for how long. */
function limitOptions(command: Command): Command {
  return command
    .option('--max-attempts <count>', 'tries in all; 0: until success (default: 10)', number)
    .option(
      '--retry-interval <seconds>',
      'longest wait between attempts; below 0: each as long; 1,5,30: one by one (default: 600)',
      numbers,
    )
    .option(
      '--assign-timeout <seconds>',
      'longest time for an executor to say whether it takes it (default: 5)',
      number,
    )
    .option(
      '--execution-timeout <seconds>',
      'longest time for one attempt (default: as the master says)',
      number,
    )
    .option(
      '--stall-timeout <seconds>',
      'longest time without progress in an attempt (default: none)',
      number,
    )
    .option(
      '--start-timeout <seconds>',
      'longest time from due to started (default: as the master says)',
      number,
    )
    .addOption(
      new Option(
        '--start-timeout-action <action>',
        'what happens after that time: it fails, or the master only says so (default: fail)',
      ).choices(['fail', 'alert']),
    );
}

/** One, or a list. */
function numbers(text: string): number | number[] {
  return text.includes(',') ? text.split(',').map(number) : number(text);
}

function changeCommand(): Command {
  return oneTaskCommand('change', 'Change the priority or the due time of a task that waits.')
    .addOption(priorityOption())
    .option('--run-at <time>', `not before this time, ${INSTANT}`)
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
        await client.change(id, { priority: priorityOf(priority), run_at: instantOf(runAt) });
        output.say({ task_id: id, code: 200 }, `changed: ${id}`);
      },
    );
}

function priorityOption(): Option {
  const names = Object.keys(priorityNames).join(', ');
  return new Option(
    '--priority <name|seconds>',
    `head start over tasks of the same age: ${names} or seconds`,
  );
}

function getCommand(): Command {
  return oneTaskCommand('get', 'Show a task: state, progress, attempts, result, callback.')
    .option('--attempt <number>', 'this attempt only, with all the details of its error', number)
    .action(async (id: string, options: ConnectionOptions & { attempt?: number }) => {
      const { client, output } = connect(options);
      const { attempt } = options;
      if (attempt === undefined) showTask(output, await client.get(id));
      else showAttempt(output, await client.attempt(id, attempt));
    });
}

function watchCommand(): Command {
  return oneTaskCommand('watch', 'Follow a task until it has ended.')
    .addHelpText(
      'after',
      `
The exit code is 0 if the task succeeded and 1 if it did not. It waits on while the master is away.
Ctrl-C ends the watching with 130; the task goes on.`,
    )
    .action(async (id: string, options: ConnectionOptions) => {
      const { client, output } = connect(options);
      await watch(client, output, id);
    });
}

/** A command about one task. */
function oneTaskCommand(name: string, description: string): Command {
  return remoteCommand(name, description).addArgument(new Argument('<id>', 'the id of the task'));
}
