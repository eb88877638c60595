/** `soda fleet advice`: how many executors of each type would keep waits within an objective. */
import type { SodaClient, TaskView } from '@soda-scheduler/client';
import { Command, InvalidArgumentError, Option } from 'commander';
import { connect, type ConnectionOptions, interruptible, remoteCommand } from '../connection.ts';
import { ExitCode, Failure } from '../exit-code.ts';
import { instantOf, TIME } from '../instant.ts';
import { type Advice, adviseFleet } from './advice.ts';

/** Run times hardly differ from those of more; each page of ended tasks takes a while. */
const SAMPLE_COUNT = 1_000;
const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, min: 60_000, h: 3_600_000 };

interface AdviceOptions extends ConnectionOptions {
  readonly type?: string[];
  /** In milliseconds. */
  readonly wait: number;
  readonly percentile: number;
  readonly from?: string;
  readonly to?: string;
}

interface Row extends Partial<Omit<Advice, 'arrivals'>> {
  readonly type: string;
  /** Those that are connected now. */
  readonly connected: number;
  readonly arrivals: number;
  /** How many ended tasks the run times are of. */
  readonly runs: number;
}

export function fleetCommand(): Command {
  return new Command('fleet').description('Advise on executors.').addCommand(adviceCommand());
}

function adviceCommand(): Command {
  return remoteCommand('advice', 'Tell how many executors would keep waits within an objective.')
    .option('--type <type...>', 'of tasks of these types (default: of all of the last hour)')
    .addOption(
      new Option('--wait <time>', 'how long tasks may wait, such as 500ms, 30s, 5min or 1h')
        .argParser(waitOf)
        .default(30_000, '30s'),
    )
    .addOption(
      new Option('--percentile <percent>', 'how many of 100 are to start within that')
        .argParser(percentOf)
        .default(95, '95'),
    )
    .option('--from <time>', `by arrivals from when on, ${TIME} (default: 24 hours before the end)`)
    .option('--to <time>', 'until when (default: now)')
    .addHelpText(
      'after',
      `
The arrivals of that time are played once more before so many executors, with the run times of up to 1,000 tasks that
have ended in it. Nine of ten repetitions with other arrivals and run times of the same kind need between "low" and
"high". Limits, pauses, labels and priorities are left out, and so is the time that an executor takes to start.

Examples:
  $ soda fleet advice --wait 30s --percentile 95
  $ soda fleet advice --type encode --from -7d --wait 5min --json`,
    )
    .action(async ({ type, wait, percentile, from, to, ...options }: AdviceOptions) => {
      const { client, output } = connect(options);
      const [first, last] = [instantOf(from), instantOf(to)];
      const span = {
        ...(first !== undefined && { from: first }),
        ...(last !== undefined && { to: last }),
      };
      const rows = await interruptible(async (signal) => {
        const types = type ?? (await client.reports.recent({}, { signal })).types.map(nameOf);
        const found: Row[] = [];
        for (const name of types) {
          const observed = await observe(client, name, span, signal);
          const objective = { waitMs: wait, percentile };
          const advice = adviseFleet(observed, objective, Math.random);
          const { connected, runMs, points } = observed;
          const arrivals = points.reduce((sum, { accepted }) => sum + accepted, 0);
          found.push({ type: name, connected, arrivals, runs: runMs.length, ...rounded(advice) });
        }
        return found;
      });
      if (rows.length === 0) {
        throw new Failure(
          'nothing has come in the last hour: name types by --type',
          ExitCode.failed,
        );
      }
      const columns = ['type', 'arrivals', 'runs', 'load', 'connected', 'advised', 'low', 'high'];
      await output.rows(
        rows,
        columns,
        ({ executors = '?', load = '?', low = '?', high = '?', ...row }) =>
          [row.type, row.arrivals, row.runs, load, row.connected, executors, low, high].map(String),
      );
    });
}

const nameOf = ({ type }: { readonly type: string }): string => type;

/** Empty where nothing is known: of what has never ended nobody can say how long it takes. */
function rounded(advice: Advice | null) {
  if (advice === null) return {};
  const { executors, low, high, load } = advice;
  return { executors, low, high, load: Math.round(load * 100) / 100 };
}

async function observe(
  client: SodaClient,
  type: string,
  span: { readonly from?: string | number; readonly to?: string | number },
  signal: AbortSignal,
) {
  const {
    from,
    to,
    points,
    resolution_ms: pointMs,
  } = await client.reports.load({ ...span, type }, { signal });
  const runMs: number[] = [];
  for await (const task of client.history({ type, from, to }, { signal })) {
    const ranMs = ranMsOf(task);
    if (ranMs > 0) runMs.push(ranMs);
    if (runMs.length === SAMPLE_COUNT) break;
  }
  const executors = await client.executors({ type, signal });
  return {
    points: points.map(({ at, accepted }) => ({ at: Date.parse(at), accepted })),
    pointMs,
    runMs,
    connected: executors.filter(({ connected }) => connected).length,
  };
}

/** Of all attempts: that of one which was given back kept an executor, too. */
function ranMsOf({ timeline }: TaskView): number {
  return timeline.reduce((sum, { started_at: started, ended_at: ended }) => {
    return started === null || ended === null ? sum : sum + Date.parse(ended) - Date.parse(started);
  }, 0);
}

/** @throws {InvalidArgumentError} */
function waitOf(text: string): number {
  const [, count, unit = ''] = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|min|h)$/.exec(text) ?? [];
  if (count !== undefined) return Number(count) * (UNIT_MS[unit] ?? 1);
  throw new InvalidArgumentError('expected a time such as 500ms, 30s, 5min or 1h');
}

/** @throws {InvalidArgumentError} */
function percentOf(text: string): number {
  const percent = Number(text);
  if (/^\d{1,2}(\.\d{1,3})?$/.test(text) && percent >= 50) return percent;
  throw new InvalidArgumentError('expected a number from 50 to 99.999');
}
