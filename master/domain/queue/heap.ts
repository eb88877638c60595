/**
 * The first of many items by an order of their own, in O(log n). Where items change their order, each
 * is told its place, by which it is moved or removed.
 */
export class Heap<T> {
  readonly #items: T[] = [];
  readonly #comesFirst: (a: T, b: T) => boolean;
  readonly #tellPlace: (item: T, place: number) => void;

  /** `tellPlace`: called with each new place of an item, -1 when it is out. */
  constructor(
    comesFirst: (a: T, b: T) => boolean,
    tellPlace: (item: T, place: number) => void = () => undefined,
  ) {
    this.#comesFirst = comesFirst;
    this.#tellPlace = tellPlace;
  }

  get size(): number {
    return this.#items.length;
  }

  first(): T | undefined {
    return this.#items[0];
  }

  /** By place: the first at 0, no other before the one at half its place. */
  at(place: number): T | undefined {
    return this.#items[place];
  }

  push(item: T): void {
    this.#rise(item, this.#items.length);
  }

  /** Takes out the item at this place. */
  removeAt(place: number): T | undefined {
    const items = this.#items;
    const removed = items[place];
    if (removed === undefined) return undefined;
    const last = items.pop() as T;
    this.#tellPlace(removed, -1);
    if (place < items.length) this.#settle(last, place);
    return removed;
  }

  /** The item at this place comes earlier or later than before. */
  moved(place: number): void {
    this.#settle(this.#items[place] as T, place);
  }

  #settle(item: T, place: number): void {
    if (!this.#rise(item, place)) this.#sink(item, place);
  }

  /** Puts the item at the place or above it; whether it is above. */
  #rise(item: T, place: number): boolean {
    let index = place;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const above = this.#items[parent] as T;
      if (!this.#comesFirst(item, above)) break;
      this.#put(above, index);
      index = parent;
    }
    this.#put(item, index);
    return index < place;
  }

  /** Puts the item at the place or below it. */
  #sink(item: T, place: number): void {
    const items = this.#items;
    let index = place;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= items.length) break;
      const right = child + 1;
      if (right < items.length && this.#comesFirst(items[right] as T, items[child] as T)) {
        child = right;
      }
      if (!this.#comesFirst(items[child] as T, item)) break;
      this.#put(items[child] as T, index);
      index = child;
    }
    this.#put(item, index);
  }

  #put(item: T, place: number): void {
    this.#items[place] = item;
    this.#tellPlace(item, place);
  }
}
