/** The pools of a plan, in the order in which they serve: the least able first. Its own: executors join them one by one. */
import { servesFirst } from '../queue/junctions.ts';
import type { BookedPool } from './booked-pool.ts';

interface OwnPool extends BookedPool {
  capacity: number;
  readonly executorIds: Set<string>;
}

/** Of more than that all are sorted anew. */
const MOVED_COUNT_MAX = 64;

export class PoolList {
  #sorted: OwnPool[] = [];
  readonly #byKey = new Map<string, OwnPool>();
  /** In which of them each executor that is known is. */
  readonly #keyOf = new Map<string, string>();

  [Symbol.iterator](): Iterator<BookedPool> {
    return this.#sorted[Symbol.iterator]();
  }

  keys(): Iterable<string> {
    return this.#byKey.keys();
  }

  get(key: string): BookedPool | undefined {
    return this.#byKey.get(key);
  }

  has(key: string): boolean {
    return this.#byKey.has(key);
  }

  keyOf(executorId: string): string | undefined {
    return this.#keyOf.get(executorId);
  }

  /** Those in place of the ones with their keys; the others are no more. No executor is in two of them. */
  change(pools: readonly BookedPool[], gone: readonly string[]): void {
    const isFew = pools.length + gone.length <= MOVED_COUNT_MAX;
    for (const key of [...gone, ...pools.map((pool) => pool.key)]) this.#remove(key, isFew);
    for (const pool of pools) {
      const own = { ...pool, executorIds: new Set(pool.executorIds) };
      this.#byKey.set(pool.key, own);
      for (const id of own.executorIds) this.#keyOf.set(id, pool.key);
      if (isFew) this.#sorted.splice(this.#placeOf(own), 0, own);
    }
    if (!isFew)
      this.#sorted = [...this.#byKey.values()].sort((a, b) => (servesFirst(a, b) ? -1 : 1));
  }

  /** @returns How many it has with that executor, which was in none. */
  join(key: string, executorId: string): number {
    const pool = this.#byKey.get(key);
    if (pool === undefined) return 0;
    pool.executorIds.add(executorId);
    this.#keyOf.set(executorId, key);
    return (pool.capacity = pool.executorIds.size);
  }

  #remove(key: string, isFew: boolean): void {
    const pool = this.#byKey.get(key);
    if (pool === undefined) return;
    if (isFew) this.#sorted.splice(this.#placeOf(pool), 1);
    this.#byKey.delete(key);
    for (const id of pool.executorIds) if (this.#keyOf.get(id) === key) this.#keyOf.delete(id);
  }

  /** Where it is, or would be. */
  #placeOf(pool: BookedPool): number {
    let low = 0;
    let high = this.#sorted.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (servesFirst(this.#sorted[middle] as OwnPool, pool)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
