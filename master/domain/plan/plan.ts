/**
 * Which windows of bookings fit, and how each is divided over pools. It never accepts what does not fit, and within
 * one pool without pins it accepts all that fits (`pool-book.ts`). Memory holds one of a namespace.
 */
import { mayRun, pinnedTo, pinOf } from '../model/executor.ts';
import { atOnce, type Pieces } from '../pieces.ts';
import { Ceilings, type Taken } from './ceilings.ts';
import { type BookedPool, hasLost, isSamePool, without } from './booked-pool.ts';
import { type Ceiling, divide, type Part, type Place, roomIn, type Wish } from './divide.ts';
import { freeIn, type FreeWindow } from './free.ts';
import { costIn, type Looks, takeLooks } from './looks.ts';
import { isBound, isLacking, type PlannedWindow, type ReplanOptions } from './planned-window.ts';
import { PoolBook } from './pool-book.ts';
import { PoolList } from './pool-list.ts';
import type { Claim, Span } from './timeline.ts';

interface Held {
  readonly window: PlannedWindow;
  readonly inBooks: readonly (readonly [PoolBook, Claim])[];
  readonly inCeilings: Taken;
}

type PlacesByNeeds = Map<string, readonly Place[]>;

/** What is planned anew, beside the plan that holds meanwhile, some windows at a time. */
interface Draft {
  readonly plan: BookingPlan;
  /** Ids of windows that are yet to be planned, in order of acceptance; some of them may have gone. */
  readonly ahead: Set<string>;
  readonly placesByNeeds: PlacesByNeeds;
}

export class BookingPlan {
  readonly #pools = new PoolList();
  /** Keys of pools that executors have joined or left since it was asked. */
  #seen = new Set<string>();
  readonly #books = new Map<string, PoolBook>();
  readonly #ceilings = new Ceilings();
  readonly #held = new Map<string, Held>();
  /** Those of them that have fewer executors than they are to have, or none. */
  #lackingCount = 0;
  /** What did not fit may fit. */
  #isChanged = true;
  /** What limits allow is another. */
  #areLimitsNew = false;
  /** Of pools with fewer executors than before, or of which nothing was known: what did fit may not any more. */
  readonly #suspects = new Set<PoolBook>();
  /** Windows that were left as they are, since nobody knew yet how many executors there are for them. */
  readonly #unknown = new Set<string>();
  #draft: Draft | null = null;

  /** What there is from now on; whoever has windows then has to `replan` them. */
  setPools(pools: readonly BookedPool[]): void {
    const keys = new Set(pools.map(({ key }) => key));
    this.changePools(
      pools,
      [...this.#pools.keys()].filter((key) => !keys.has(key)),
    );
    this.forgetEmpty();
  }

  /** Of those that differ alone. @param gone Keys of those that are no more. */
  changePools(pools: readonly BookedPool[], gone: readonly string[]): void {
    if (pools.length + gone.length === 0) return;
    this.#draft?.plan.changePools(pools, gone);
    this.#draft?.placesByNeeds.clear();
    for (const key of gone.filter((one) => this.#pools.has(one))) {
      const book = this.#bookOf(key);
      book.capacity = 0;
      this.#suspects.add(book);
      this.#isChanged = true;
    }
    for (const pool of pools) {
      const known = this.#pools.get(pool.key);
      const book = this.#bookOf(pool.key);
      book.capacity = pool.capacity;
      if (known === undefined || !isSamePool(pool, known)) this.#isChanged = true;
      if (known !== undefined && hasLost(pool, known)) this.#suspects.add(book);
    }
    this.#pools.change(pools, gone);
  }

  /** Nothing is kept of what is no more, and has nothing booked. */
  forgetEmpty(): void {
    for (const [key, book] of this.#books) {
      if (book.isEmpty && !this.#pools.has(key)) this.#forget(key, book);
    }
    this.#ceilings.forgetEmpty();
  }

  /** That executor counts in its pool from now on, and in no other. Of a fleet that comes back each is seen. */
  see(executorId: string, of: Omit<BookedPool, 'capacity' | 'executorIds'>): void {
    const at = this.#pools.keyOf(executorId);
    if (at === of.key) return;
    for (const key of [at ?? of.key, of.key]) this.#seen.add(key);
    const pool = this.#pools.get(of.key);
    if (at === undefined && pool !== undefined) return this.#join(pool, executorId);
    const left = this.#pools.get(at ?? '');
    const executorIds = new Set(pool?.executorIds).add(executorId);
    const joined = { ...of, executorIds, capacity: executorIds.size };
    this.changePools([...(left === undefined ? [] : [without(left, executorId)]), joined], []);
  }

  /** Pools that `see` has changed since this was asked last. */
  takeSeen(): ReadonlySet<string> {
    const seen = this.#seen;
    this.#seen = new Set();
    return seen;
  }

  #join(pool: BookedPool, executorId: string): void {
    this.#bookOf(pool.key).capacity = this.#pools.join(pool.key, executorId);
    this.#isChanged = true;
    this.#draft?.plan.see(executorId, pool);
    this.#draft?.placesByNeeds.clear();
  }

  /** The division of each where all of them fit together, in their order; else the first that does not. */
  admit(wishes: Iterable<Wish>): Admission {
    return atOnce(this.admission(wishes));
  }

  /** The same, or the first that has no looks left; in pieces, between which nothing is taken. */
  *admission(wishes: Iterable<Wish>, looks: Looks | null = null): Pieces<Admission> {
    const tried: PlannedWindow[] = [];
    const placesByNeeds: PlacesByNeeds = new Map();
    for (const wish of wishes) {
      const parts = looks?.left === 0 ? null : this.#divided(wish, tried, placesByNeeds, looks);
      if (parts === null) return { refused: wish };
      tried.push({ ...wish, id: '', order: 0, parts });
      yield;
    }
    return { divisions: tried.map(({ parts }) => parts ?? []) };
  }

  /** Beside those. */
  #divided(
    wish: Wish,
    tried: readonly PlannedWindow[],
    placesByNeeds: PlacesByNeeds,
    looks: Looks | null,
  ): readonly Part[] | null {
    const { from, to, leadMs } = wish;
    const held = tried
      .filter((one) => one.from - one.leadMs < to && one.to > from - leadMs)
      .map((one) =>
        // One that is over by then takes no executors from it: there may be many of these.
        this.#hold(one.from < to && one.to > from ? one : { ...one, parts: [] }),
      );
    const fits = this.#ceilings.reached(wish, 0, looks) === null;
    const places = fits ? this.#placesAmong(placesByNeeds, wish) : [];
    const parts = fits ? divide(wish, places) : null;
    for (const one of held) this.#giveBack(one);
    if (looks !== null) takeLooks(looks, 1 + costIn(places));
    return parts;
  }

  /** What limits allow is another: whoever has windows then has to `replan` them. */
  limitsChanged(): void {
    this.#areLimitsNew = true;
  }

  /** In place of the one with its id. Whether it fits has been asked before. */
  put(window: PlannedWindow): void {
    this.#draft?.plan.remove(window.id);
    this.#place(window);
    // As a term begins, rows may be of other pools than there are.
    this.#isChanged = true;
    const draft = this.#draft;
    if (draft === null || draft.ahead.has(window.id)) return;
    // It stands behind those that are older, and were not looked at yet.
    if ((this.#firstAhead(draft)?.order ?? Number.POSITIVE_INFINITY) < window.order) {
      draft.ahead.add(window.id);
      return;
    }
    if (draft.plan.#fits(window, draft.plan.#placesFor(window))) draft.plan.#place(window);
    else draft.ahead.add(window.id);
  }

  #firstAhead({ ahead }: Draft): PlannedWindow | null {
    for (const id of ahead) {
      const held = this.#held.get(id);
      if (held !== undefined) return held.window;
    }
    return null;
  }

  remove(id: string): void {
    this.#draft?.plan.remove(id);
    if (!this.#held.has(id)) return;
    this.#release(id);
    this.#held.delete(id);
    this.#isChanged = true;
  }

  /** Whether somebody has that executor of the pool, or names it, at any time of that window. */
  isTaken(pool: string, executorId: string, from: number, to: number): boolean {
    return this.#books.get(pool)?.isTaken(executorId, from, to) ?? false;
  }

  /** How many executors of the pool nobody is promised for the whole window: any number, where it is not known yet. */
  roomIn(pool: string, from: number, to: number): number {
    return this.#books.get(pool)?.room(from, to) ?? Number.POSITIVE_INFINITY;
  }

  /** It is planned anew, and some windows are yet to be looked at. */
  get isReplanning(): boolean {
    return this.#draft !== null;
  }

  /** What is set is another, and what that makes of windows and pools is yet to be planned. */
  get isOld(): boolean {
    return this.#areLimitsNew || this.isReplanning;
  }

  /**
   * All windows in order of acceptance: each keeps its division where that fits, else it is divided anew, or has no
   * parts any more. Of use after `setPools`, and when a window has ended while another does not fit. Goes on where the
   * call before it has stopped.
   * @returns Those that have other parts now, in that order. They are planned so already.
   */
  replan(options: ReplanOptions = {}): PlannedWindow[] {
    const { countMax = Infinity, isKnown = () => true, ceilingsOf } = options;
    if (this.#draft === null) this.#suspectKnown(isKnown);
    const draft = (this.#draft ??= this.#begin());
    const changed: PlannedWindow[] = [];
    let count = 0;
    for (const id of draft?.ahead ?? []) {
      if (count++ >= countMax) return changed;
      draft?.ahead.delete(id);
      const held = this.#held.get(id)?.window;
      if (held === undefined || draft === null) continue;
      const window = { ...held, ceilings: ceilingsOf?.(held) ?? held.ceilings };
      let planned: PlannedWindow;
      if (isKnown(window)) planned = draft.plan.#planned(window, draft.placesByNeeds);
      else {
        planned = this.#asFarAsKnown(window, draft.plan);
        this.#unknown.add(id);
      }
      draft.plan.#place(planned);
      if (planned.parts === held.parts) continue;
      this.#place(planned);
      changed.push(planned);
    }
    this.#draft = null;
    return changed;
  }

  /** Null: all fits, or nothing has changed. Where much does not fit it takes long: not again for nothing. */
  #begin(): Draft | null {
    const mayFit = this.#lackingCount > 0 && this.#isChanged;
    const areWithin = [...this.#suspects].every((book) => book.isSurelyWithin());
    const isSettled = !mayFit && areWithin && !this.#areLimitsNew;
    this.#isChanged = false;
    this.#areLimitsNew = false;
    this.#suspects.clear();
    if (isSettled) return null;
    const windows = [...this.#held.values()].map(({ window }) => window);
    windows.sort((a, b) => a.order - b.order || a.from - b.from);
    const plan = new BookingPlan();
    plan.setPools([...this.#pools]);
    return { plan, ahead: new Set(windows.map(({ id }) => id)), placesByNeeds: new Map() };
  }

  /** What nobody knew is looked at again once somebody does: not before, since all that is planned is looked at with it. */
  #suspectKnown(isKnown: (window: PlannedWindow) => boolean): void {
    for (const id of this.#unknown) {
      const held = this.#held.get(id);
      if (held !== undefined && !isKnown(held.window)) continue;
      this.#unknown.delete(id);
      if (held === undefined) continue;
      this.#isChanged = true;
      for (const [book] of held.inBooks) this.#suspects.add(book);
    }
  }

  /** As it is, where that fits; else divided anew. */
  #planned(window: PlannedWindow, placesByNeeds: PlacesByNeeds): PlannedWindow {
    const places = this.#placesAmong(placesByNeeds, window);
    const isThere = ({ pool }: Part) => places.some(([{ key }]) => key === pool);
    // Whom it has it keeps: others find less room.
    const isKept = isBound(window) && (window.parts?.every(isThere) ?? false);
    const isFitting = isKept || this.#fits(window, places);
    if (isFitting && !isLacking(window)) return window;
    const parts = this.#isWithin(window) ? divide(window, places) : null;
    // Those that it has already are not given up for those that there are not.
    if (isFitting && parts === null) return window;
    return parts === window.parts ? window : { ...window, parts };
  }

  /** As it is, but for limits: these are known. One that they have kept out has whatever nobody is promised. */
  #asFarAsKnown(window: PlannedWindow, draft: BookingPlan): PlannedWindow {
    if (!draft.#isWithin(window)) return { ...window, parts: null };
    if (window.parts !== null || !this.#isWithin(window)) return window;
    return { ...window, parts: divide(window, this.#placesFor(window)) };
  }

  #isWithin(window: PlannedWindow): boolean {
    return isBound(window) || this.reachedCeiling(window) === null;
  }

  /** What limits leave no room for it, beside `ownCount` that it counts itself; null: none. */
  reachedCeiling(wish: Wish, ownCount = 0): Ceiling | null {
    return this.#ceilings.reached(wish, ownCount);
  }

  /** As it is divided. */
  #fits(window: PlannedWindow, places: readonly Place[]): boolean {
    const fits = ({ pool, count }: Part): boolean => {
      const place = places.find(([{ key }]) => key === pool);
      return place !== undefined && roomIn(place, window) >= count;
    };
    return this.#isWithin(window) && (window.parts?.every(fits) ?? false);
  }

  /** In place of the one with its id: what is sorted so far is sorted soon. */
  #place(window: PlannedWindow): void {
    this.#release(window.id);
    this.#held.set(window.id, this.#hold(window));
    if (isLacking(window)) this.#lackingCount++;
  }

  #release(id: string): void {
    const held = this.#held.get(id);
    if (held === undefined) return;
    this.#giveBack(held);
    if (isLacking(held.window)) this.#lackingCount--;
  }

  #giveBack({ inBooks, inCeilings }: Held): void {
    for (const [book, claim] of inBooks) book.remove(claim);
    this.#ceilings.release(inCeilings);
  }

  /** When that might be had instead (`freeWindows`). */
  free(wish: Wish, within: Span): Pieces<FreeWindow[]> {
    return freeIn(this.#placesFor(wish), this.#ceilings, wish, within);
  }

  #placesAmong(known: PlacesByNeeds, wish: Wish): readonly Place[] {
    const needs = JSON.stringify([wish.type, wish.requires, wish.labels]);
    const places = known.get(needs) ?? this.#placesFor(wish);
    known.set(needs, places);
    return places;
  }

  /** Where it may be, least able first. */
  #placesFor({ type, requires, labels }: Wish): Place[] {
    const pin = pinnedTo(requires);
    const places: Place[] = [];
    for (const pool of this.#pools) {
      if (pin !== null && !pool.isDeclared && !pool.executorIds.has(pin)) continue;
      const own = pin === null ? pool : { ...pool, labels: [...pool.labels, pinOf(pin)] };
      if (mayRun(own, { type, requires, labels })) places.push([pool, this.#bookOf(pool.key)]);
    }
    return places;
  }

  #hold(window: PlannedWindow): Held {
    const { from, to, requires } = window;
    const pin = pinnedTo(requires);
    const inBooks = (window.parts ?? []).map(({ pool, count, executorIds }) => {
      const claim: Claim = { from, to, count, pin };
      const book = this.#bookOf(pool);
      book.add(claim);
      if (pin === null) book.bind(claim, executorIds);
      return [book, claim] as const;
    });
    const inCeilings = window.parts === null ? [] : this.#ceilings.take(window);
    return { window, inBooks, inCeilings };
  }

  #bookOf(key: string): PoolBook {
    let book = this.#books.get(key);
    if (book === undefined) {
      book = new PoolBook(0);
      this.#books.set(key, book);
      this.#suspects.add(book);
    }
    return book;
  }

  #forget(key: string, book: PoolBook): void {
    this.#books.delete(key);
    this.#suspects.delete(book);
  }
}

export type Admission =
  | { readonly divisions: readonly (readonly Part[])[] }
  | { readonly refused: Wish };
