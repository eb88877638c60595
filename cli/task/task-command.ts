/** `soda task`: submit, look at, follow and steer tasks. */
import { Argument, Command, Option } from 'commander';
import { type ConnectionOptions, connect, remoteCommand } from '../connection.ts';
import { count } from '../options.ts';
import { taskEventsCommand } from './events-command.ts';
import { changeCommand, copyCommand } from './change-command.ts';
import { countCommand, errorsCommand, listCommand } from './find-command.ts';
import {
  cancelCommand,
  deleteCommand,
  firstCommand,
  lastCommand,
  redeliverCommand,
  resumeCommand,
  retryCommand,
  suspendCommand,
} from './steer-command.ts';
import { logsCommand } from './logs-command.ts';
import { fieldOptions, readJson, submissionOf, type SubmitOptions } from './submission.ts';
import { showAttempt, showTask } from './task-view.ts';
import { watch } from './watch.ts';
import { whyCommand } from './why-command.ts';

export function taskCommand(): Command {
  return new Command('task')
    .description('Submit tasks, look at them, follow and steer them.')
    .addCommand(submitCommand())
    .addCommand(getCommand())
    .addCommand(whyCommand())
    .addCommand(taskEventsCommand())
    .addCommand(logsCommand())
    .addCommand(listCommand())
    .addCommand(countCommand())
    .addCommand(errorsCommand())
    .addCommand(watchCommand())
    .addCommand(cancelCommand())
    .addCommand(suspendCommand())
    .addCommand(resumeCommand())
    .addCommand(firstCommand())
    .addCommand(lastCommand())
    .addCommand(changeCommand())
    .addCommand(retryCommand())
    .addCommand(redeliverCommand())
    .addCommand(copyCommand())
    .addCommand(deleteCommand());
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
    .option('--id <id>', 'an id of your own; submitting the same request twice is then harmless');
  return fieldOptions(command)
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
    .action(async (options: ConnectionOptions & SubmitOptions & { wait?: true }) => {
      const { client, output } = connect(options);
      const params = options.params === undefined ? undefined : await readJson(options.params);
      const { task, user } = submissionOf(options, params);
      const accepted = await client.submit(task, user);
      if (!options.wait || !output.json) output.say(accepted, accepted.task_id);
      if (options.wait) await watch(client, output, accepted.task_id);
    });
}

function getCommand(): Command {
  return oneTaskCommand('get', 'Show a task: state, progress, attempts, result, callback.')
    .option('--attempt <number>', 'this attempt only, with all the details of its error', count)
    .action(async (id: string, options: ConnectionOptions & { attempt?: number }) => {
      const { client, output } = connect(options);
      const { attempt } = options;
      if (attempt === undefined) showTask(output, await client.get(id));
      else showAttempt(output, await client.attempt(id, attempt));
    });
}

function watchCommand(): Command {
  return oneTaskCommand('watch', 'Follow a task until it has ended.')
    .alias('wait')
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
