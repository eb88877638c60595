/**
 * What attempts take of shared limits: taken with the commit of the offer, all that a task uses or nothing,
 * and back when its executor has reported or its lease has ended. Nothing is held while a task waits, so that
 * no two can wait for each other.
 */
import type { Output } from '../effects.ts';
import {
  countTaken,
  createSupply,
  hasRoomAt,
  limitedUses,
  noteKind,
  type Supply,
  usedAt,
} from './supply.ts';
import { type Executor, hasDisk, isCooling, isResting } from '../model/executor.ts';
import {
  type Holding,
  NOTHING_TAKEN,
  placesOf,
  type SharedLimit,
  type Taken,
  type Use,
} from '../model/shared-limit.ts';
import type { Task } from '../model/task.ts';
import { comesFirst } from '../queue/agenda.ts';
import { idlePools } from '../queue/junctions.ts';
import { headOfKind, type Kind } from '../queue/lane.ts';
import type { State } from '../state/state.ts';
import { isTypeOpen } from './quota.ts';

type AttemptKey = Pick<Holding, 'taskId' | 'attempt'>;

/** What is known of a limit as a row says, and of who uses it. */
export function takeLimit(state: State, limit: SharedLimit): void {
  const known = state.supplies.get(limit.name);
  if (known !== undefined) {
    known.limit = limit;
    return;
  }
  const supply = createSupply(limit);
  state.supplies.set(limit.name, supply);
  for (const kind of state.kinds.values()) noteKind(state.supplies, kind, true);
  for (const { occupation } of [...state.executors.values(), ...state.elders.values()]) {
    for (const taken of occupation?.taken ?? []) {
      if (taken.limit === limit.name) countTaken(supply, taken, 1);
    }
  }
}

/** From now on an executor has these, or has them no more. */
export function countAllTaken(
  { supplies, opened }: State,
  all: readonly Taken[],
  by: 1 | -1,
): void {
  for (const taken of all) {
    const supply = supplies.get(taken.limit);
    if (supply === undefined) continue;
    countTaken(supply, taken, by);
    if (by === -1) tellOfRoom(supply, opened);
  }
}

/** Whoever has been turned away since is asked again. */
function tellOfRoom({ turnedAway }: Supply, opened: Set<string>): void {
  for (const type of turnedAway) opened.add(type);
  turnedAway.clear();
}

/** What they stood back for may have gone. */
export function askStandingBack({ standingBack, opened }: State): void {
  for (const type of standingBack) opened.add(type);
  standingBack.clear();
}

/** There may be room for all that use the limit: another one holds now, or none. */
export function openUsersOf(state: State, name: string): void {
  for (const { type, uses } of state.kinds.values()) {
    if (uses.some(({ limit }) => limit === name)) state.opened.add(type);
  }
}

/** An attempt takes what its task uses, whether or not there is room for it. By this commit. */
export function take(
  state: State,
  executor: Executor,
  { taskId, attempt }: AttemptKey,
  uses: readonly Use[],
  out: Output,
): void {
  const taken: Taken[] = [];
  for (const [{ limit }, n] of limitedUses(state.supplies, uses)) {
    for (const place of placesOf(limit.per, executor)) taken.push({ limit: limit.name, place, n });
  }
  if (taken.length === 0) return;
  dropHolding(state, executor, out);
  const row: Holding = { taskId, attempt, taken };
  state.holdings.set(executor, row);
  out.changes.push({ op: 'put', table: 'holding', key: [taskId, attempt], row });
}

/** What it took for this attempt. */
export function takenFor(
  { holdings }: State,
  executor: Executor,
  { taskId, attempt }: AttemptKey,
): readonly Taken[] {
  const holding = holdings.get(executor);
  return holding?.taskId === taskId && holding.attempt === attempt ? holding.taken : NOTHING_TAKEN;
}

/** Forgets what it took for another attempt than the one that it has. */
export function settleHolding(state: State, executor: Executor, out: Output): void {
  if (state.holdings.size === 0) return;
  const { occupation } = executor;
  const holding = state.holdings.get(executor);
  const isHeld = holding?.taskId === occupation?.taskId && holding?.attempt === occupation?.attempt;
  if (!isHeld) dropHolding(state, executor, out);
}

function dropHolding({ holdings }: State, executor: Executor, out: Output): void {
  const holding = holdings.get(executor);
  if (holding === undefined) return;
  holdings.delete(executor);
  const key = [holding.taskId, holding.attempt] as const;
  out.changes.push({ op: 'remove', table: 'holding', key, expect: 'any' });
}

/** Whether what is limited in all has room for a task of the kind; it is asked before any executor is looked at. */
export function hasRoomInAll({ supplies }: State, { uses, type }: Kind): boolean {
  for (const [supply, n] of limitedUses(supplies, uses)) {
    if (supply.limit.per !== 'cluster' || hasRoomAt(supply, '', n)) continue;
    supply.turnedAway.add(type);
    return false;
  }
  return true;
}

/**
 * By limit, place and kind: an executor that is idle there and might have the first task of the kind; null: there is
 * none, and in one go none comes.
 */
export type StandIns = Map<string, Executor | null>;

interface Asked {
  readonly now: number;
  /** Of idle executors as they are; whoever asks once only needs none. */
  readonly standIns?: StandIns;
  /** The task, if another than the first of the kind. */
  readonly first?: Task | undefined;
}

/** Whether there is no room for what a task of the kind uses, whichever it is; it is told when there is. */
export function isTurnedAway(state: State, kind: Kind, executor: Executor, asked: Asked): boolean {
  const lack = lackOf(state, kind, executor, asked);
  if (lack === null || lack.older !== null) return false;
  if (lack.place !== null) lack.supply.turnedAway.add(kind.type);
  return true;
}

/**
 * Whether an idle executor may take now what a task of the kind uses. Where it may not, it is asked again as
 * soon as there may be room.
 */
export function maySupply(state: State, kind: Kind, executor: Executor, asked: Asked): boolean {
  const lack = lackOf(state, kind, executor, asked);
  if (lack === null) return true;
  if (lack.older !== null) state.standingBack.add(kind.type);
  // Labels that come make it another executor, which asks by itself.
  else if (lack.place !== null) lack.supply.turnedAway.add(kind.type);
  return false;
}

/** Why an executor may not have tasks of the kind. */
export interface Lack {
  readonly supply: Supply;
  readonly n: number;
  /** Where it is used up; null: the executor carries no label by which it is counted. */
  readonly place: string | null;
  /** There is room, for this one, which comes first and takes more. */
  readonly older: Task | null;
}

/** The first that keeps it from them; null: nothing does. */
export function lackOf(state: State, kind: Kind, executor: Executor, asked: Asked): Lack | null {
  for (const [supply, n] of limitedUses(state.supplies, kind.uses)) {
    const places = placesOf(supply.limit.per, executor);
    if (places.length === 0) return { supply, n, place: null, older: null };
    for (const place of places) {
      if (!hasRoomAt(supply, place, n)) return { supply, n, place, older: null };
      const older = wideBefore(state, kind, { supply, place, executor }, asked);
      if (older !== null) return { supply, n, place, older };
    }
  }
  return null;
}

interface At {
  readonly supply: Supply;
  readonly place: string;
  /** One that is there. */
  readonly executor: Executor;
}

/**
 * An older task that takes more of the limit than is free there, and for which nothing else is missing: those
 * behind it stand back, or there would never be as much. Null: there is none.
 */
function wideBefore(state: State, kind: Kind, at: At, asked: Asked): Task | null {
  if (at.supply.wide.size === 0) return null;
  const first = asked.first ?? headOfKind(kind);
  const { max } = at.supply.limit;
  const free = max - usedAt(at.supply, at.place);
  for (const [other, n] of at.supply.wide) {
    // It would fit, or never will.
    if (other === kind || n <= free || n > max) continue;
    const older = headOfKind(other);
    if (first === undefined || older === undefined || !comesFirst(older, first)) continue;
    if (isTypeOpen(state.quotas, other) && isWaitingAt(state, other, older, at, asked))
      return older;
  }
  return null;
}

/** Whether an executor is idle there that might have it. Looked for once for all that ask in a row. */
function isWaitingAt(
  state: State,
  kind: Kind,
  task: Task,
  at: At,
  { now, standIns }: Asked,
): boolean {
  const { limit } = at.supply;
  const key = `${limit.name} ${at.place} ${kind.key}`;
  const known = standIns?.get(key);
  if (known === null || (known && isIdle(state, known))) return known !== null;
  const found = standIn(kind, task, at, now);
  standIns?.set(key, found);
  return found !== null;
}

function isIdle({ pools }: State, executor: Executor): boolean {
  return pools.get(executor.poolKey)?.idle.has(executor) ?? false;
}

function standIn(
  kind: Kind,
  task: Task,
  { supply, place, executor }: At,
  now: number,
): Executor | null {
  const mightHave = (one: Executor) =>
    !isResting(one, now) && !isCooling(one, task, now) && hasDisk(one, kind);
  for (const pool of idlePools(kind)) {
    // Most often it is whoever asks.
    if (pool.idle.has(executor) && mightHave(executor)) return executor;
    for (const one of pool.idle.from(0, kind.diskBytes ?? 0)) {
      if (mightHave(one) && placesOf(supply.limit.per, one).includes(place)) return one;
    }
  }
  return null;
}
