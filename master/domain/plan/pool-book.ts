/**
 * What is booked of one pool. Its executors are interchangeable, so windows fit as long as no more of them overlap than
 * there are executors; which one serves which is decided when they are bound.
 *
 * A booking of one executor (a pin) takes it from every other booking that it overlaps, for the whole of that one's
 * window. So whoever binds may take any executor that no pin needs meanwhile, and all that begin later still find
 * theirs. Among pins this may refuse what a perfect plan would fit: to find that takes exponential time.
 */
import { type Claim, Timeline } from './timeline.ts';

export class PoolBook {
  /** How many of its executors may be booked at a time. */
  capacity: number;
  readonly #timeline = new Timeline();
  /** In order of their beginning. */
  readonly #pins: Claim[] = [];
  /** Whom they have: pins, and those that have been bound. */
  readonly #executorsOf = new Map<Claim, readonly string[]>();
  readonly #claimsOf = new Map<string, Claim[]>();
  #claimCount = 0;
  /** Of claims that are no pins; it never becomes less. */
  #longestMs = 0;

  constructor(capacity: number) {
    this.capacity = capacity;
  }

  /** How many executors are free for the whole window; negative where too many are booked already. */
  room(from: number, to: number): number {
    const { capacity } = this;
    if (!this.#arePinnedWithin(from, to)) return capacity - this.#timeline.peak(from, to);
    const begun = this.#timeline.loadAt(from) + this.#pinnedLater(from, to).size;
    const most = Math.max(begun, this.#timeline.peak(from, to));
    return most >= capacity ? capacity - most : capacity - Math.max(most, this.#mostIn(from, to));
  }

  /** For the whole window and for any part of it: among pins a part may have less room than the whole. */
  roomThroughout(from: number, to: number): number {
    if (!this.#arePinnedWithin(from, to)) return this.room(from, to);
    const pinned = new Set<string | null>();
    for (const { pin } of this.#pinsWithin(from, to)) pinned.add(pin);
    const most = this.#timeline.peak(from, to) + pinned.size;
    return this.capacity - Math.max(most, this.#mostIn(from, to));
  }

  /** Whether that one is free for the whole window. */
  hasRoomFor(executorId: string, from: number, to: number): boolean {
    if (this.isTaken(executorId, from, to)) return false;
    if (Math.max(this.#timeline.peak(from, to), this.#mostIn(from, to)) >= this.capacity)
      return false;
    for (const claim of this.#timeline.begunWithin(from - this.#longestMs, from)) {
      if (claim.pin !== null || claim.from === from || claim.to <= from) continue;
      const pinned = this.#pinnedLater(claim.from, claim.to);
      if (!this.#isPinnedAt(executorId, claim.from)) pinned.add(executorId);
      if (this.#timeline.loadAt(claim.from) + pinned.size > this.capacity) return false;
    }
    return true;
  }

  /** Whether a pin or a bound claim has that one at any time of the window: whoever binds another does not take it. */
  isTaken(executorId: string, from: number, to: number): boolean {
    const claims = this.#claimsOf.get(executorId) ?? [];
    return claims.some((claim) => claim.from < to && from < claim.to);
  }

  /** Whether it fits has been asked before. */
  add(claim: Claim): void {
    this.#timeline.add(claim);
    this.#claimCount++;
    if (claim.pin === null) {
      this.#longestMs = Math.max(this.#longestMs, claim.to - claim.from);
    } else {
      this.#pins.splice(this.#firstPinAfter(claim.from), 0, claim);
      this.bind(claim, [claim.pin]);
    }
  }

  /** Of one that was added. */
  remove(claim: Claim): void {
    this.#timeline.remove(claim);
    this.#claimCount--;
    this.bind(claim, []);
    if (claim.pin !== null) this.#pins.splice(this.#pins.indexOf(claim), 1);
  }

  /** Of one that was added: these executors have it from now on, and no others. */
  bind(claim: Claim, executorIds: readonly string[]): void {
    if (executorIds.length === 0 && !this.#executorsOf.has(claim)) return;
    for (const executorId of this.#executorsOf.get(claim) ?? []) {
      const others = (this.#claimsOf.get(executorId) ?? []).filter((each) => each !== claim);
      if (others.length > 0) this.#claimsOf.set(executorId, others);
      else this.#claimsOf.delete(executorId);
    }
    if (executorIds.length > 0) this.#executorsOf.set(claim, executorIds);
    else this.#executorsOf.delete(claim);
    for (const executorId of executorIds) {
      this.#claimsOf.set(executorId, [...(this.#claimsOf.get(executorId) ?? []), claim]);
    }
  }

  get isEmpty(): boolean {
    return this.#claimCount === 0;
  }

  /** What a question for room costs at most, beside a pool without pins. */
  get lookCost(): number {
    return this.#pins.length === 0 ? 1 : 1 + this.#claimCount / 8;
  }

  /** All that is booked fits; false: it does not, or takes long to find out. */
  isSurelyWithin(): boolean {
    const [from, to] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
    return this.#pins.length === 0 && this.#timeline.peak(from, to) <= this.capacity;
  }

  /** When what is booked changes, nearest to that instant: up to so many times before it, and after it. */
  changesNear(near: number, count: number): number[] {
    return this.#timeline.changesNear(near, count);
  }

  /** The most that one which begins in the window needs: what is taken then, and executors that pins take from it later. */
  #mostIn(from: number, to: number): number {
    if (this.#pins.length === 0) return 0;
    let most = 0;
    for (const claim of this.#timeline.begunWithin(from, to)) {
      if (claim.pin !== null) continue;
      const pinned = this.#pinnedLater(claim.from, claim.to).size;
      if (pinned > 0) most = Math.max(most, this.#timeline.loadAt(claim.from) + pinned);
    }
    return most;
  }

  /** Executors of pins that begin within the window, after its beginning, and that no pin has then. */
  #pinnedLater(from: number, to: number): Set<string> {
    const pinned = new Set<string>();
    for (const { pin } of this.#pinsWithin(from, to)) {
      if (pin !== null && !this.#isPinnedAt(pin, from)) pinned.add(pin);
    }
    return pinned;
  }

  /** Whether a pin may begin while one of the claims lasts that begin in the window. */
  #arePinnedWithin(from: number, to: number): boolean {
    const first = this.#pins[this.#firstPinAfter(from)];
    return first !== undefined && first.from < to + this.#longestMs;
  }

  *#pinsWithin(after: number, to: number): Generator<Claim> {
    for (let at = this.#firstPinAfter(after); at < this.#pins.length; at++) {
      const claim = this.#pins[at] as Claim;
      if (claim.from >= to) break;
      yield claim;
    }
  }

  #isPinnedAt(executorId: string, at: number): boolean {
    const claims = this.#claimsOf.get(executorId) ?? [];
    return claims.some(({ pin, from, to }) => pin !== null && from <= at && at < to);
  }

  #firstPinAfter(at: number): number {
    let low = 0;
    let high = this.#pins.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#pins[middle] as Claim).from <= at) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
