/**
 * The front of a long, sorted list of rows: as much of it as fits in memory, while the rest stays
 * in the store. Sorted by (time, seq), where `time` is given by the owner and must not change
 * while an item is inside.
 *
 * The one promise: every stored row whose position is before `until` is in here. What lies at or
 * beyond `until` may only be in the store. `null` means that there is nothing beyond.
 *
 * A sorted array with binary insertion and a moving head; see `bench/` for its cost.
 */

export interface Position {
  readonly time: number;
  readonly seq: number;
}

/** An end of the queue of a type. */
export type QueueEnd = 'first' | 'last';

export class Window<T extends object> {
  /** Exclusive; `null`: the window holds everything there is. */
  until: Position | null = null;
  readonly #positionOf: (item: T) => Position;
  /** What was left in when it last had to give an item up; infinite while nothing is known. */
  #room = Number.POSITIVE_INFINITY;
  #items: (T | undefined)[] = [];
  #head = 0;

  constructor(positionOf: (item: T) => Position) {
    this.#positionOf = positionOf;
  }

  get size(): number {
    return this.#items.length - this.#head;
  }

  get complete(): boolean {
    return this.until === null;
  }

  /**
   * Whether to read the next page: less is in than half of what there is room for. Without regard
   * to the room, a page would be given up as it comes in, and asked for again, without end.
   */
  runsLow(pageCount: number): boolean {
    return !this.complete && this.size < Math.max(Math.min(pageCount, this.#room), 1) / 2;
  }

  first(): T | undefined {
    return this.#items[this.#head];
  }

  last(): T | undefined {
    return this.size === 0 ? undefined : this.#items[this.#items.length - 1];
  }

  /** In order, from the front. The window must not change meanwhile. */
  *[Symbol.iterator](): Iterator<T> {
    for (let i = this.#head; i < this.#items.length; i++) yield this.#items[i] as T;
  }

  /** The same, without what comes before that item, which need not be there any more, and itself. */
  *after(item: T): Generator<T> {
    const { time, seq } = this.#positionOf(item);
    const begin = this.#lowerBound({ time, seq: seq + 1 });
    for (let i = begin; i < this.#items.length; i++) yield this.#items[i] as T;
  }

  /** Whether a row at this position would be held here. */
  covers(position: Position): boolean {
    return this.until === null || isBefore(position, this.until);
  }

  /** Of the items that it holds. */
  countBefore(position: Position): number {
    return this.#lowerBound(position) - this.#head;
  }

  /** Takes the item in if it belongs here; false leaves it to the store. */
  offer(item: T): boolean {
    const position = this.#positionOf(item);
    if (!this.covers(position)) return false;
    const index = this.#lowerBound(position);
    if (index === this.#items.length) this.#items.push(item);
    else this.#items.splice(index, 0, item);
    return true;
  }

  /** The item at the same position, be it this very object or another copy of its row. */
  find(item: T): T | undefined {
    const position = this.#positionOf(item);
    const found = this.#items[this.#lowerBound(position)];
    return found !== undefined && !isBefore(position, this.#positionOf(found)) ? found : undefined;
  }

  /** Takes out the item at the same position; false if there is none. */
  remove(item: T): boolean {
    // What is taken out is mostly what comes first.
    if (this.#items[this.#head] === item) {
      this.#dropHead();
      return true;
    }
    if (this.find(item) === undefined) return false;
    const index = this.#lowerBound(this.#positionOf(item));
    if (index === this.#head) this.#dropHead();
    else this.#items.splice(index, 1);
    return true;
  }

  /** Gives up the last item: it and all that follows it are left to the store. */
  evictLast(): T | undefined {
    if (this.size === 0) return undefined;
    const item = this.#items.pop() as T;
    this.until = this.#positionOf(item);
    this.#room = this.size;
    return item;
  }

  /** Where the next page of rows begins: beyond this position, or from the start. */
  get cursor(): Position | null {
    if (this.until === null || this.until.time === Number.NEGATIVE_INFINITY) return null;
    return { time: this.until.time, seq: this.until.seq - 1 };
  }

  /** A page that began at `cursor` is about to be offered; `complete`: nothing follows it. */
  extend(page: readonly T[], complete: boolean): void {
    // A page that was asked for on behalf of an earlier window says nothing new.
    if (this.complete) return;
    this.#room = Number.POSITIVE_INFINITY;
    const last = page.at(-1);
    if (complete) this.until = null;
    else if (last !== undefined) {
      const { time, seq } = this.#positionOf(last);
      this.until = { time, seq: seq + 1 };
    }
  }

  #dropHead(): void {
    this.#items[this.#head] = undefined;
    this.#head++;
    if (this.#head === this.#items.length || this.#head > 1024) {
      this.#items.splice(0, this.#head);
      this.#head = 0;
    }
  }

  #lowerBound(position: Position): number {
    let low = this.#head;
    let high = this.#items.length;
    // Most rows arrive in order: look at the end first.
    const last = this.#items[high - 1];
    if (high > low && last !== undefined && isBefore(this.#positionOf(last), position)) return high;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (isBefore(this.#positionOf(this.#items[middle] as T), position)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Before every row: the `until` of a window that has not been loaded yet. */
export const START: Position = { time: Number.NEGATIVE_INFINITY, seq: 0 };

/** By time, then by seq. */
export function isBefore(a: Position, b: Position): boolean {
  return a.time !== b.time ? a.time < b.time : a.seq < b.seq;
}
