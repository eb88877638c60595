/**
 * What the windows of a type allow at most, day by day of UTC. A day is looked at once for as long as these windows are
 * set: bookings ask for the same days, each for its own window. Pure, as `windows.ts`.
 */
import type { LimitWindow } from '../model/task-type.ts';
import { DAY_MS, dayOf } from '../schedule/local-time.ts';
import { windowsAt } from './windows.ts';

/** Half-open. */
export interface Maximum {
  readonly from: number;
  readonly to: number;
  readonly max: number;
}

/** Of what is further on than so many days of one span. */
const DAYS_MAX = 32;
const DAYS_KEPT_MAX = 1_000;

type Days = Map<number, readonly Maximum[]>;

/** Rows of types are never changed: whatever sets other windows brings another list. */
const daysOf = new WeakMap<readonly LimitWindow[], Days>();

/**
 * What they allow at a time in that span, as it changes; when none of them says so is left out. Of what is too far on to
 * look at all that they ever allow at least.
 */
export function maximaWithin(
  windows: readonly LimitWindow[],
  { from, to }: { readonly from: number; readonly to: number },
): Maximum[] {
  const limiting = windows.filter(({ paused }) => !paused);
  const found: Maximum[] = [];
  if (limiting.length === 0) return found;
  const end = Math.min(to, (dayOf(from) + DAYS_MAX) * DAY_MS);
  for (let day = dayOf(from); day * DAY_MS < end; day++) {
    for (const one of ofDay(windows, limiting, day)) {
      if (one.from < end && one.to > from) join(found, one);
    }
  }
  const least = Math.min(...limiting.map(({ maxRunning }) => maxRunning ?? 0));
  if (end < to) join(found, { from: Math.max(from, end), to, max: least });
  return found.map((one) => clipped(one, from, to));
}

function clipped(one: Maximum, from: number, to: number): Maximum {
  if (one.from >= from && one.to <= to) return one;
  return { ...one, from: Math.max(one.from, from), to: Math.min(one.to, to) };
}

function join(list: Maximum[], one: Maximum): void {
  const last = list.at(-1);
  if (last?.to !== one.from || last.max !== one.max) list.push(one);
  else list[list.length - 1] = { ...last, to: one.to };
}

function ofDay(
  windows: readonly LimitWindow[],
  limiting: readonly LimitWindow[],
  day: number,
): readonly Maximum[] {
  const days: Days = daysOf.get(windows) ?? new Map();
  daysOf.set(windows, days);
  let found = days.get(day);
  if (found === undefined) {
    found = lookedAt(limiting, day * DAY_MS);
    if (days.size >= DAYS_KEPT_MAX) days.clear();
    days.set(day, found);
  }
  return found;
}

/** Each window by itself, and then whichever allows least: not all of them at each edge of each. */
function lookedAt(limiting: readonly LimitWindow[], begin: number): Maximum[] {
  const end = begin + DAY_MS;
  const open: Maximum[] = [];
  for (const window of limiting) {
    for (let at = begin; at < end; ) {
      const { maxRunning, until } = windowsAt([window], at);
      const to = Math.min(until, end);
      if (maxRunning !== null) open.push({ from: at, to, max: maxRunning });
      at = to;
    }
  }
  const edges = [...new Set(open.flatMap(({ from, to }) => [from, to]))].sort((a, b) => a - b);
  const found: Maximum[] = [];
  for (const [index, from] of edges.entries()) {
    const to = edges[index + 1] ?? from;
    const allowing = open.filter((one) => one.from <= from && from < one.to);
    if (allowing.length > 0)
      join(found, { from, to, max: Math.min(...allowing.map(({ max }) => max)) });
  }
  return found;
}
