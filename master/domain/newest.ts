/**
 * The newest of what comes without end, by key: half of so many at least, and never more. Forgotten is one half at a
 * time: to find the oldest of a long map, each time that one comes, is to look at the places of all that went before.
 */
export class Newest<K, V> {
  readonly #countMax: number;
  #younger = new Map<K, V>();
  #older: ReadonlyMap<K, V> = new Map();

  constructor(countMax: number) {
    this.#countMax = countMax;
  }

  /** As it was set last. */
  get(key: K): V | undefined {
    return this.#younger.get(key) ?? this.#older.get(key);
  }

  /** It is the newest of all. */
  set(key: K, value: V): void {
    this.#younger.set(key, value);
    if (this.#younger.size < this.#countMax / 2) return;
    this.#older = this.#younger;
    this.#younger = new Map();
  }
}
