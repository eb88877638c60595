/** `soda fleet advice`: how many executors of each type would keep waits within an objective. */
import type { SodaClient, TaskView } from '@soda-scheduler/client';
import { Command, InvalidArgumentError, Option } from 'commander';
import { connect, type ConnectionOptions, interruptible, remoteCommand } from '../connection.ts';
import { ExitCode, Failure } from '../exit-code.ts';
import { instantOf, TIME } from '../instant.ts';
import { type Advice, adviseFleet, ARRIVALS_MAX, type Observed, RUNS_FEW } from './advice.ts';

/** Run times hardly differ from those of more; each page of ended tasks takes a while. */
const SAMPLE_COUNT = 1_000;
/** They are taken from so many parts of the span, the first of each: run times differ by the hour. */
const SAMPLE_PART_COUNT = 10;
const MINUTE_MS = 60_000;
const DAY_MS = 1_440 * MINUTE_MS;
/** So many days are played by the minute, a request each: of more, those in which most came. */
const DAY_COUNT_MAX = 7;
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
The arrivals of that time (of more than a week: of the seven days in which most came) are played once more before so many
executors, with the run times of up to 1,000 tasks that ended in it, from all of it. It is known in which minute a task
came: "low" is for tasks that come spread over it, "high" for those that come all at once, as a batch does. Left out are limits,
pauses, labels, priorities, bookings, other types that an executor takes, and the time that it takes to start. A task
with "run_at" counts when it was submitted.

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
          const advice = await adviseFleet(observed, objective, Math.random, signal);
          const { connected, runMs, arrivals } = observed;
          for (const doubt of doubtsOf(observed)) output.hint(`soda: ${name}: ${doubt}`);
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

type Span = { readonly from?: string | number; readonly to?: string | number };

async function observe(client: SodaClient, type: string, span: Span, signal: AbortSignal) {
  const whole = await client.reports.load({ ...span, type }, { signal });
  const played = await byMinutes(client, whole, { type, signal });
  const [from, to] = [Date.parse(whole.from), Date.parse(whole.to)];
  const runMs: number[] = [];
  for (let part = 0; part < SAMPLE_PART_COUNT; part++) {
    const instant = (at: number) =>
      new Date(from + Math.floor(((to - from) * at) / SAMPLE_PART_COUNT)).toISOString();
    let left = SAMPLE_COUNT / SAMPLE_PART_COUNT;
    for await (const task of client.history(
      { type, from: instant(part), to: instant(part + 1) },
      { signal },
    )) {
      const ranMs = ranMsOf(task);
      if (ranMs > 0) runMs.push(ranMs);
      if (--left === 0) break;
    }
  }
  const executors = await client.executors({ type, signal });
  return {
    points: played.points.map(({ at, accepted }) => ({ at: Date.parse(at), accepted })),
    pointMs: played.resolution_ms,
    arrivals: sumOf(whole.points),
    runMs,
    connected: executors.filter(({ connected }) => connected).length,
  };
}

type Load = Awaited<ReturnType<SodaClient['reports']['load']>>;

const sumOf = (points: Load['points']): number =>
  points.reduce((sum, { accepted }) => sum + accepted, 0);

/** A span of more than a day is told by the hour: bursts are seen only by the minute. */
async function byMinutes(
  client: SodaClient,
  whole: Load,
  { type, signal }: { readonly type: string; readonly signal: AbortSignal },
): Promise<Load> {
  if (whole.resolution_ms <= MINUTE_MS) return whole;
  const days: { readonly from: number; readonly to: number; readonly count: number }[] = [];
  const end = Date.parse(whole.to);
  for (let from = Date.parse(whole.from); from < end; from += DAY_MS) {
    const to = Math.min(from + DAY_MS, end);
    const within = ({ at }: Load['points'][number]) =>
      Date.parse(at) >= from && Date.parse(at) < to;
    days.push({ from, to, count: sumOf(whole.points.filter(within)) });
  }
  const busiest = days.sort((a, b) => b.count - a.count).slice(0, DAY_COUNT_MAX);
  const points: Load['points'][number][] = [];
  for (const { from, to } of busiest.sort((a, b) => a.from - b.from)) {
    const day = await client.reports.load({ type, from, to }, { signal });
    // Minutes are kept for a month.
    if (day.resolution_ms > MINUTE_MS) return whole;
    points.push(...day.points);
  }
  return { ...whole, resolution_ms: MINUTE_MS, points };
}

/** Why what is advised may be far off. */
function* doubtsOf({ points, pointMs, runMs }: Observed): Generator<string> {
  if (points.some(({ accepted }) => accepted > ARRIVALS_MAX)) {
    yield `more than ${ARRIVALS_MAX} came within ${pointMs / MINUTE_MS} min: such times are too much to be played`;
  }
  if (runMs.length > 0 && runMs.length < RUNS_FEW) {
    yield `few run times are known (${runMs.length}): "low" and "high" are far apart for that`;
  }
  if (pointMs > MINUTE_MS) {
    yield 'when tasks came is not known by the minute any more: "high" is for all of an hour or a day at once';
  }
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
