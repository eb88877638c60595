/** When a booking that was refused might be had instead. */
import {
  BOOKING_CHANGES_MAX,
  BOOKING_FREE_MAX,
  BOOKING_LOOK_COUNT,
} from '../booking/booking-bounds.ts';
import type { Pieces } from '../pieces.ts';
import type { Ceilings } from './ceilings.ts';
import { type Place, roomThroughout, type Wish } from './divide.ts';
import { costIn, type Looks, takeLooks } from './looks.ts';
import type { Span } from './timeline.ts';

/** So many executors are free for all of it. */
export interface FreeWindow {
  readonly from: number;
  readonly to: number;
  readonly count: number;
}

export interface FreeSearch {
  /** What was refused. */
  readonly wanted: FreeWindow;
  /** Nothing is looked for outside. */
  readonly within: Span;
  /** When what is booked changes, near to the beginning of what is wanted; in any order. */
  readonly changes: readonly number[];
  /** How many may be booked for all of that window. A part of it has no less room. What it costs is taken from `looks`. */
  readonly roomIn: (from: number, to: number, looks: Looks) => number;
}

/** In these places, and below those ceilings. */
export function* freeIn(
  places: readonly Place[],
  ceilings: Ceilings,
  wanted: Wish,
  within: Span,
): Pieces<FreeWindow[]> {
  const changes = new Set<number>();
  for (const [, book] of places) {
    for (const at of book.changesNear(wanted.from, BOOKING_CHANGES_MAX)) changes.add(at);
    yield;
  }
  for (const at of ceilings.changesNear(wanted, within, BOOKING_CHANGES_MAX)) changes.add(at);
  const inPools = costIn(places);
  return yield* freeWindows({
    wanted,
    within,
    changes: [...changes],
    roomIn: (from, to, looks) => {
      takeLooks(looks, inPools);
      const wish = { ...wanted, from, to };
      let room = 0;
      for (const place of places) room += Math.max(0, roomThroughout(place, wish));
      return ceilings.room(wish, room, looks);
    },
  });
}

/**
 * Windows that cannot be longer, at least as long and for at least as many as wanted; and how many there are in the very
 * one that is wanted, where that is fewer. Those nearest to it, in order of time. It rests behind each question.
 */
function* freeWindows(search: FreeSearch): Pieces<FreeWindow[]> {
  const { wanted, within, changes, roomIn } = search;
  const lengthMs = wanted.to - wanted.from;
  const found: FreeWindow[] = [];
  const edges = edgesOf(changes, wanted.from, within);
  const looks = { left: BOOKING_LOOK_COUNT };
  function* ask(from: number, to: number): Pieces<number> {
    const room = roomIn(from, to, looks);
    yield;
    return room;
  }
  function* fits(from: number, to: number): Pieces<boolean> {
    return (yield* ask(from, to)) >= wanted.count;
  }
  const byNearness = (a: number, b: number) =>
    Math.abs(a - wanted.from) - Math.abs(b - wanted.from);
  for (const from of [...edges].sort(byNearness)) {
    if (found.length + 1 >= BOOKING_FREE_MAX || looks.left === 0) break;
    const to = from + lengthMs;
    if (to > within.to || found.some((each) => each.from <= from && to <= each.to)) continue;
    if (!(yield* fits(from, to))) continue;
    const later = edges.filter((at) => at > to);
    const end = (yield* lastThat(later, (at) => fits(from, at))) ?? to;
    const earlier = edges.filter((at) => at < from).reverse();
    const begin = (yield* lastThat(earlier, (at) => fits(at, end))) ?? from;
    found.push({ from: begin, to: end, count: yield* ask(begin, end) });
  }
  const room = yield* ask(wanted.from, wanted.to);
  if (room > 0 && room < wanted.count) {
    found.push({ from: wanted.from, to: wanted.to, count: room });
  }
  return found.sort((a, b) => a.from - b.from || a.to - b.to);
}

/** The nearest changes within, and the borders, in order. */
function edgesOf(
  changes: readonly number[],
  near: number,
  { from, to }: FreeSearch['within'],
): number[] {
  const inside = changes.filter((at) => at > from && at < to);
  inside.sort((a, b) => Math.abs(a - near) - Math.abs(b - near));
  return [from, ...inside.slice(0, BOOKING_CHANGES_MAX).sort((a, b) => a - b), to];
}

/** Of those that come first and pass, the last; undefined: the first does not. */
function* lastThat(
  list: readonly number[],
  passes: (each: number) => Pieces<boolean>,
): Pieces<number | undefined> {
  let low = -1;
  let high = list.length;
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if (yield* passes(list[middle] as number)) low = middle;
    else high = middle;
  }
  return list[low];
}
