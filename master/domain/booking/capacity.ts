/** How many executors there are to be booked: those that are here, or were a moment ago, or as many as a type declares. */
import { isServing, pinOf, poolKeyOf } from '../model/executor.ts';
import type { Executor } from '../model/executor.ts';
import type { State } from '../state/state.ts';
import { GONE_EXECUTORS_MAX, GONE_MS } from './booking-bounds.ts';
import type { Gone } from './bookings-state.ts';
import type { BookedPool } from '../plan/booked-pool.ts';
import type { BookingPlan } from '../plan/plan.ts';

/** As it is by itself and by what operators have set: whatever names it, or has booked it. */
export function bareOf({ id, types, override, own }: Executor): Omit<Gone, 'at'> {
  return {
    id,
    types,
    labels: override.labels ?? own.labels,
    reserve: override.reserve ?? own.reserve,
  };
}

/** Executors that can do the same, whoever has booked them, and the pool that the plan has them in. */
export interface Group {
  readonly bareKey: string;
  readonly bare: Omit<Gone, 'at' | 'id'>;
  readonly pool: string;
  readonly executors: Executor[];
}

/** Executors as bookings see them in one step. */
export class Bookable {
  readonly #declared: ReadonlyMap<string, number>;
  /** By `bareKey`. */
  readonly #pools = new Map<string, string>();

  constructor({ types }: Pick<State, 'types'>) {
    this.#declared = declaredTypes(types);
  }

  /** Those that serve, by what they can do; in order of their ids. */
  groupsOf(executors: Iterable<Executor>): Group[] {
    const groups = new Map<string, Group>();
    for (const executor of [...executors].sort((a, b) => (a.id < b.id ? -1 : 1))) {
      if (!isServing(executor)) continue;
      const { bareKey } = executor;
      const group = groups.get(bareKey) ?? {
        bareKey,
        bare: bareOf(executor),
        pool: this.#planned(executor),
        executors: [],
      };
      groups.set(bareKey, group);
      group.executors.push(executor);
    }
    return [...groups.values()];
  }

  /** The pool in which it serves bookings of that type. */
  poolFor(type: string, executor: Executor): string {
    return this.poolOf(type, this.#planned(executor));
  }

  /**
   * It counts from now on, unless it does not serve, or what its types declare stands in its place. How many there
   * are no more is found out by `bookedPools` alone.
   */
  see(plan: BookingPlan, executor: Executor): void {
    const { id, ...bare } = bareOf(executor);
    const types = bare.types.filter((type) => !this.#declared.has(type));
    if (types.length === 0 || !isServing(executor)) return;
    plan.see(id, { ...bare, key: this.#planned(executor), types, isDeclared: false });
  }

  #planned(executor: Executor): string {
    const { bareKey } = executor;
    const pool = this.#pools.get(bareKey) ?? keyOf(bareOf(executor), this.#declared);
    this.#pools.set(bareKey, pool);
    return pool;
  }

  /** The same of those that the plan has in that pool: who runs a type that says how many there are is of that. */
  poolOf(type: string, pool: string): string {
    return this.#declared.has(type) ? declaredKey(type) : pool;
  }
}

/** It is not here any more, and counts for a while. */
export function noteGone({ bookings: { gone } }: State, executor: Executor): void {
  if (executor.types.length === 0) return;
  gone.delete(executor.id);
  gone.set(executor.id, { ...bareOf(executor), at: executor.lastSeenAt });
  for (const id of gone.keys()) {
    if (gone.size <= GONE_EXECUTORS_MAX) return;
    gone.delete(id);
  }
}

/** The plan follows who there is, and what types declare: of a fleet that is the same as the last time nothing is made anew. */
export function seePools(state: State, now: number): void {
  const { bookings, executors } = state;
  const { plan, gone } = bookings;
  for (const { id, at } of gone.values()) {
    if (at <= now - GONE_MS || executors.has(id)) gone.delete(id);
  }
  const counted = countedIn(state);
  const before = bookings.counted;
  bookings.counted = counted;
  if (counted.length === before.length && counted.every((one, at) => one === before[at])) {
    plan.forgetEmpty();
    return;
  }
  plan.setPools(bookedPools(state));
}

/** All that `bookedPools` goes by: where it is equal, these are. */
function countedIn({ bookings: { gone, plan }, executors, types }: State): readonly unknown[] {
  const counted: unknown[] = [plan, plan.seenCount];
  for (const executor of executors.values()) {
    if (isCounted(executor)) counted.push(executor.id, executor.bareKey);
  }
  counted.push(null);
  for (const one of gone.values()) counted.push(one);
  for (const [type, capacity] of declaredTypes(types)) counted.push(type, capacity);
  return counted;
}

/** Also while it is away: it may come back. */
const isCounted = ({ types, drainRequested }: Executor): boolean =>
  types.length > 0 && !drainRequested;

/** Pools as they can be booked now. What a type declares stands in place of the executors that run it. */
function bookedPools(state: State): BookedPool[] {
  const { bookings, executors, types } = state;
  const declared = declaredTypes(types);
  const pools = new Map<string, Omit<BookedPool, 'capacity'> & { executorIds: Set<string> }>();
  const keys = new Map<string, string>();
  const add = (one: Omit<Gone, 'at'>, key: string) => {
    const { types: all, labels, reserve } = one;
    const ofPool = all.filter((type) => !declared.has(type));
    const none = { executorIds: new Set<string>(), isDeclared: false };
    const pool = pools.get(key) ?? { key, types: ofPool, labels, reserve, ...none };
    pools.set(key, pool);
    pool.executorIds.add(one.id);
  };
  for (const executor of executors.values()) {
    if (isCounted(executor)) {
      const bare = bareOf(executor);
      // Many can do the same: their key is made once.
      const key = keys.get(executor.bareKey) ?? keyOf(bare, declared);
      keys.set(executor.bareKey, key);
      add(bare, key);
    }
  }
  for (const one of bookings.gone.values()) add(one, keyOf(one, declared));
  return [
    ...[...pools.values()].map((pool) => ({ ...pool, capacity: pool.executorIds.size })),
    ...[...declared].map(([type, capacity]) => {
      const none = { labels: [], reserve: [], executorIds: new Set<string>() };
      return { key: declaredKey(type), types: [type], capacity, ...none, isDeclared: true };
    }),
  ];
}

/** Of the labels that are required those that no executor of the type has that counts. */
export function labelsOfNone(
  { executors, bookings: { gone } }: State,
  { type, requires }: { readonly type: string; readonly requires: readonly string[] },
): string[] {
  const known = [...[...executors.values()].map(bareOf), ...gone.values()];
  const able = known.filter(({ types }) => types.includes(type));
  return requires.filter(
    (label) => !able.some(({ id, labels }) => [...labels, pinOf(id)].includes(label)),
  );
}

/** Types of which somebody has said how many executors there are. */
export function declaredTypes(types: State['types']): Map<string, number> {
  const declared = new Map<string, number>();
  for (const { type, capacity } of types.values()) {
    if (capacity !== null) declared.set(type, capacity);
  }
  return declared;
}

const declaredKey = (type: string): string => `=${type}`;

function keyOf(one: Omit<Gone, 'at'>, declared: ReadonlyMap<string, number>): string {
  const types = one.types.filter((type) => !declared.has(type));
  const [only] = one.types;
  if (types.length === 0 && only !== undefined) return declaredKey(only);
  return poolKeyOf({ ...one, types });
}
