/** `soda bulk`: one command on many tasks. Shows what it would do first, and asks. */
import type { Bulk, BulkPreview, SodaClient } from '@soda-scheduler/client';
import { bulkActions } from '@soda-scheduler/protocol';
import { Argument, type Command } from 'commander';
import { isConfirmed } from '../confirm.ts';
import { type ConnectionOptions, connect, interruptible, remoteCommand } from '../connection.ts';
import { ExitCode, Failure } from '../exit-code.ts';
import type { Output } from '../output.ts';
import { textOf } from '../options.ts';
import { type FilterOptions, queryOf, searchOptions } from '../task/task-search.ts';
import { sayBegun } from './follow.ts';

type Action = Bulk['action'];

/** Of a preview. */
const SAMPLE_COUNT = 10;

interface BulkOptions extends ConnectionOptions, FilterOptions {
  readonly all?: true;
  readonly priority?: string;
  readonly runAt?: string;
  readonly reason?: string;
  readonly yes?: true;
  readonly wait: boolean;
}

export function bulkCommand(): Command {
  const command = remoteCommand('bulk', 'Do one thing to many tasks: shows to how many, and asks.')
    .addArgument(new Argument('<action>', 'what is done to each').choices(bulkActions))
    .addArgument(new Argument('[id...]', 'ids of tasks; @file, or - for stdin: one a line'));
  return searchOptions(command)
    .option('--all', 'to all tasks to which it can be done')
    .option('--priority <priority>', 'of change: low, normal, high, urgent, or seconds')
    .option('--run-at <instant>', 'of change: not before then')
    .option('--reason <text>', 'why, for whoever looks at it later')
    .option(
      '--yes',
      'do it without asking: without, nothing is done where nobody can be asked, which ends with 2',
    )
    .option('--no-wait', 'end as soon as it has begun')
    .addHelpText(
      'after',
      `
Which tasks: ids, filters (all of them must fit) or --all. Tasks that come later, or end meanwhile, are
left alone. retry and delete are for all that have ended, also with success: --state says which. The master does it piece by piece, also where this command is interrupted or the master
starts again: "soda operation list" tells how far it is. Ends with 1 where something failed.

Examples:
  $ soda bulk cancel --type transcode --group drafts
  $ soda bulk retry --state failed --type transcode --reason 'disk replaced' --yes
  $ soda bulk change --label nightly --priority low --yes
  $ soda bulk redeliver --notification gave_up --yes
  $ soda bulk delete @ids.txt`,
    )
    .action(async (action: Action, ids: string[], options: BulkOptions) => {
      const bulk = bulkOf(action, await idsOf(ids), options);
      const { client, output } = connect(options);
      await interruptible((signal) => perform(client, output, bulk, options, signal));
    });
}

/** Ids as they stand, and those that a file or stdin has. */
async function idsOf(sources: readonly string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const source of sources) {
    const lines = (await textOf(source)).split('\n').map((line) => line.trim());
    const some = lines.filter((line) => line !== '');
    if (some.length === 0) throw new Failure(`${source}: it has no ids`, ExitCode.usage);
    for (const id of some) ids.push(id);
  }
  return ids;
}

function bulkOf(action: Action, ids: readonly string[], options: BulkOptions): Bulk {
  const { all, priority, runAt, reason } = options;
  const filter = queryOf(options);
  const isFiltered = Object.values(filter).some((value) => value !== undefined);
  const waysCount = [isFiltered, ids.length > 0, all === true].filter(Boolean).length;
  if (waysCount !== 1) {
    const what = waysCount === 0 ? 'which tasks? give' : 'give one of';
    throw new Failure(`${what} ids, filters, or --all`, ExitCode.usage);
  }
  const isChange = priority !== undefined || runAt !== undefined;
  if (isChange !== (action === 'change')) {
    throw new Failure('--priority, --run-at or both go with change', ExitCode.usage);
  }
  return {
    action,
    ...(isFiltered && { filter }),
    ...(ids.length > 0 && { ids: [...new Set(ids)] }),
    ...(all === true && { all }),
    ...(isChange && {
      change: {
        ...(priority !== undefined && { priority: priorityOf(priority) }),
        ...(runAt !== undefined && { run_at: runAt }),
      },
    }),
    ...(reason !== undefined && { reason }),
  };
}

/** A name goes to the master as it is: that knows which there are. */
function priorityOf(text: string): NonNullable<NonNullable<Bulk['change']>['priority']> {
  type Priority = NonNullable<NonNullable<Bulk['change']>['priority']>;
  return /^-?\d+$/.test(text) ? Number(text) : (text as Priority);
}

async function perform(
  client: SodaClient,
  output: Output,
  bulk: Bulk,
  { yes, wait }: BulkOptions,
  signal: AbortSignal,
): Promise<void> {
  const preview = await client.operations.preview(bulk, { signal });
  const isNone = preview.count === 0 && preview.exact;
  if (isNone && (yes === true || !output.json)) {
    output.say({ count: 0 }, 'There is no such task.');
    return;
  }
  const isToBeDone = yes === true || (await mayGoOn(output, bulk, preview, signal));
  if (!isToBeDone) return;
  const operationId = await client.operations.begin(bulk, preview.token, { signal });
  await sayBegun(client, output, operationId, wait, signal);
}

/** Shows what would be done. Without a person at the terminal that is all. @throws {Failure} that nobody could be asked. */
async function mayGoOn(
  output: Output,
  { action, ids }: Bulk,
  { count, exact, sample, ...preview }: BulkPreview,
  signal: AbortSignal,
): Promise<boolean> {
  if (output.json) {
    output.say({ count, exact, sample, expires_at: preview.expires_at }, '');
    return false;
  }
  const head = ['task', 'state', 'type', 'group', 'submitted'];
  await output.rows(sample, head, (task) => [
    task.task_id,
    task.state,
    task.type,
    task.group,
    task.submitted_at,
  ]);
  const about = exact ? '' : 'about ';
  const tasks = `${about}${count.toLocaleString('en')} ${count === 1 ? 'task' : 'tasks'}`;
  const what = `${action}: ${tasks}${ids === undefined ? '' : missingInWords(count, sample.length)}`;
  return isConfirmed(output, what, signal);
}

/** Of those that are named the first ten are looked for. */
function missingInWords(count: number, foundCount: number): string {
  const lookedCount = Math.min(count, SAMPLE_COUNT);
  const missingCount = lookedCount - foundCount;
  if (missingCount === 0) return ' that are named';
  const some = lookedCount === count ? '' : ` of the first ${lookedCount}`;
  return ` that are named; not found${some}: ${missingCount}`;
}
