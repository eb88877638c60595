/**
 * What the windows of a type say at an instant, and until when they say so. They go by the clock on the wall
 * in their zone: an hour that is skipped ends what would have begun in it early, and one that comes
 * twice is twice what it is. Pure; the rules of zones are those of the runtime.
 */
import type { LimitWindow } from '../model/task-type.ts';

/** What holds of all windows that are open. */
export interface OpenWindows {
  /** The least of them; null: none says so. */
  readonly maxRunning: number | null;
  readonly isPaused: boolean;
  /** No other holds before then. */
  readonly until: number;
}

const DAY_MS = 86_400_000;
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
  const today = days === null || days.includes(weekdayOf(wall));
  const yesterday = days === null || days.includes(weekdayOf(wall - DAY_MS));
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

/** What the clock on the wall shows, as if it were that of UTC. */
const wallOf = (zone: string, at: number): number => at + offsetOf(zone, at);

const timeOf = (wall: number): number => ((wall % DAY_MS) + DAY_MS) % DAY_MS;

/** 1: Monday. The first day of the epoch was a Thursday. */
const weekdayOf = (wall: number): number => ((Math.floor(wall / DAY_MS) + 3) % 7) + 1;

/** Of `08:30`. */
function minutesOf(time: string): number {
  const [hours, minutes] = time.split(':');
  return Number(hours) * 60 + Number(minutes);
}

/** Making one takes a hundred times as long as using it; there are some hundred zones. */
const formats = new Map<string, Intl.DateTimeFormat>();

/** How far the zone is ahead of UTC then. */
function offsetOf(zone: string, at: number): number {
  let format = formats.get(zone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    formats.set(zone, format);
  }
  const parts = new Map(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
  const of = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0;
  const seconds = (of('hour') * 60 + of('minute')) * 60 + of('second');
  const wall = daysBefore(of('year'), of('month'), of('day')) * DAY_MS + seconds * 1000;
  return wall - Math.floor(at / 1000) * 1000;
}

/** Days from the epoch to that date: years begin in March here, so that leap days come last. */
function daysBefore(year: number, month: number, day: number): number {
  const since = month > 2 ? year : year - 1;
  const dayOfYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1;
  const leaps = Math.floor(since / 4) - Math.floor(since / 100) + Math.floor(since / 400);
  return since * 365 + leaps + dayOfYear - 719_468;
}
