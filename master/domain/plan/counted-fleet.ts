/**
 * Executors that can be booked, by pools, as the plan was told of them last: of a fleet of thousands a few are others each time,
 * and these alone are looked at. Those that are away count too, for a while.
 */
import { type Executor, poolKeyOf } from '../model/executor.ts';
import type { BookedPool } from './booked-pool.ts';

/** As it was when it was here last. */
export type Gone = Pick<Executor, 'id' | 'types' | 'labels' | 'reserve'> & { readonly at: number };

/** As it is by itself and by what operators have set: whatever names it, or has booked it. */
export function bareOf({ id, types, override, own }: Executor): Omit<Gone, 'at'> {
  return {
    id,
    types,
    labels: override.labels ?? own.labels,
    reserve: override.reserve ?? own.reserve,
  };
}

type Bare = Omit<Gone, 'at'>;

interface CountedPool extends Omit<BookedPool, 'capacity'> {
  readonly executorIds: Set<string>;
}

export class CountedFleet {
  #declared: ReadonlyMap<string, number> = new Map();
  /** By id: the `bareKey` of one that is here, or one that has gone as it was. */
  readonly #known = new Map<string, string | Gone>();
  readonly #keyOf = new Map<string, string>();
  readonly #pools = new Map<string, CountedPool>();

  /**
   * Follows who there is.
   * @param declared How many executors there are of types of which somebody has said so.
   * @returns Keys of pools that are others since; null: all of them are.
   */
  follow(
    executors: ReadonlyMap<string, Executor>,
    gone: ReadonlyMap<string, Gone>,
    declared: ReadonlyMap<string, number>,
  ): ReadonlySet<string> | null {
    const isAnew = this.#known.size === 0 || !isEqual(declared, this.#declared);
    if (isAnew) this.#forgetAll(declared);
    const changed = new Set<string>();
    // Many can do the same: their key is made once.
    const keys = new Map<string, string>();
    let count = 0;
    for (const executor of executors.values()) {
      if (!isCounted(executor)) continue;
      count++;
      const { id, bareKey } = executor;
      if (this.#known.get(id) === bareKey) continue;
      this.#known.set(id, bareKey);
      const bare = bareOf(executor);
      const key = keys.get(bareKey) ?? this.#keyFor(bare);
      keys.set(bareKey, key);
      this.#put(bare, key, changed);
    }
    for (const one of gone.values()) {
      count++;
      if (this.#known.get(one.id) === one) continue;
      this.#known.set(one.id, one);
      this.#put(one, this.#keyFor(one), changed);
    }
    if (count < this.#known.size) {
      for (const id of this.#known.keys()) {
        const executor = executors.get(id);
        const isThere = executor === undefined ? gone.has(id) : isCounted(executor);
        if (isThere) continue;
        this.#leave(id, changed);
        this.#known.delete(id);
      }
    }
    return isAnew ? null : changed;
  }

  /** As it can be booked now; undefined: it is no more. Of those that executors make. */
  pool(key: string): BookedPool | undefined {
    const pool = this.#pools.get(key);
    return pool && { ...pool, capacity: pool.executorIds.size };
  }

  /** What a type declares stands in place of the executors that run it. */
  all(): BookedPool[] {
    return [
      ...[...this.#pools.values()].map((pool) => ({ ...pool, capacity: pool.executorIds.size })),
      ...[...this.#declared].map(([type, capacity]) => {
        const none = { labels: [], reserve: [], executorIds: new Set<string>() };
        return { key: declaredKey(type), types: [type], capacity, ...none, isDeclared: true };
      }),
    ];
  }

  #forgetAll(declared: ReadonlyMap<string, number>): void {
    this.#declared = new Map(declared);
    this.#known.clear();
    this.#keyOf.clear();
    this.#pools.clear();
  }

  /** Empty: it runs nothing but what types declare. */
  #keyFor(bare: Bare): string {
    const types = this.#ownTypes(bare);
    return types.length === 0 ? '' : poolKeyOf({ ...bare, types });
  }

  #ownTypes({ types }: Bare): string[] {
    return types.filter((type) => !this.#declared.has(type));
  }

  #put(bare: Bare, key: string, changed: Set<string>): void {
    const { id, labels, reserve } = bare;
    if (this.#keyOf.get(id) === key) return;
    this.#leave(id, changed);
    if (key === '') return;
    let pool = this.#pools.get(key);
    if (pool === undefined) {
      const types = this.#ownTypes(bare);
      pool = { key, types, labels, reserve, executorIds: new Set(), isDeclared: false };
      this.#pools.set(key, pool);
    }
    pool.executorIds.add(id);
    this.#keyOf.set(id, key);
    changed.add(key);
  }

  #leave(id: string, changed: Set<string>): void {
    const key = this.#keyOf.get(id);
    if (key === undefined) return;
    this.#keyOf.delete(id);
    changed.add(key);
    const pool = this.#pools.get(key);
    pool?.executorIds.delete(id);
    if (pool?.executorIds.size === 0) this.#pools.delete(key);
  }
}

/** Also while it is away: it may come back. */
const isCounted = ({ types, drainRequested }: Executor): boolean =>
  types.length > 0 && !drainRequested;

export const declaredKey = (type: string): string => `=${type}`;

function isEqual(one: ReadonlyMap<string, number>, other: ReadonlyMap<string, number>): boolean {
  return one.size === other.size && [...one].every(([type, count]) => other.get(type) === count);
}
