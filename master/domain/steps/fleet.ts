/** Processes under executor ids, how long they may be silent, and the pools they are members of. */
import {
  elderKey,
  type Executor,
  type Leftover,
  NO_OVERRIDE,
  type Occupation,
  pinOf,
  poolKeyOf,
  READY,
} from '../model/executor.ts';
import { noteGone } from '../booking/capacity.ts';
import { executorChanged } from '../booking/planning.ts';
import { bareOf } from '../plan/counted-fleet.ts';
import { isAfterWindow } from '../booking/tasks.ts';
import type { Output } from '../effects.ts';
import { createPool } from '../queue/lane.ts';
import { hashOf } from '../queue/hash.ts';
import type { State } from '../state/state.ts';
import { gateKeyOf } from '../limits/places.ts';
import { type Holding, NOTHING_TAKEN } from '../model/shared-limit.ts';
import type { Task } from '../model/task.ts';
import { becomeIdle, leaveIdle, occupy } from './occupation.ts';

/** An executor known only from the row of a task it was running when the master stopped, and what it has taken. */
export function recallExecutor(
  state: State,
  task: Task,
  holding: Holding | undefined,
  now: number,
): Executor {
  const { executorId, incarnation, id: taskId, attempt, type, user } = task;
  const accepted = task.state === 'running';
  const taken = holding?.taken ?? NOTHING_TAKEN;
  const gate = gateKeyOf(state, task);
  const { group } = user;
  const booking = isAfterWindow(state, task) ? null : task.booking;
  const occupation = { taskId, attempt, accepted, type, group, gate, booking, taken };
  const executor = recall(state, executorId ?? '', incarnation ?? '', occupation, now);
  if (holding !== undefined) state.holdings.set(executor, holding);
  return executor;
}

/** One that had not reported what is over for its task. */
export function recallLeftover(
  state: State,
  row: Leftover,
  holding: Holding | undefined,
  now: number,
  out: Output,
): void {
  const { executorId, incarnation, taskId, attempt, type, group, gate } = row;
  const newest = state.executors.get(executorId);
  const other = newest?.incarnation === incarnation ? newest : undefined;
  if (other !== undefined || state.elders.has(elderKey(executorId, incarnation))) {
    // It has another one since, as it may say of itself.
    out.changes.push({ op: 'remove', table: 'leftover', key: [taskId, attempt], expect: 'any' });
    return;
  }
  const taken = holding?.taken ?? NOTHING_TAKEN;
  const of = { type, group, gate, booking: null };
  const occupation = { taskId, attempt, accepted: true, ...of, taken };
  const executor = recall(state, executorId, incarnation, occupation, now);
  state.leftovers.set(executor, row);
  if (holding !== undefined) state.holdings.set(executor, holding);
}

function recall(
  state: State,
  id: string,
  incarnation: string,
  occupation: Occupation,
  now: number,
): Executor {
  const executor = createExecutor(state, id, incarnation, now);
  occupy(state, executor, occupation);
  // Which of two is the newest shows when one of them comes.
  if (state.executors.has(id)) state.elders.set(elderKey(id, executor.incarnation), executor);
  else state.executors.set(id, executor);
  return executor;
}

export function createExecutor(
  state: State,
  id: string,
  incarnation: string,
  now: number,
): Executor {
  const executor = newExecutor(id, incarnation, state.policy.leaseMs, now);
  const record = state.executorRecords.get(id);
  executor.lasting = record?.lasting ?? true;
  executor.drainRequested = (record?.drainedAt ?? null) !== null;
  executor.drainDeadlineAt = record?.drainDeadlineAt ?? null;
  takeOverride(state, executor);
  state.deadlines.push({ at: executor.leaseCheckAt, kind: 'lease', executor });
  watchDrain(state, executor);
  return executor;
}

/** Of which nothing is known but its name. */
export function newExecutor(
  id: string,
  incarnation: string,
  leaseMs: number,
  now: number,
): Executor {
  return {
    id,
    incarnation,
    sessionId: null,
    connected: false,
    types: [],
    own: { labels: [], reserve: [] },
    override: NO_OVERRIDE,
    labels: [],
    reserve: [],
    isPinned: false,
    booking: null,
    keptUntil: null,
    poolKey: '',
    bareKey: '',
    host: '',
    pid: 0,
    sdk: '',
    version: '',
    bootId: '',
    usesMac: false,
    leaseMs,
    leaseCheckAt: now + leaseMs,
    connectedAt: null,
    isUnheard: true,
    lastSeenAt: now,
    occupation: null,
    ending: null,
    isFrozen: false,
    hasFenced: false,
    lasting: true,
    drainRequested: false,
    drainDeadlineAt: null,
    leaving: false,
    readiness: READY,
    coolDowns: new Map(),
    refusalCount: 0,
    restUntil: 0,
    missedCount: 0,
    loopLagMs: null,
    rssBytes: null,
    cpuPercent: null,
    idHash: hashOf(id),
    offeredAt: 0,
    failures: 0,
    past: [],
  };
}

/** It is known no more; whoever has its id next is another. */
export function forget(state: State, executor: Executor): void {
  occupy(state, executor, null);
  if (state.executors.get(executor.id) === executor) {
    noteGone(state, executor);
    leavePool(state, executor);
    state.executors.delete(executor.id);
  }
  state.elders.delete(elderKey(executor.id, executor.incarnation));
}

/** What it still runs is taken back then. */
export function watchDrain(state: State, executor: Executor): void {
  const { drainDeadlineAt: at } = executor;
  if (at !== null) state.deadlines.push({ at, kind: 'drain', executor });
}

/** A shorter one is looked at earlier than what was armed for the longer one. */
export function setLease(state: State, executor: Executor, leaseMs: number): void {
  executor.leaseMs = leaseMs;
  const at = executor.lastSeenAt + leaseMs;
  if (at < executor.leaseCheckAt) armLease(state, executor, at);
}

export function armLease(state: State, executor: Executor, at: number): void {
  executor.leaseCheckAt = at;
  state.deadlines.push({ at, kind: 'lease', executor });
}

/** That of what counts now: what operators have set before what it says of itself. */
export function joinPool(state: State, executor: Executor): void {
  takeOverride(state, executor);
  executor.poolKey = poolKeyOf(executor);
  let pool = state.pools.get(executor.poolKey);
  if (pool === undefined) {
    pool = createPool(executor, executor.poolKey);
    state.pools.set(pool.key, pool);
    state.junctions.addPool(pool);
  }
  pool.members.add(executor);
  for (const { ring } of pool.junctions) ring?.add(executor);
  state.fleetVersion++;
}

/** What operators have set of it is another. What is known from a row only is in no pool yet. */
export function changePool(state: State, executor: Executor): void {
  const isMember = executor.poolKey !== '';
  leavePool(state, executor);
  if (isMember) joinPool(state, executor);
  else takeOverride(state, executor);
}

/** Executors that tasks name, or name no more, change their pool. */
export function settlePins(state: State): void {
  for (const id of state.pins.changed) {
    const executor = state.executors.get(id);
    if (executor === undefined || executor.isPinned === state.pins.counts.has(id)) continue;
    changePool(state, executor);
    becomeIdle(state, executor);
  }
  state.pins.changed.clear();
}

function takeOverride(state: State, executor: Executor): void {
  const override = state.executorRecords.get(executor.id) ?? NO_OVERRIDE;
  executor.override = override;
  executor.isPinned = state.pins.counts.has(executor.id);
  executor.booking = state.bookings.boundTo.get(executor.id) ?? null;
  const labels = override.labels ?? executor.own.labels;
  executor.labels = executor.isPinned ? [...new Set([...labels, pinOf(executor.id)])] : labels;
  executor.reserve = override.reserve ?? executor.own.reserve;
  const gone = state.bookings.gone.get(executor.id);
  const before = executor.bareKey || (gone === undefined ? '' : poolKeyOf(gone));
  executor.bareKey = poolKeyOf(bareOf(executor));
  if (before !== '' && before !== executor.bareKey) executorChanged(state);
}

export function leavePool(state: State, executor: Executor): void {
  const pool = state.pools.get(executor.poolKey);
  leaveIdle(state, executor);
  executor.poolKey = '';
  if (pool === undefined) return;
  pool.members.delete(executor);
  for (const { ring } of pool.junctions) ring?.remove(executor);
  state.fleetVersion++;
  if (pool.members.size > 0) return;
  state.junctions.removePool(pool);
  state.pools.delete(pool.key);
}
