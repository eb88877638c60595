/** A window that is asked for: how many executors of pools it finds, and how it is divided over them. */
import type { Maxima } from '../limits/maxima.ts';
import { pinnedTo } from '../model/executor.ts';
import type { BookedPool } from './booked-pool.ts';
import type { PoolBook } from './pool-book.ts';

/** How much may run at a time, on whichever executors: a limit of the type, say. */
export interface Ceiling {
  readonly key: string;
  /** Infinite: nothing is set; what is booked counts below it all the same, for when something is. */
  readonly max: number;
  /** What holds at times of the day, beside `max`: all of it is a ceiling beside the one with its key that always holds. */
  readonly byDay?: Maxima;
}

/** One window that is asked for. */
export interface Wish {
  readonly type: string;
  readonly requires: readonly string[];
  readonly labels: readonly string[];
  /** Half-open. */
  readonly from: number;
  readonly to: number;
  readonly count: number;
  /** So long before `from` it has its part of ceilings. */
  readonly leadMs: number;
  readonly ceilings: readonly Ceiling[];
}

/** So many executors of a pool. */
export interface Part {
  readonly pool: string;
  readonly count: number;
  /** Those that are bound; none until then. */
  readonly executorIds: readonly string[];
}

export type Place = readonly [BookedPool, PoolBook];

/** All or nothing, over the first of these. */
export function divide(wish: Wish, places: readonly Place[]): Part[] | null {
  const parts: Part[] = [];
  let left = wish.count;
  for (const place of places) {
    const room = roomIn(place, wish);
    if (room <= 0) continue;
    const count = Math.min(room, left);
    parts.push({ pool: place[0].key, count, executorIds: [] });
    left -= count;
    if (left === 0) return parts;
  }
  return null;
}

export function roomIn([, book]: Place, { requires, from, to }: Wish): number {
  const pin = pinnedTo(requires);
  return pin === null ? book.room(from, to) : Number(book.hasRoomFor(pin, from, to));
}

/** And in any part of its window. */
export function roomThroughout(place: Place, wish: Wish): number {
  const [, book] = place;
  const { requires, from, to } = wish;
  return pinnedTo(requires) === null ? book.roomThroughout(from, to) : roomIn(place, wish);
}
