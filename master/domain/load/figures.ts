/** How busy a type was in a minute, an hour, or ever: data only. Who counts is in `counter.ts`. */

/** In milliseconds: how long after they were due tasks have started, at most; the last of `DELAYS` is beyond all. */
export const DELAY_BOUNDS = [100, 1_000, 5_000, 30_000, 120_000, 600_000, 3_600_000] as const;

/** How many have started with such a delay. */
export const DELAYS = [
  'delay_tenth',
  'delay_second',
  'delay_five_seconds',
  'delay_half_minute',
  'delay_two_minutes',
  'delay_ten_minutes',
  'delay_hour',
  'delay_longer',
] as const;

/**
 * What adds up, over time and over types. First what has happened; then, each time that somebody looked, how it stood:
 * divided by `samples`, of all types together, that is an average.
 */
export const LOAD_SUMS = [
  'accepted',
  'started',
  'succeeded',
  'failed',
  'canceled',
  'expired',
  'attempts_failed',
  ...DELAYS,
  'samples',
  'waiting',
  'held',
  'paused',
  'limited',
  'no_executor',
  'all_busy',
  'running',
  'idle',
] as const;

/** Of which the greatest counts. */
export const LOAD_PEAKS = [
  'oldest_wait_ms',
  'delay_max_ms',
  'last_started_at',
  'last_ended_at',
] as const;

export type LoadSum = (typeof LOAD_SUMS)[number];
type LoadPeak = (typeof LOAD_PEAKS)[number];
export type LoadFigure = LoadSum | LoadPeak;
/** What is not named is 0. */
export type Load = { [F in LoadFigure]?: number };

/** Of all types together; and of all that are not told apart. No type has a parenthesis in its name. */
export const ALL_TYPES = '(all)';
export const OTHER_TYPES = '(other)';

export interface LoadSample {
  readonly type: string;
  readonly load: Load;
}

export function addLoad(to: Load, more: Load): void {
  for (const name of LOAD_SUMS) addFigure(to, name, more[name] ?? 0);
  for (const name of LOAD_PEAKS) raiseFigure(to, name, more[name] ?? 0);
}

export function addFigure(to: Load, name: LoadSum, value: number): void {
  if (value !== 0) to[name] = (to[name] ?? 0) + value;
}

export function raiseFigure(to: Load, name: LoadPeak, value: number): void {
  if (value > (to[name] ?? 0)) to[name] = value;
}

/** Up to what delay 95 % of them have started, as far as the bounds tell: between two evenly. Null: none has. */
export function delayOfMost(load: Load): number | null {
  const counts = DELAYS.map((name) => load[name] ?? 0);
  const wanted = 0.95 * counts.reduce((sum, count) => sum + count, 0);
  if (wanted === 0) return null;
  const most = load.delay_max_ms ?? 0;
  let passed = 0;
  for (const [index, count] of counts.entries()) {
    if (passed + count < wanted) {
      passed += count;
      continue;
    }
    const lower = DELAY_BOUNDS[index - 1] ?? 0;
    const upper = Math.min(DELAY_BOUNDS[index] ?? most, most);
    return Math.round(lower + ((wanted - passed) / count) * Math.max(0, upper - lower));
  }
  return most;
}
