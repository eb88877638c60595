/** `soda job backfill`: past times of a job that are run now. Shows how many first, and asks. */
import type { Backfill, BackfillPreview } from '@soda-scheduler/client';
import { backfillWhich } from '@soda-scheduler/protocol';
import { Argument, type Command, Option } from 'commander';
import { sayBegun } from '../bulk/follow.ts';
import { isConfirmed } from '../confirm.ts';
import { type ConnectionOptions, connect, interruptible, remoteCommand } from '../connection.ts';
import { instantOf, TIME } from '../instant.ts';
import { number } from '../options.ts';

interface BackfillOptions extends ConnectionOptions {
  readonly trigger?: string;
  readonly from: string;
  readonly to?: string;
  readonly which?: Backfill['which'];
  readonly maxRunning?: number;
  readonly reason?: string;
  readonly dryRun?: true;
  readonly yes?: true;
  readonly wait: boolean;
}

export function backfillCommand(): Command {
  return remoteCommand('backfill', 'Run past times of a job now: shows how many, and asks.')
    .addArgument(new Argument('<job>', 'the job'))
    .requiredOption('--from <time>', `nominal times from then on, ${TIME}`)
    .option('--to <time>', 'and before then (default: now)')
    .addOption(new Option('--trigger <name>', 'of this trigger (default: the only one)'))
    .addOption(
      new Option('--which <which>', 'without a run, or also those that failed, or all').choices(
        backfillWhich,
      ),
    )
    .option('--max-running <count>', 'runs of it at a time (default: 1)', number)
    .option('--reason <text>', 'why, for whoever looks at it later')
    .option('--dry-run', 'show what it would run, and end')
    .option(
      '--yes',
      'do it without asking: without, nothing is done where nobody can be asked, which ends with 2',
    )
    .option('--no-wait', 'end as soon as it has begun')
    .addHelpText(
      'after',
      `
What calendars and black-outs leave out stays left out. The oldest time comes first, behind other tasks
that wait. The master does it piece by piece, also where this command is interrupted or the master starts
again: "soda operation list" tells how far it is. Ends with 1 where a run has failed.

Examples:
  $ soda job backfill nightly --from 2026-11-01T00:00:00Z --dry-run
  $ soda job backfill nightly --from -7d --which missing_failed --max-running 3 --yes`,
    )
    .action(async (of: string, options: BackfillOptions) => {
      await interruptible((signal) => perform(of, options, signal));
    });
}

async function perform(
  of: string,
  { from, to, yes, wait, dryRun, ...options }: BackfillOptions,
  signal: AbortSignal,
): Promise<void> {
  const { client, output } = connect(options);
  const asked: Backfill = {
    from: instantOf(from) ?? from,
    to: instantOf(to) ?? Date.now(),
    trigger: options.trigger,
    which: options.which,
    max_running: options.maxRunning,
    reason: options.reason,
  };
  const { token, ...preview } = await client.jobs.previewBackfill(of, asked, { signal });
  const isToBeDone = dryRun !== true && preview.count > 0;
  if (!isToBeDone || (output.json && yes !== true)) {
    output.say(preview, previewInWords(of, preview));
    return;
  }
  if (yes !== true && !(await isConfirmed(output, previewInWords(of, preview), signal))) return;
  const operationId = await client.jobs.backfill(of, asked, token, { signal });
  await sayBegun(client, output, operationId, wait, signal);
}

function previewInWords(
  of: string,
  { count, exact, first, last, trigger, covered, left_out }: Omit<BackfillPreview, 'token'>,
): string {
  const others = [
    ...(covered > 0 ? [`${covered} need no run`] : []),
    ...(left_out > 0 ? [`${left_out} left out`] : []),
  ];
  const besides = others.length === 0 ? '' : `; ${others.join(', ')}`;
  if (first === null) return `No time of ${of} is to be run${besides}.`;
  const times = `${exact ? '' : 'up to '}${count} ${count === 1 ? 'time' : 'times'}`;
  return `backfill of ${of}: ${times} of ${trigger}, from ${first} to ${last}${besides}`;
}
