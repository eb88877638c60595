/**
 * What the windows of a type allow at most, day by day of UTC. A day is looked at once for as long as these windows are
 * set, and of days that are alike one: bookings ask for the same ones, each for its own window. Pure, as `windows.ts`.
 */
import type { LimitWindow } from '../model/task-type.ts';
import { DAY_MS, dayOf, offsetOf, weekdayOf } from '../schedule/local-time.ts';
import { windowsAt } from './windows.ts';

/** Half-open. */
interface Span {
  readonly from: number;
  readonly to: number;
}

export interface Maximum extends Span {
  readonly max: number;
}

const DAYS_KEPT_MAX = 1_000;

/** Rows of types are never changed: whatever sets other windows brings another list. */
const known = new WeakMap<readonly LimitWindow[], Maxima>();

/** Undefined: none of them limits anything. */
export function maximaOf(windows: readonly LimitWindow[]): Maxima | undefined {
  const limiting = windows.filter(({ paused }) => !paused);
  if (limiting.length === 0) return undefined;
  const maxima = known.get(windows) ?? new Maxima(limiting);
  known.set(windows, maxima);
  return maxima;
}

export class Maxima {
  /** Less they never allow. They do allow as little in any week, but where a clock that is changed leaves that out. */
  readonly least: number;
  readonly #limiting: readonly LimitWindow[];
  readonly #zones: ReadonlySet<string>;
  readonly #days = new Map<number, readonly Maximum[]>();
  /** From midnight on, by weekday and by what clocks show then: of all of them, and of each. */
  readonly #alike = new Map<string, readonly Maximum[]>();
  readonly #open = new Map<string, readonly Maximum[]>();

  constructor(limiting: readonly LimitWindow[]) {
    this.least = Math.min(...limiting.map(({ maxRunning }) => maxRunning ?? 0));
    this.#limiting = limiting;
    this.#zones = new Set(limiting.map(({ zone }) => zone));
  }

  /** What they allow at a time in that span, as it changes; when none of them says so is left out. */
  *within({ from, to }: Span): Generator<Maximum> {
    let last: Maximum | undefined;
    for (let day = dayOf(from); day * DAY_MS < to; day++) {
      for (const one of this.#ofDay(day)) {
        if (one.to <= from || one.from >= to) continue;
        const clipped = { ...one, from: Math.max(one.from, from), to: Math.min(one.to, to) };
        if (last?.to === clipped.from && last.max === clipped.max) {
          last = { ...last, to: clipped.to };
          continue;
        }
        if (last !== undefined) yield last;
        last = clipped;
      }
    }
    if (last !== undefined) yield last;
  }

  #ofDay(day: number): readonly Maximum[] {
    return keptIn(this.#days, day, () => {
      const begin = day * DAY_MS;
      const shift = ({ from, to, max }: Maximum) => ({ from: begin + from, to: begin + to, max });
      return this.#sinceMidnight(day).map(shift);
    });
  }

  #sinceMidnight(day: number): readonly Maximum[] {
    const clocks = [...this.#zones].map((zone) => clockOf(zone, day));
    // A day on which a clock is changed is like no other.
    if (clocks.includes(null)) return this.#lookedAt(day);
    const alike = `${weekdayOf(day)} ${clocks.join(' ')}`;
    return keptIn(this.#alike, alike, () => this.#lookedAt(day));
  }

  /** Each window by itself, and then whichever allows least: not all of them at each edge of each. */
  #lookedAt(day: number): Maximum[] {
    const open = this.#limiting.flatMap((window, index) => {
      const clock = clockOf(window.zone, day);
      if (clock === null) return openOn(window, day);
      const alike = `${index} ${weekdayOf(day)} ${clock}`;
      return keptIn(this.#open, alike, () => openOn(window, day));
    });
    const edges = [...new Set(open.flatMap(({ from, to }) => [from, to]))].sort((a, b) => a - b);
    const found: Maximum[] = [];
    for (const [index, from] of edges.entries()) {
      const to = edges[index + 1] ?? from;
      let max = Number.POSITIVE_INFINITY;
      for (const one of open) if (one.from <= from && from < one.to) max = Math.min(max, one.max);
      const last = found.at(-1);
      if (last?.to === from && last.max === max) found[found.length - 1] = { ...last, to };
      else if (max < Number.POSITIVE_INFINITY) found.push({ from, to, max });
    }
    return found;
  }
}

/** How far the zone is ahead of UTC on that day of UTC; null: that changes. */
function clockOf(zone: string, day: number): number | null {
  const offset = offsetOf(zone, day * DAY_MS);
  return offset === offsetOf(zone, (day + 1) * DAY_MS) ? offset : null;
}

function keptIn<K, T>(kept: Map<K, T>, key: K, make: () => T): T {
  const known = kept.get(key);
  if (known !== undefined) return known;
  if (kept.size >= DAYS_KEPT_MAX) kept.clear();
  const made = make();
  kept.set(key, made);
  return made;
}

/** From midnight on. */
function openOn(window: LimitWindow, day: number): Maximum[] {
  const begin = day * DAY_MS;
  const open: Maximum[] = [];
  for (let at = begin; at < begin + DAY_MS; ) {
    const { maxRunning, until } = windowsAt([window], at);
    const to = Math.min(until, begin + DAY_MS);
    if (maxRunning !== null) open.push({ from: at - begin, to: to - begin, max: maxRunning });
    at = to;
  }
  return open;
}
