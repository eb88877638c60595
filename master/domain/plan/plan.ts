/**
 * Which windows of bookings fit, and how each is divided over pools. It never accepts what does not fit, and within
 * one pool without pins it accepts all that fits (`pool-book.ts`). Memory holds one of a namespace.
 */
import { BOOKING_CHANGES_MAX } from '../booking/booking-bounds.ts';
import { mayRun, pinnedTo, pinOf } from '../model/executor.ts';
import { servesFirst } from '../queue/junctions.ts';
import { type FreeWindow, freeWindows } from './free.ts';
import { PoolBook } from './pool-book.ts';
import { type Claim, Timeline } from './timeline.ts';

/** Executors with the same types, labels (without those that each has by itself) and reservations. */
export interface BookedPool {
  readonly key: string;
  readonly types: readonly string[];
  readonly labels: readonly string[];
  readonly reserve: readonly string[];
  /** How many of them may be booked at a time. */
  readonly capacity: number;
  /** Those that are known: a booking that names one of them belongs to this pool. */
  readonly executorIds: ReadonlySet<string>;
}

/** How much may run at a time, on whichever executors: a limit of the type, say. */
export interface Ceiling {
  readonly key: string;
  readonly max: number;
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

/** A window that was accepted. */
export interface PlannedWindow extends Wish {
  readonly id: string;
  /** In which order they were accepted: the first keep their place when there is less capacity. */
  readonly order: number;
  /** Null: it does not fit any more, and takes nothing. */
  readonly parts: readonly Part[] | null;
}

interface Held {
  readonly window: PlannedWindow;
  readonly inBooks: readonly (readonly [PoolBook, Claim])[];
  readonly inCeilings: readonly (readonly [Timeline, Claim])[];
}

type Place = readonly [BookedPool, PoolBook];

export class BookingPlan {
  /** In the order in which they serve: the least able first. */
  #pools: readonly BookedPool[] = [];
  readonly #books = new Map<string, PoolBook>();
  readonly #ceilings = new Map<string, Timeline>();
  readonly #held = new Map<string, Held>();
  /** What did not fit may fit, or the other way round. */
  #isChanged = true;

  /** What there is from now on; whoever has windows then has to `replan` them. */
  setPools(pools: readonly BookedPool[]): void {
    const sorted = [...pools].sort((a, b) => (servesFirst(a, b) ? -1 : 1));
    const isSame = (pool: BookedPool, at: number) => isSamePool(pool, this.#pools[at]);
    this.#isChanged ||= sorted.length !== this.#pools.length || !sorted.every(isSame);
    this.#pools = sorted;
    const capacities = new Map(pools.map(({ key, capacity }) => [key, capacity]));
    for (const [key, book] of this.#books) {
      book.capacity = capacities.get(key) ?? 0;
      if (book.isEmpty && !capacities.has(key)) this.#books.delete(key);
    }
    for (const { key, capacity } of pools) this.#bookOf(key).capacity = capacity;
  }

  /** The division of each where all of them fit together, in their order; else the first that does not. */
  admit(wishes: readonly Wish[]): Admission {
    const divisions: (readonly Part[])[] = [];
    const tried: Held[] = [];
    let refused: Wish | null = null;
    for (const wish of wishes) {
      const fits = this.#ceilingRoom(wish) >= wish.count;
      const parts = fits ? divide(wish, this.#placesFor(wish)) : null;
      if (parts === null) {
        refused = wish;
        break;
      }
      divisions.push(parts);
      tried.push(this.#hold({ ...wish, id: '', order: 0, parts }));
    }
    for (const held of tried) release(held);
    return refused === null ? { divisions } : { refused };
  }

  /** In place of the one with its id. Whether it fits has been asked before. */
  put(window: PlannedWindow): void {
    this.remove(window.id);
    this.#held.set(window.id, this.#hold(window));
    // As a term begins, rows may be of other pools than there are.
    this.#isChanged = true;
  }

  remove(id: string): void {
    const held = this.#held.get(id);
    if (held === undefined) return;
    release(held);
    this.#held.delete(id);
    this.#isChanged = true;
  }

  /** Executors of the pool that others have, or name, at any time of that window. */
  takenWithin(pool: string, from: number, to: number): Set<string> {
    return this.#books.get(pool)?.takenWithin(from, to) ?? new Set();
  }

  /**
   * All windows in order of acceptance: each keeps its division where that fits, else it is divided anew, or has no
   * parts any more. Of use after `setPools`, and when a window has ended while another does not fit.
   * @returns Those that have other parts now, in that order. They are planned so already.
   */
  replan(): PlannedWindow[] {
    // Where much does not fit it takes long: not again for nothing.
    const isSettled = !this.#isChanged || this.#isSound();
    this.#isChanged = false;
    if (isSettled) return [];
    const windows = [...this.#held.values()].map(({ window }) => window);
    windows.sort((a, b) => a.order - b.order || a.from - b.from);
    for (const book of this.#books.values()) book.clear();
    this.#ceilings.clear();
    this.#held.clear();
    const changed: PlannedWindow[] = [];
    const placesByNeeds = new Map<string, Place[]>();
    for (const window of windows) {
      const needs = JSON.stringify([window.type, window.requires, window.labels]);
      const places = placesByNeeds.get(needs) ?? this.#placesFor(window);
      placesByNeeds.set(needs, places);
      const parts = hasRoom(window, places) ? window.parts : divide(window, places);
      const planned = parts === window.parts ? window : { ...window, parts };
      if (planned !== window) changed.push(planned);
      this.#held.set(planned.id, this.#hold(planned));
    }
    return changed;
  }

  /** When that might be had instead (`freeWindows`). */
  free(wish: Wish, within: { readonly from: number; readonly to: number }): FreeWindow[] {
    const places = this.#placesFor(wish);
    const changes = new Set<number>();
    for (const [, book] of places) {
      for (const at of book.changesNear(wish.from, BOOKING_CHANGES_MAX)) changes.add(at);
    }
    for (const { key } of wish.ceilings) {
      const near = this.#ceilings.get(key)?.changesNear(wish.from, BOOKING_CHANGES_MAX) ?? [];
      for (const at of near) changes.add(at).add(at + wish.leadMs);
    }
    return freeWindows({
      wanted: wish,
      within,
      changes: [...changes],
      roomIn: (from, to) => this.#roomThroughout({ ...wish, from, to }, places),
      cost: places.reduce((sum, [, { lookCost }]) => sum + lookCost, wish.ceilings.length),
    });
  }

  #roomThroughout(wish: Wish, places: readonly Place[]): number {
    let room = 0;
    for (const place of places) room += Math.max(0, roomThroughout(place, wish));
    return Math.min(room, this.#ceilingRoom(wish));
  }

  #ceilingRoom({ ceilings, leadMs, from, to }: Wish): number {
    let room = Number.POSITIVE_INFINITY;
    for (const { key, max } of ceilings) {
      const taken = this.#ceilings.get(key)?.peak(from - leadMs, to) ?? 0;
      room = Math.min(room, max - taken);
    }
    return room;
  }

  /** Where it may be, least able first. */
  #placesFor({ type, requires, labels }: Wish): Place[] {
    const pin = pinnedTo(requires);
    const places: Place[] = [];
    for (const pool of this.#pools) {
      if (pin !== null && !pool.executorIds.has(pin)) continue;
      const own = pin === null ? pool : { ...pool, labels: [...pool.labels, pinOf(pin)] };
      if (mayRun(own, { type, requires, labels })) places.push([pool, this.#bookOf(pool.key)]);
    }
    return places;
  }

  #isSound(): boolean {
    for (const { window } of this.#held.values()) if (window.parts === null) return false;
    for (const book of this.#books.values()) if (!book.isWithinCapacity()) return false;
    return true;
  }

  #hold(window: PlannedWindow): Held {
    const { from, to, leadMs, requires } = window;
    const pin = pinnedTo(requires);
    const inBooks = (window.parts ?? []).map(({ pool, count, executorIds }) => {
      const claim: Claim = { from, to, count, pin };
      const book = this.#bookOf(pool);
      book.add(claim);
      if (pin === null) book.bind(claim, executorIds);
      return [book, claim] as const;
    });
    const ceilings = window.parts === null ? [] : window.ceilings;
    const inCeilings = ceilings.map(({ key }) => {
      const claim: Claim = { from: from - leadMs, to, count: window.count, pin: null };
      const timeline = this.#ceilingOf(key);
      timeline.add(claim);
      return [timeline, claim] as const;
    });
    return { window, inBooks, inCeilings };
  }

  #bookOf(key: string): PoolBook {
    let book = this.#books.get(key);
    if (book === undefined) this.#books.set(key, (book = new PoolBook(0)));
    return book;
  }

  #ceilingOf(key: string): Timeline {
    let ceiling = this.#ceilings.get(key);
    if (ceiling === undefined) this.#ceilings.set(key, (ceiling = new Timeline()));
    return ceiling;
  }
}

function isSamePool(one: BookedPool, other: BookedPool | undefined): boolean {
  if (other === undefined || one.key !== other.key || one.capacity !== other.capacity) return false;
  if (one.executorIds.size !== other.executorIds.size) return false;
  for (const id of one.executorIds) if (!other.executorIds.has(id)) return false;
  return true;
}

export type Admission =
  | { readonly divisions: readonly (readonly Part[])[] }
  | { readonly refused: Wish };

/** All or nothing, over the first of these. */
function divide(wish: Wish, places: readonly Place[]): Part[] | null {
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

/** Whether it fits as it is divided. */
function hasRoom(window: PlannedWindow, places: readonly Place[]): boolean {
  const fits = ({ pool, count }: Part): boolean => {
    const place = places.find(([{ key }]) => key === pool);
    return place !== undefined && roomIn(place, window) >= count;
  };
  return window.parts?.every(fits) ?? false;
}

function roomIn([, book]: Place, { requires, from, to }: Wish): number {
  const pin = pinnedTo(requires);
  return pin === null ? book.room(from, to) : Number(book.hasRoomFor(pin, from, to));
}

/** And in any part of its window. */
function roomThroughout(place: Place, wish: Wish): number {
  const [, book] = place;
  const { requires, from, to } = wish;
  return pinnedTo(requires) === null ? book.roomThroughout(from, to) : roomIn(place, wish);
}

function release({ inBooks, inCeilings }: Held): void {
  for (const [book, claim] of inBooks) book.remove(claim);
  for (const [timeline, claim] of inCeilings) timeline.remove(claim);
}
