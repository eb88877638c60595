/** How many executors of pools a window finds, and how it is divided over them. */
import { pinnedTo } from '../model/executor.ts';
import type { BookedPool } from './booked-pool.ts';
import type { Part, Wish } from './plan.ts';
import type { PoolBook } from './pool-book.ts';

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
