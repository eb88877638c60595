/** `soda executor`: the fleet, and taking executors out of it and back. */
import type { ExecutorView } from '@soda-scheduler/client';
import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import {
  type ConnectionOptions,
  connect,
  interruptible,
  remoteCommand,
  tellAbsence,
} from './connection.ts';
import { ExitCode, Failure } from './exit-code.ts';

export function executorCommand(): Command {
  return new Command('executor')
    .description('List executors, take them out of work and back, set their labels.')
    .addCommand(listCommand())
    .addCommand(drainCommand())
    .addCommand(resumeCommand())
    .addCommand(setCommand());
}

function listCommand(): Command {
  return remoteCommand('list', 'List the executors that the master knows.')
    .addHelpText('after', '\nInto a pipe: the columns of the table, with tabs between.')
    .action(async (options: ConnectionOptions) => {
      const { client, output } = connect(options);
      const head = [
        ...['executor', 'state', 'types', 'labels', 'task', 'host', 'last seen'],
        ...['reserve', 'ready'],
      ];
      await output.rows(await client.executors(), head, (executor: ExecutorView) => [
        executor.executor_id,
        executor.state,
        executor.types.join(' '),
        executor.labels.join(' '),
        executor.task_id,
        executor.host,
        executor.last_seen_at,
        executor.reserve.join(' '),
        readyInWords(executor),
      ]);
    });
}

function readyInWords({ ready }: Partial<ExecutorView>): string | null {
  // A master of 2.0.0 does not know the field.
  if (ready?.ok === undefined) return null;
  return ready.ok ? 'yes' : `no: ${ready.reason ?? 'it does not say why'}`;
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
      output.say({ executor_id: id, code: 200, lasting }, `${done}: ${id}${untilWhen(lasting)}`);
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

function setCommand(): Command {
  return remoteCommand('set', 'Set the labels of an executor in place of its own.')
    .addArgument(new Argument('<id>', 'the id of the executor'))
    .option('--labels <labels>', 'what it has, with commas between: tasks may require it', list)
    .addOption(new Option('--labels-own', 'its own labels count again').conflicts('labels'))
    .option('--reserve <labels>', 'it takes only tasks that have all of these labels', list)
    .addOption(new Option('--reserve-own', 'its own reservation counts again').conflicts('reserve'))
    .addHelpText(
      'after',
      `
It counts at once; what the executor runs goes on. It lasts as a drain does: through restarts of the
executor and the master where its id is its own, else until its process ends.

Examples:
  $ soda executor set encoder-3 --labels gpu,zone:b --reserve urgent
  $ soda executor set encoder-3 --labels-own --reserve ''`,
    )
    .action(async (id: string, options: ConnectionOptions & SetOptions) => {
      const labels = options.labelsOwn ? null : options.labels;
      const reserve = options.reserveOwn ? null : options.reserve;
      if (labels === undefined && reserve === undefined) {
        throw new Failure('say what to set: --labels, --reserve, or their --…-own', ExitCode.usage);
      }
      const { client, output } = connect(options);
      const { lasting } = await client.changeExecutor(id, {
        ...(labels !== undefined && { labels }),
        ...(reserve !== undefined && { reserve }),
      });
      output.say({ executor_id: id, code: 200, lasting }, `set: ${id}${untilWhen(lasting)}`);
    });
}

interface SetOptions {
  readonly labels?: string[];
  readonly labelsOwn?: true;
  readonly reserve?: string[];
  readonly reserveOwn?: true;
}

function untilWhen(lasting: boolean | undefined): string {
  return lasting === false ? ' (until its process ends: its id was made up for it)' : '';
}

function list(text: string): string[] {
  return text
    .split(',')
    .map((label) => label.trim())
    .filter((label) => label !== '');
}

function seconds(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !(value >= 0)) throw new InvalidArgumentError('Expected seconds.');
  return value;
}
