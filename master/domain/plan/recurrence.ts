/** When a recurring booking is. Pure. */
import { DAY_MS, instantOf, TIME_END, wallOf } from '../schedule/local-time.ts';

export interface Recurrence {
  /** Its first window, half-open. */
  readonly from: number;
  readonly to: number;
  /** Whole days are counted by the clock on the wall of the zone, anything else in time that passes; null: it is once. */
  readonly everyMs: number | null;
  readonly zone: string;
  /** Occurrences that are left out, by when they would begin. */
  readonly skips: ReadonlySet<number>;
}

export interface Occurrence {
  readonly from: number;
  readonly to: number;
}

/**
 * Those that end after `after` and begin before `until`, in order, at most so many. Each is as long as the first, also
 * where the clock is changed meanwhile, but ends where the next begins: a day that has 23 hours is over sooner. One that
 * would begin in an hour that is skipped begins right after it.
 */
export function occurrencesOf(
  recurrence: Recurrence,
  { after, until, countMax }: { after: number; until: number; countMax: number },
): Occurrence[] {
  const found: Occurrence[] = [];
  for (const one of windowsFrom(recurrence, after - (recurrence.to - recurrence.from))) {
    if (one.from >= until || found.length >= countMax) break;
    if (one.to > after && !recurrence.skips.has(one.from)) found.push(one);
  }
  return found;
}

/** All that begin from that instant on, in order, and perhaps some before it. */
function* windowsFrom(recurrence: Recurrence, after: number): Generator<Occurrence> {
  const lengthMs = recurrence.to - recurrence.from;
  let from: number | null = null;
  for (const next of beginningsFrom(recurrence, after)) {
    // A day that a zone has left out makes two of them one.
    if (from !== null && next <= from) continue;
    if (from !== null) yield { from, to: Math.min(from + lengthMs, next) };
    from = next;
  }
  if (from !== null) yield { from, to: from + lengthMs };
}

/** Whether an occurrence begins just then, skipped or not. */
export function beginsAt(recurrence: Recurrence, at: number): boolean {
  for (const from of beginningsFrom(recurrence, at)) if (from >= at) return from === at;
  return false;
}

/** All from that instant on, in order, and perhaps some before it. */
function* beginningsFrom({ from, everyMs, zone }: Recurrence, after: number): Generator<number> {
  if (everyMs === null) {
    yield from;
    return;
  }
  const inDays = everyMs % DAY_MS === 0;
  const wall = wallOf(zone, from);
  // The offset of a zone moves by less than two days.
  const passedMs = inDays ? after - 2 * DAY_MS - from : after - from;
  for (let k = Math.max(0, Math.floor(passedMs / everyMs)); from + k * everyMs < TIME_END; k++) {
    yield inDays && k > 0 ? instantOf(zone, wall + k * everyMs) : from + k * everyMs;
  }
}
