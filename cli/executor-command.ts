/** `soda executor`: the fleet, and taking executors out of it and back. */
import type { ExecutorView } from '@soda-scheduler/client';
import { Argument, Command, InvalidArgumentError } from 'commander';
import {
  type ConnectionOptions,
  connect,
  interruptible,
  remoteCommand,
  tellAbsence,
} from './connection.ts';

export function executorCommand(): Command {
  return new Command('executor')
    .description('List executors, take them out of work and back.')
    .addCommand(listCommand())
    .addCommand(drainCommand())
    .addCommand(resumeCommand());
}

function listCommand(): Command {
  return remoteCommand('list', 'List the executors that the master knows.')
    .addHelpText('after', '\nInto a pipe: the columns of the table, with tabs between.')
    .action(async (options: ConnectionOptions) => {
      const { client, output } = connect(options);
      const head = ['executor', 'state', 'types', 'labels', 'task', 'host', 'last seen'];
      await output.rows(await client.executors(), head, (executor: ExecutorView) => [
        executor.executor_id,
        executor.state,
        executor.types.join(' '),
        executor.labels.join(' '),
        executor.task_id,
        executor.host,
        executor.last_seen_at,
      ]);
    });
}

function drainCommand(): Command {
  return remoteCommand('drain', 'Give an executor no new task. What it runs goes on.')
    .addArgument(new Argument('<id>', 'the id of the executor'))
    .option(
      '--timeout <seconds>',
      'take back what it still runs after this long (default: never)',
      seconds,
    )
    .option('--wait', 'end only when it runs nothing any more, also while the master is away')
    .addHelpText(
      'after',
      `
An executor with an id of its own stays drained until "soda executor resume", through restarts of it
and of the master; one whose id was made up, until its process ends.

Example, before a machine is taken down:
  $ soda executor drain encoder-3 --timeout 3600 --wait && ssh encoder-3 sudo poweroff`,
    )
    .action(async (id: string, options: ConnectionOptions & { timeout?: number; wait?: true }) => {
      const { client, output } = connect(options);
      const { lasting } = await client.drainExecutor(
        id,
        options.timeout === undefined ? {} : { timeout: options.timeout },
      );
      if (options.wait) {
        await interruptible((signal) => client.waitForDrain(id, { signal, ...tellAbsence() }));
      }
      const done = options.wait ? 'drained' : 'draining';
      const until = lasting === false ? ' (until its process ends: its id was made up for it)' : '';
      output.say({ executor_id: id, code: 200, lasting }, `${done}: ${id}${until}`);
    });
}

function resumeCommand(): Command {
  return remoteCommand('resume', 'Give a drained executor tasks again.')
    .addArgument(new Argument('<id>', 'the id of the executor'))
    .action(async (id: string, options: ConnectionOptions) => {
      const { client, output } = connect(options);
      await client.resumeExecutor(id);
      output.say({ executor_id: id, code: 200 }, `resumed: ${id}`);
    });
}

function seconds(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !(value >= 0)) throw new InvalidArgumentError('Expected seconds.');
  return value;
}
