/**
 * Where kinds and pools meet, so that neither need know all of the other: fleets may have thousands of
 * pools, and backlogs thousands of kinds. There is a junction for each type alone, for each type with a
 * label of executors, and for each type with a label that executors are reserved for. A kind and a
 * pool that fit meet in exactly one; those that meet in one need not fit.
 */
import { type Executor, mayRun } from '../model/executor.ts';
import { Agenda, OUT, rankOf } from './agenda.ts';
import { headOfKind, type Junction, type Kind, type Lane, type Pool, type Stand } from './lane.ts';

/** Types and labels have neither `|` nor `!`. */
const plain = (type: string, label = ''): string => `${type}|${label}`;
const reserved = (type: string, label: string): string => `${type}|!${label}`;
const booked = (type: string, booking: string): string => `${type}|!!${booking}`;

export class Junctions {
  readonly #all = new Map<string, Junction>();
  readonly #byType = new Map<string, Set<Junction>>();

  addKind(kind: Kind): void {
    const { type, requires, labels, booking } = kind;
    const keys =
      booking === null
        ? [this.#homeOf(type, requires), ...labels.map((label) => reserved(type, label))]
        : [booked(type, booking)];
    for (const key of new Set(keys)) {
      const junction = this.#at(key, type, booking);
      junction.kindCount++;
      kind.stands.push({ kind, junction, ...OUT });
    }
  }

  removeKind(kind: Kind): void {
    for (const stand of kind.stands) {
      const { junction } = stand;
      junction.kindCount--;
      junction.open.remove(stand);
      junction.hungry.delete(kind);
      this.#forget(junction);
    }
  }

  addPool(pool: Pool): void {
    const { types, booking } = pool;
    for (const type of new Set(types)) {
      for (const key of new Set(keysOf(pool, type))) {
        const junction = this.#at(key, type, booking);
        junction.pools.add(pool);
        pool.junctions.push(junction);
      }
    }
  }

  /** Pools with an idle executor that may run tasks of the type, one perhaps more than once. */
  *idlePools(type: string): Generator<Pool> {
    for (const { idle } of this.#byType.get(type) ?? []) yield* idle;
  }

  /** Of no members, so that none is idle. */
  removePool(pool: Pool): void {
    for (const junction of pool.junctions) {
      junction.pools.delete(pool);
      this.#forget(junction);
    }
  }

  /** With the label that the fewest kinds need: what others need there, its executors pass over. */
  #homeOf(type: string, requires: readonly string[]): string {
    let home = plain(type, requires[0]);
    for (const label of requires) {
      const key = plain(type, label);
      if (this.#countAt(key) < this.#countAt(home)) home = key;
    }
    return home;
  }

  #countAt(key: string): number {
    return this.#all.get(key)?.kindCount ?? 0;
  }

  #at(key: string, type: string, booking: string | null): Junction {
    let junction = this.#all.get(key);
    if (junction === undefined) {
      const open = new Agenda<Stand>(({ kind }) => headOfKind(kind), rankOf);
      const pools = new Set<Pool>();
      const of = { key, type, booking };
      junction = { ...of, kindCount: 0, open, hungry: new Set(), pools, ring: null, idle: [] };
      this.#all.set(key, junction);
      const ofType = this.#byType.get(type) ?? new Set();
      this.#byType.set(type, ofType.add(junction));
    }
    return junction;
  }

  #forget(junction: Junction): void {
    if (junction.kindCount + junction.pools.size > 0) return;
    this.#all.delete(junction.key);
    const ofType = this.#byType.get(junction.type);
    ofType?.delete(junction);
    if (ofType?.size === 0) this.#byType.delete(junction.type);
  }
}

/** Where a pool meets kinds of that type. */
function keysOf({ labels, reserve, booking }: Pool, type: string): string[] {
  if (booking !== null) return [booked(type, booking)];
  const [first] = reserve;
  if (first !== undefined) return [reserved(type, first)];
  return ['', ...labels].map((label) => plain(type, label));
}

/** A lane of it has a task that may come before all others of the kind. */
export function announceKind(kind: Kind): void {
  const head = headOfKind(kind);
  if (head === undefined) return;
  for (const stand of kind.stands) stand.junction.open.announce(stand, head);
}

/** An executor that becomes idle has it read. */
export function markHungry(lane: Lane): void {
  const { kind } = lane;
  for (const { junction } of kind.stands) junction.hungry.add(kind);
  kind.hungry.add(lane);
}

/** Lanes that a pool with an idle executor has read: they are hungry no more. */
export function takeHungry(pool: Pool): Lane[] {
  const lanes: Lane[] = [];
  for (const { hungry } of pool.junctions) {
    for (const kind of hungry) {
      if (!mayRun(pool, kind)) continue;
      for (const { junction } of kind.stands) junction.hungry.delete(kind);
      for (const lane of kind.hungry) lanes.push(lane);
      kind.hungry.clear();
    }
  }
  return lanes;
}

export function addIdle(pool: Pool, executor: Executor): void {
  pool.idle.add(executor);
  if (pool.idle.size > 1) return;
  for (const { idle } of pool.junctions) idle.splice(placeOf(pool, idle), 0, pool);
}

export function removeIdle(pool: Pool, executor: Executor): void {
  if (!pool.idle.delete(executor) || pool.idle.size > 0) return;
  for (const { idle } of pool.junctions) idle.splice(placeOf(pool, idle), 1);
}

/** Whether there is an executor that may run tasks of the kind, idle or not. */
export function isServed(kind: Kind): boolean {
  for (const { junction } of kind.stands) {
    for (const pool of junction.pools) if (mayRun(pool, kind)) return true;
  }
  return false;
}

/** Whether an executor is idle that may run tasks of the kind. */
export function isWanted(kind: Kind): boolean {
  const mayServe = (pool: Pool) => isIdleFor(pool, kind);
  return kind.stands.some(({ junction }) => junction.idle.some(mayServe));
}

/** Those with an idle executor that may run tasks of the kind, in their order of service. */
export function* idlePools(kind: Kind): Generator<Pool> {
  const lists = kind.stands.map(({ junction }) => junction.idle).filter(({ length }) => length > 0);
  if (lists.length > 1) return yield* merged(kind, lists);
  for (const pool of lists[0] ?? []) if (isIdleFor(pool, kind)) yield pool;
}

function isIdleFor(pool: Pool, kind: Kind): boolean {
  return mayRun(pool, kind) && pool.idle.hasDisk(kind.diskBytes ?? 0);
}

function* merged(kind: Kind, lists: readonly (readonly Pool[])[]): Generator<Pool> {
  const places = lists.map(() => 0);
  for (;;) {
    let first: Pool | undefined;
    let from = 0;
    for (const [index, list] of lists.entries()) {
      const pool = list[places[index] ?? 0];
      if (pool === undefined || (first !== undefined && servesFirst(first, pool))) continue;
      first = pool;
      from = index;
    }
    if (first === undefined) return;
    places[from] = (places[from] ?? 0) + 1;
    if (isIdleFor(first, kind)) yield first;
  }
}

type Able = Pick<Pool, 'key' | 'types' | 'labels' | 'reserve'>;

/**
 * Reserved executors first, so that urgent work leaves the others free; then those that can do the
 * least else.
 */
export function servesFirst(a: Able, b: Able): boolean {
  if (a.reserve.length !== b.reserve.length) return a.reserve.length > b.reserve.length;
  if (a.labels.length !== b.labels.length) return a.labels.length < b.labels.length;
  if (a.types.length !== b.types.length) return a.types.length < b.types.length;
  return a.key < b.key;
}

/** Where the pool is in the list, or would be. */
function placeOf(pool: Pool, list: readonly Pool[]): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (servesFirst(list[middle] as Pool, pool)) low = middle + 1;
    else high = middle;
  }
  return low;
}
