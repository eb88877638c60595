/** `soda job backfill`: runs times that are past. Shows which first, and asks. */
import type { Backfill, SodaClient } from '@soda-scheduler/client';
import { Argument, type Command, Option } from 'commander';
import { countsInWords, follow } from '../bulk/follow.ts';
import { isConfirmed } from '../confirm.ts';
import { type ConnectionOptions, connect, interruptible, remoteCommand } from '../connection.ts';
import { Failure } from '../exit-code.ts';
import { instantOf, TIME } from '../instant.ts';
import { number } from '../options.ts';
import type { Output } from '../output.ts';

interface BackfillOptions extends ConnectionOptions {
  readonly trigger?: string;
  readonly from: string;
  readonly to: string;
  readonly which: Backfill['which'];
  readonly maxRunning?: number;
  readonly yes?: true;
  readonly wait: boolean;
}

const WHICH: readonly Backfill['which'][] = ['missing', 'missing_failed', 'all'];

export function backfillCommand(): Command {
  return remoteCommand('backfill', 'Run a job for times that are past: shows which, and asks.')
    .addArgument(new Argument('<job>', 'the job'))
    .requiredOption('--from <time>', `times from then on, ${TIME}`)
    .requiredOption('--to <time>', `times before then, ${TIME}`)
    .addOption(
      new Option('--which <which>', 'times that have not run, those too whose run failed, or all')
        .choices(WHICH)
        .default('missing'),
    )
    .addOption(new Option('--trigger <name>', 'of this trigger (default: the only one)'))
    .option('--max-running <count>', 'of it at the same time (default: 1)', number)
    .option('--yes', 'do it without asking')
    .option('--no-wait', 'end as soon as it has begun')
    .addHelpText(
      'after',
      `
Its runs come behind all other work. The master does it piece by piece, also where this command is interrupted:
"soda operation list" tells how far it is, and pauses or ends it.

Examples:
  $ soda job backfill nightly --from -7d --to -1d
  $ soda job backfill nightly --from 2026-10-01T00:00:00Z --to 2026-10-08T00:00:00Z --which all --yes`,
    )
    .action(async (of: string, options: BackfillOptions) => {
      const { client, output } = connect(options);
      await interruptible((signal) => perform(client, output, of, options, signal));
    });
}

async function perform(
  client: SodaClient,
  output: Output,
  of: string,
  { trigger, which, maxRunning, yes, wait, ...times }: BackfillOptions,
  signal: AbortSignal,
): Promise<void> {
  // Once: what counts from now is another time in the next request.
  const [from, to] = [instantOf(times.from) ?? '', instantOf(times.to) ?? ''];
  const backfill: Backfill = {
    from,
    to,
    which,
    ...(trigger !== undefined && { trigger }),
    ...(maxRunning !== undefined && { max_running: maxRunning }),
  };
  const preview = await client.jobs.previewBackfill(of, backfill, { signal });
  const { count, exact, sample } = preview;
  if (count === 0 || (output.json && yes !== true)) {
    output.say({ count, exact, sample }, 'There is no such time.');
    return;
  }
  for (const nominal of sample) output.hint(`  ${nominal}`);
  const many = `${exact ? '' : 'at least '}${count.toLocaleString('en')}`;
  const what = `backfill ${of}: ${many} ${count === 1 ? 'time' : 'times'}`;
  if (yes !== true && !(await isConfirmed(output, what, signal))) return;
  const operationId = await client.jobs.backfill(of, backfill, preview.token, { signal });
  if (!wait) {
    output.say({ operation_id: operationId }, operationId);
    return;
  }
  const operation = await follow(client, output, operationId, signal);
  output.sayView(operation, countsInWords(operation));
  if (operation.failed > 0 || operation.state === 'canceled') throw new Failure('');
}
