/**
 * How many executors would have kept waits within an objective. The arrivals of a span are played once more before so
 * many executors, first come first served, each task with a run time drawn from those that were measured; waits follow by
 * the recursion of Kiefer and Wolfowitz ("On the theory of queues with many servers", 1955), so that nothing is supposed
 * of how arrivals and run times vary. How far off that may be is found by the bootstrap (Efron, 1979). Asks nobody, and
 * leaves out what the arrivals do not say: limits, pauses, labels, priorities, time to start an executor.
 */
import { setImmediate } from 'node:timers/promises';

/** More would take minutes: then the busiest stretch that has no more stands for all. */
export const ARRIVALS_MAX = 20_000;
const PLAY_COUNT = 5;
const BOOTSTRAP_COUNT = 20;
/** With fewer run times than these nobody knows how long the long ones are. */
export const RUNS_FEW = 30;
/** 100 − 99.9 is a little less than 0.1: a task that may be late is not to be lost by that. */
const ROUNDING = 1e-9;

export interface Observed {
  /** In order, each of this length; those that are missing are of times of which nothing is known. */
  readonly points: readonly { readonly at: number; readonly accepted: number }[];
  readonly pointMs: number;
  /** How long tasks kept an executor, all their attempts together: a sample. */
  readonly runMs: readonly number[];
}

export interface Objective {
  readonly waitMs: number;
  /** Of 100 tasks so many are to start within that. */
  readonly percentile: number;
}

export interface Advice {
  readonly executors: number;
  /**
   * Nine of ten repetitions of this span, with other arrivals and run times of the same kind, are between these: `low` where
   * those of a point are spread over it, `high` where they all come at its beginning. Another span may differ more.
   */
  readonly low: number;
  readonly high: number;
  /** How many executors would be busy on average. */
  readonly load: number;
  /** The arrivals that this is by. */
  readonly arrivals: number;
}

/**
 * Some seconds at most, in pieces. Null: nothing has come, nothing is known of run times, or no point has so few arrivals
 * that they can be played. `random`: from 0 up to 1.
 *
 * @throws the reason of `signal`, once it is aborted.
 */
export async function adviseFleet(
  observed: Observed,
  objective: Objective,
  random: () => number,
  signal?: AbortSignal,
): Promise<Advice | null> {
  const points = busiest(observed.points);
  const { pointMs, runMs } = observed;
  const cameAt = points.flatMap(({ at, accepted }) => Array.from({ length: accepted }, () => at));
  if (cameAt.length === 0 || runMs.length === 0) return null;
  const drawn = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  const need = (starts: readonly number[], runs: readonly number[], spreadMs: number): number => {
    const arrivals = Float64Array.from(starts, (at) => at + random() * spreadMs).sort();
    const lengths = Float64Array.from(starts, () => drawn(runs));
    return leastExecutors(arrivals, lengths, objective);
  };
  const again = <T>(of: readonly T[]): T[] => of.map(() => drawn(of));
  /** Of few runs none may be among the long ones: so all are taken for longer or shorter, as by chance. */
  const others = (spreadMs: number): Promise<number[]> =>
    repeated(BOOTSTRAP_COUNT, signal, () => {
      const factor =
        runMs.length < RUNS_FEW ? Math.exp(normal(random) / Math.sqrt(runMs.length)) : 1;
      return need(
        again(cameAt),
        again(runMs).map((ms) => ms * factor),
        spreadMs,
      );
    });
  const played = await repeated(PLAY_COUNT, signal, () => need(cameAt, runMs, pointMs));
  const executors = played[Math.floor(PLAY_COUNT / 2)] as number;
  const [spread, atOnce] = [await others(pointMs), await others(0)];
  const meanMs = runMs.reduce((sum, ms) => sum + ms, 0) / runMs.length;
  return {
    executors,
    // One fewer may do: arrivals drawn again are burstier than those that came, so that none of these says so.
    low: Math.max(1, Math.min(executors - 1, spread[0] as number)),
    high: Math.max(executors, atOnce[BOOTSTRAP_COUNT - 1] as number),
    load: (cameAt.length * meanMs) / (points.length * pointMs),
    arrivals: cameAt.length,
  };
}

/** Varies around 0 by 1 (Box and Muller, 1958). */
function normal(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

async function repeated(
  count: number,
  signal: AbortSignal | undefined,
  once: () => number,
): Promise<number[]> {
  const found: number[] = [];
  while (found.length < count) {
    found.push(once());
    // Whoever waits for it may give it up meanwhile.
    await setImmediate();
    signal?.throwIfAborted();
  }
  return found.sort((a, b) => a - b);
}

/** The stretch of points in which most came in its time, of those with as many arrivals as are played. */
function busiest(points: Observed['points']): Observed['points'] {
  let best = { rate: -1, from: 0, to: 0 };
  let sum = 0;
  for (let from = 0, to = 0; to < points.length; ) {
    sum += points[to++]?.accepted ?? 0;
    while (sum > ARRIVALS_MAX) sum -= points[from++]?.accepted ?? 0;
    const isWhole = from === 0 && to === points.length;
    const isFull = to < points.length && sum + (points[to]?.accepted ?? 0) > ARRIVALS_MAX;
    // None: a point alone has more than that.
    const rate = from === to ? -1 : sum / (to - from);
    if (isWhole || ((isFull || to === points.length) && rate > best.rate))
      best = { rate, from, to };
  }
  return points.slice(best.from, best.to);
}

/** More executors never make anybody wait longer: so it is looked for by halves. */
function leastExecutors(arrivals: Float64Array, runs: Float64Array, objective: Objective): number {
  let high = 1;
  while (!isMet(arrivals, runs, high, objective)) high *= 2;
  let low = Math.floor(high / 2);
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (isMet(arrivals, runs, middle, objective)) high = middle;
    else low = middle;
  }
  return high;
}

function isMet(
  arrivals: Float64Array,
  runs: Float64Array,
  executorCount: number,
  { waitMs, percentile }: Objective,
): boolean {
  const lateMax = Math.floor((arrivals.length * (100 - percentile)) / 100 + ROUNDING);
  /** When each executor is free: a heap, the first of them on top. */
  const freeAt = new Float64Array(executorCount);
  let lateCount = 0;
  for (let at = 0; at < arrivals.length; at++) {
    const arrival = arrivals[at] as number;
    const start = Math.max(arrival, freeAt[0] as number);
    if (start - arrival > waitMs && ++lateCount > lateMax) return false;
    replaceFirst(freeAt, start + (runs[at] as number));
  }
  return true;
}

function replaceFirst(heap: Float64Array, value: number): void {
  let at = 0;
  for (;;) {
    let child = 2 * at + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && (heap[child + 1] as number) < (heap[child] as number))
      child += 1;
    if (value <= (heap[child] as number)) break;
    heap[at] = heap[child] as number;
    at = child;
  }
  heap[at] = value;
}
