/** How many executors there are to be booked: those that are here, or were a moment ago, or as many as a type declares. */
import { isServing, pinOf, poolKeyOf } from '../model/executor.ts';
import type { Executor } from '../model/executor.ts';
import type { State } from '../state/state.ts';
import { GONE_EXECUTORS_MAX, GONE_MS } from './booking-bounds.ts';
import { bareOf, declaredKey, type Gone } from '../plan/counted-fleet.ts';
import type { BookingPlan } from '../plan/plan.ts';

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
   * are no more is found out by `seePools` alone.
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

/** The plan follows who there is, and what types declare. */
export function seePools(state: State, now: number): void {
  const { bookings, executors } = state;
  const { plan, gone, fleet } = bookings;
  for (const { id, at } of gone.values()) {
    if (at <= now - GONE_MS || executors.has(id)) gone.delete(id);
  }
  const changed = fleet.follow(executors, gone, declaredTypes(state.types));
  const seen = plan.takeSeen();
  if (changed === null) plan.setPools(fleet.all());
  else {
    const keys = [...new Set([...changed, ...seen])];
    const pools = keys.flatMap((key) => fleet.pool(key) ?? []);
    plan.changePools(
      pools,
      keys.filter((key) => fleet.pool(key) === undefined),
    );
  }
  plan.forgetEmpty();
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

function keyOf(one: Omit<Gone, 'at'>, declared: ReadonlyMap<string, number>): string {
  const types = one.types.filter((type) => !declared.has(type));
  const [only] = one.types;
  if (types.length === 0 && only !== undefined) return declaredKey(only);
  return poolKeyOf({ ...one, types });
}
