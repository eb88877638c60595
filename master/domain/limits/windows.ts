/**
 * What the windows of a type say at an instant, and until when they say so. They go by the clock on the wall
 * in their zone: an hour that is skipped ends what would have begun in it early, and one that comes
 * twice is twice what it is. Pure; the rules of zones are those of the runtime.
 */
import type { LimitWindow } from '../model/task-type.ts';
import {
  DAY_MS,
  dayOf,
  minutesOf,
  offsetOf,
  timeOf,
  wallOf,
  weekdayOf,
} from '../schedule/local-time.ts';

/** What holds of all windows that are open. */
export interface OpenWindows {
  /** The least of them; null: none says so. */
  readonly maxRunning: number | null;
  readonly isPaused: boolean;
  /** No other holds before then. */
  readonly until: number;
}

const MINUTE_MS = 60_000;
/** Of sixteen windows in a week. */
const EDGE_COUNT_MAX = 250;

/** @param at Epoch milliseconds. */
export function windowsAt(windows: readonly LimitWindow[], at: number): OpenWindows {
  let maxRunning: number | null = null;
  let isPaused = false;
  let until = Number.POSITIVE_INFINITY;
  for (const window of windows) {
    until = Math.min(until, nextEdge(window, at));
    if (!isOpen(window, wallOf(window.zone, at))) continue;
    if (window.paused) isPaused = true;
    else maxRunning = Math.min(maxRunning ?? Number.POSITIVE_INFINITY, window.maxRunning ?? 0);
  }
  return { maxRunning, isPaused, until };
}

/** Until when they go on pausing; null: for ever, as far as anybody would look. */
export function pauseEnd(windows: readonly LimitWindow[], at: number): number | null {
  let open = windowsAt(windows, at);
  for (let count = 0; count < EDGE_COUNT_MAX; count++) {
    if (!open.isPaused) return at;
    at = open.until;
    open = windowsAt(windows, at);
  }
  return null;
}

/** One that ends no later than it begins ends on the next day, and is of the day on which it began. */
function isOpen({ days, from, to }: LimitWindow, wall: number): boolean {
  const time = timeOf(wall);
  const begin = minutesOf(from) * MINUTE_MS;
  const end = minutesOf(to) * MINUTE_MS;
  const today = days === null || days.includes(isoWeekdayOf(wall));
  const yesterday = days === null || days.includes(isoWeekdayOf(wall - DAY_MS));
  if (begin < end) return today && begin <= time && time < end;
  return (today && begin <= time) || (yesterday && time < end);
}

/** When it may open or end next; where the zone changes its offset before, then. */
function nextEdge({ from, to, zone }: LimitWindow, at: number): number {
  const offset = offsetOf(zone, at);
  const time = timeOf(at + offset);
  const edges = [from, to].map((edge) => {
    const ms = minutesOf(edge) * MINUTE_MS - time;
    return at + (ms > 0 ? ms : ms + DAY_MS);
  });
  let after = Math.min(...edges);
  if (offsetOf(zone, after) === offset) return after;
  let before = at;
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (offsetOf(zone, middle) === offset) before = middle;
    else after = middle;
  }
  return after;
}

/** 1: Monday, 7: Sunday. */
const isoWeekdayOf = (wall: number): number => weekdayOf(dayOf(wall)) || 7;
