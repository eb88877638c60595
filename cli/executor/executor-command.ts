/** `soda executor`: the fleet, what is set for executors, and giving them tasks again. */
import { type ExecutorView, exactJson } from '@soda-scheduler/client';
import { taskStates } from '@soda-scheduler/protocol';
import { Argument, Command, Option } from 'commander';
import { type ConnectionOptions, connect, interruptible, remoteCommand } from '../connection.ts';
import { ExitCode, Failure } from '../exit-code.ts';
import { count } from '../options.ts';
import { type Cell, goOnWithoutReader } from '../output.ts';
import { upTo } from '../task/task-search.ts';
import { drainCommand } from './drain-command.ts';
import {
  hasLeft,
  SELECTOR_HELP,
  selectorOption,
  type Selection,
  selectionOf,
  untilWhen,
} from './selection.ts';

export function executorCommand(): Command {
  return new Command('executor')
    .description('List executors, take them out of work and back, set their labels.')
    .addCommand(listCommand())
    .addCommand(getCommand())
    .addCommand(tasksCommand())
    .addCommand(drainCommand())
    .addCommand(resumeCommand())
    .addCommand(setCommand())
    .addCommand(removeCommand());
}

function listCommand(): Command {
  return remoteCommand('list', 'List the executors that the master knows, by id.')
    .addOption(selectorOption())
    .addHelpText(
      'after',
      `
Into a pipe: the columns of the table, with tabs between.
${SELECTOR_HELP}

Examples:
  $ soda executor list --selector version=1.4
  $ soda executor list --selector type=transcode,label=gpu,state!=draining`,
    )
    .action(async (options: ConnectionOptions & Selection) => {
      const { client, output } = connect(options);
      const head = [
        ...['executor', 'state', 'types', 'labels', 'task', 'host', 'last seen'],
        ...['reserve', 'ready', 'version', 'booked'],
      ];
      const { selector } = options;
      await output.rows(await client.executors({ selector }), head, (executor: ExecutorView) => [
        executor.executor_id,
        executor.state,
        executor.types.join(' '),
        executor.labels.join(' '),
        executor.task_id,
        executor.host,
        executor.last_seen_at,
        executor.reserve.join(' '),
        readyInWords(executor),
        executor.version ?? null,
        bookedInWords(executor),
      ]);
    });
}

/** It may be dead, or come back: nobody knows before its lease has ended. */
function silenceInWords({ lease_until: until, last_seen_at: since }: Partial<ExecutorView>) {
  // A master of 2.0.0 does not know the field.
  return until ? `since ${since}; it may come back until ${until}` : null;
}

function readyInWords({ ready, lease_until: until }: Partial<ExecutorView>): string | null {
  if (until) return `silent, its lease ends ${until}`;
  // A master of 2.0.0 does not know the field.
  if (ready?.ok === undefined) return null;
  return ready.ok ? 'yes' : `no: ${ready.reason ?? 'it does not say why'}`;
}

function bookedInWords({ booked }: Partial<ExecutorView>): string | null {
  // A master of 2.0.0 does not know the field.
  if (!booked) return null;
  const { booking_id: id, state, until } = booked;
  const by = id ?? 'a booking of others';
  return state === 'bound' ? `bound to ${by} until ${until}` : `kept for ${by}, bound at ${until}`;
}

function getCommand(): Command {
  return oneCommand(
    'get',
    'Show an executor: what it is, what it does, and how its last attempts ended.',
  ).action(async (id: string, options: ConnectionOptions) => {
    const { client, output } = connect(options);
    const one = await client.executor(id);
    const { current, override } = one;
    output.fields(one, [
      ['executor', one.executor_id],
      ['state', one.state],
      ['silent', silenceInWords(one)],
      ['drained', drainInWords(one)],
      ['ready', readyInWords(one)],
      ['booked', bookedInWords(one)],
      ['version', one.version],
      ['host', one.host],
      ['pid', one.pid || null],
      ['types', one.types.join(' ')],
      ['labels', withSource(one.labels, override.labels, override.by)],
      ['reserve', withSource(one.reserve, override.reserve, override.by)],
      ['last seen', one.last_seen_at],
      ['at work on', current && `${current.task_id} (${current.type}), ${current.state}`],
      ...one.last.map((last): readonly [string, Cell] => [
        'ended',
        `${last.at} ${last.task_id} (${last.type}) ${last.state}`,
      ]),
    ]);
  });
}

function drainInWords(one: ExecutorView): string | null {
  if (one.drained_at === null) return one.draining ? 'it is about to leave' : null;
  const by = one.drained_by === null ? '' : ` by ${one.drained_by}`;
  const reason = one.drain_reason === null ? '' : `: ${one.drain_reason}`;
  return `since ${one.drained_at}${by}${reason}`;
}

function withSource(
  counting: readonly string[],
  set: readonly string[] | null,
  by: string | null,
): string {
  const words = counting.join(' ');
  return set === null ? words : `${words || 'none'} (set by ${by ?? 'an operator'})`;
}

function tasksCommand(): Command {
  return oneCommand('tasks', 'List the tasks whose newest attempt an executor has, or had.')
    .addOption(new Option('--state <state>', 'in this state only').choices(taskStates))
    .option('--limit <count>', 'how many at most (default: all that are found)', count)
    .addHelpText(
      'after',
      `
Newest first; into a pipe: id, state, type, attempt, start and end, with tabs between. No index
leads from executors to tasks: among millions it takes a while. Ctrl-C ends the search with 130.`,
    )
    .action(async (id: string, options: TasksOptions) => {
      const { client, output } = connect(options);
      const head = ['task', 'state', 'type', 'attempt', 'started', 'finished'];
      const { state, limit } = options;
      await interruptible((signal) =>
        output.rows(
          upTo(limit, client.executorTasks(id, { ...(state && { state }), signal })),
          head,
          (task) => [
            ...[task.task_id, task.state, task.type, task.attempt],
            ...[task.started_at, task.finished_at],
          ],
          (task) => exactJson(task),
        ),
      );
    });
}

interface TasksOptions extends ConnectionOptions {
  readonly state?: (typeof taskStates)[number];
  readonly limit?: number;
}

function resumeCommand(): Command {
  return remoteCommand('resume', 'Give drained executors tasks again.')
    .addArgument(new Argument('[id]', 'the id of the executor'))
    .addOption(selectorOption())
    .addHelpText(
      'after',
      `
With a selector: all of these that are drained.
${SELECTOR_HELP}`,
    )
    .action(async (id: string | undefined, options: ConnectionOptions & Selection) => {
      const selector = selectionOf(id, options);
      const { client, output } = connect(options);
      const found = selector === null ? [] : await client.executors({ selector });
      const drained = found.filter(({ drained_at: at }) => at !== null);
      const ids = id === undefined ? drained.map(({ executor_id }) => executor_id) : [id];
      goOnWithoutReader();
      for (const executorId of new Set(ids)) {
        try {
          await client.resumeExecutor(executorId);
          output.say({ executor_id: executorId, code: 200 }, `resumed: ${executorId}`);
        } catch (error) {
          if (id !== undefined || !hasLeft(error)) throw error;
        }
      }
      if (ids.length === 0) output.hint(`No executor of ${selector} is drained.`);
    });
}

function removeCommand(): Command {
  return oneCommand('remove', 'Forget an executor that is gone, with its drain and its labels.')
    .addHelpText(
      'after',
      `
What was said of an executor with an id of its own is kept until somebody takes it back, also when
no executor will ever come under that id again. Ends with 4 while it is connected, or may still run
something. It may come back: then as one of which nothing was said.

Example:
  $ soda executor list --selector state=gone
  $ soda executor remove encoder-3`,
    )
    .action(async (id: string, options: ConnectionOptions) => {
      const { client, output } = connect(options);
      await client.removeExecutor(id);
      output.say({ executor_id: id, code: 200 }, `removed: ${id}`);
    });
}

function setCommand(): Command {
  return oneCommand('set', 'Set the labels of an executor in place of its own.')
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

/** A command about one executor. */
function oneCommand(name: string, description: string): Command {
  return remoteCommand(name, description).addArgument(
    new Argument('<id>', 'the id of the executor'),
  );
}

function list(text: string): string[] {
  return text
    .split(',')
    .map((label) => label.trim())
    .filter((label) => label !== '');
}
