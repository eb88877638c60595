/** `soda operation`: commands on many tasks that are under way, or over. */
import type { OperationView, SodaClient } from '@soda-scheduler/client';
import { Argument, Command, Option } from 'commander';
import { type ConnectionOptions, connect, remoteCommand } from '../connection.ts';
import { count } from '../options.ts';
import { upTo } from '../task/task-search.ts';
import { countsInWords } from './follow.ts';

export function operationCommand(): Command {
  return new Command('operation')
    .description('Follow, pause and end commands on many tasks.')
    .addCommand(listCommand())
    .addCommand(getCommand())
    .addCommand(steerCommand('cancel', 'End an operation. What it has done stays done.', 'ended'))
    .addCommand(steerCommand('pause', 'Let an operation do no more for now.', 'paused'))
    .addCommand(steerCommand('resume', 'Let an operation that was paused go on.', 'goes on'));
}

type State = OperationView['state'];
const states: readonly State[] = ['running', 'paused', 'done', 'canceled'];

interface ListOptions extends ConnectionOptions {
  readonly state?: State;
  readonly limit?: number;
}

const id = () => new Argument('<id>', 'the operation');

function listCommand(): Command {
  return remoteCommand('list', 'List operations, newest first; kept for a week once they are over.')
    .addOption(new Option('--state <state>', 'in this state only').choices(states))
    .option('--limit <count>', 'how many at most (default: all of them)', count)
    .addHelpText('after', '\nInto a pipe: the columns of the table, with tabs between.')
    .action(async (options: ListOptions) => {
      const { client, output } = connect(options);
      const { state, limit } = options;
      const found = upTo(limit, client.operations.list(state && { state }));
      const head = ['operation', 'action', 'state', 'total', 'counts', 'by', 'begun', 'reason'];
      await output.rows(found, head, (one) => [
        one.operation_id,
        one.action,
        one.state,
        one.total,
        countsInWords({ ...one, state: 'done' }),
        one.by,
        one.created_at,
        one.reason,
      ]);
    });
}

function getCommand(): Command {
  return remoteCommand('get', 'Show an operation: how far it is, and what was not done.')
    .addArgument(id())
    .action(async (of: string, options: ConnectionOptions) => {
      const { client, output } = connect(options);
      const one = await client.operations.get(of);
      output.fields(one, [
        ['operation', one.operation_id],
        ['action', one.action],
        ['state', one.state],
        ['tasks', filterInWords(one)],
        ['total', one.exact ? one.total : `about ${one.total}`],
        ['counts', countsInWords({ ...one, state: 'done' })],
        ['reason', one.reason],
        ['by', one.by],
        ['begun', one.created_at],
        ['ended', one.ended_at],
        ...one.problems.map(({ task_id, kind, message }) => {
          return [kind, task_id === null ? message : `${task_id}: ${message}`] as const;
        }),
      ]);
    });
}

function steerCommand(
  name: 'cancel' | 'pause' | 'resume',
  description: string,
  done: string,
): Command {
  return remoteCommand(name, description)
    .addArgument(id())
    .action(async (of: string, options: ConnectionOptions) => {
      const { client, output } = connect(options);
      const one = await callOf(client, name)(of);
      output.sayView(one, `${done}: ${of} (${countsInWords({ ...one, state: 'done' })})`);
    });
}

function callOf({ operations }: SodaClient, name: 'cancel' | 'pause' | 'resume') {
  return (of: string): Promise<OperationView> => operations[name](of);
}

function filterInWords({ filter }: OperationView): string {
  if (filter === null) return 'by their ids';
  const named = Object.entries(filter).map(([name, value]) => `${name} ${value}`);
  return named.length === 0 ? 'all' : named.join(', ');
}
