/** What there is by key, so much of it: beyond that the one is forgotten that was asked for least lately. */
export class Lately<T extends object> {
  readonly #countMax: number;
  /** The one that was asked for last is the last. */
  readonly #all = new Map<string, T>();

  /** @param countMax Up to some thousands: to find the first of a longer map takes time (`newest.ts`). */
  constructor(countMax: number) {
    this.#countMax = countMax;
  }

  get size(): number {
    return this.#all.size;
  }

  get(key: string): T | undefined {
    return this.#all.get(key);
  }

  /** The one of this key, which is the last to be forgotten now; made where there is none. */
  of(key: string, make: () => T): T {
    const one = this.#all.get(key) ?? make();
    this.#all.delete(key);
    this.#all.set(key, one);
    const [first] = this.#all.size > this.#countMax ? this.#all.keys() : [];
    if (first !== undefined) this.#all.delete(first);
    return one;
  }

  delete(key: string): void {
    this.#all.delete(key);
  }

  /** Those that there are now: whoever looks at them in pieces meets each once, whatever is asked for meanwhile. */
  [Symbol.iterator](): Iterator<readonly [string, T]> {
    return [...this.#all][Symbol.iterator]();
  }
}
