/**
 * Who has a place of which gate (`limits/gate.ts`). A place is had from when a task is due and in memory until no
 * executor may run it any more; so what is beyond memory, or not due, has none and asks when it comes. Types without
 * `limits.concurrency` have no gates, and cost nothing here.
 */
import { TURN_GATE_COUNT_MAX } from '../bounds.ts';
import type { Output } from '../effects.ts';
import { type Candidate, createGate, freeOf, type Gate, gateKeyIn, noCandidates } from './gate.ts';
import type { Concurrency } from '../model/task-type.ts';
import type { Task } from '../model/task.ts';
import type { State } from '../state/state.ts';
import { positionOf } from '../queue/agenda.ts';
import { laneOf } from '../queue/lanes.ts';

/** Of all gates there may be: for those of which all that is known waits in the store only. */
const GATE_SHARE = 3;

/** What holds for tasks of the type now. */
export function concurrencyOf({ quotas }: State, type: string): Concurrency | null {
  return quotas.get(type)?.limits.concurrency ?? null;
}

/** By what is set now; null: no gate is there for it. Its params, which may be long, are read once. */
export function gateKeyOf(state: State, task: Task): number | null {
  const concurrency = concurrencyOf(state, task.type);
  if (concurrency === null) return null;
  const { pointer } = concurrency;
  const known = state.gateKeys.get(task);
  if (known?.pointer === pointer) return known.key;
  const key = gateKeyIn(task.type, pointer, task.params);
  state.gateKeys.set(task, { pointer, key });
  return key;
}

/** Made where it is not there. Whoever has computed the key knows of which type it is. */
export function gateOf({ gates }: State, key: number, type: string): Gate {
  let gate = gates.get(key);
  if (gate === undefined) gates.set(key, (gate = createGate(key, type)));
  gate.type ??= type;
  return gate;
}

/** How many more may have a place of it. */
export function freeIn(state: State, gate: Gate): number {
  return freeOf(gate, gate.type === null ? null : concurrencyOf(state, gate.type));
}

/** There is no room for another gate, and such a task would need one. */
export function isCrowded(state: State, task: Task): boolean {
  if (state.gates.size < state.policy.gateCountMax) return false;
  const key = gateKeyOf(state, task);
  return key !== null && !state.gates.has(key);
}

/** As which it has a place while it waits. */
export function candidateOf(task: Task): Candidate {
  return { taskId: task.id, ...positionOf(task) };
}

/** It has a place from here on. */
export function enter(state: State, gate: Gate, task: Task): void {
  state.placeCount++;
  gate.candidates.offer(candidateOf(task));
}

/** Whether it had one. */
export function giveUpPlace(state: State, gate: Gate, one: Candidate): boolean {
  const had = gate.candidates.remove(one);
  if (had) state.placeCount--;
  return had;
}

/** It does not wait there any more, wherever it goes; one that is offered has a place as an attempt. */
export function leave(state: State, task: Task): void {
  const key = gateKeyOf(state, task);
  const gate = key === null ? undefined : state.gates.get(key);
  if (gate !== undefined && giveUpPlace(state, gate, candidateOf(task))) settle(state, gate);
}

/**
 * It waits in the store only. It keeps its place if others are held, who would all be let go in its stead, and else while
 * there is room: what is not known to have a place asks again when it is read.
 */
export function keepPlace(state: State, task: Task): void {
  const key = state.gateKeys.get(task)?.key ?? null;
  const gate = key === null ? undefined : state.gates.get(key);
  if (gate === undefined || gate.heldCount > 0 || hasRoomForHidden(state)) return;
  giveUpPlace(state, gate, candidateOf(task));
  settle(state, gate);
}

/** An executor has got an attempt of it (1), or is done with one (-1). */
export function countAttempt(state: State, key: number, type: string, by: 1 | -1): void {
  const gate = state.gates.get(key) ?? gateOf(state, key, type);
  gate.attemptCount += by;
  settle(state, gate);
}

/** The task is `held` from here on: its row is all that there is of it. */
export function holdBy(state: State, gate: Gate, task: Task): void {
  const lane = laneOf(state, task);
  task.state = 'held';
  task.gate = gate.key;
  gate.heldCount++;
  lane.heldCount++;
  lane.kind.heldCount++;
  state.tasks.delete(task.id);
  if (task.deadlineAt !== null || task.startBy !== null) state.overdue.isNeeded = true;
  settle(state, gate);
}

/** It waits as others do, or is about to end. */
export function letGo(state: State, task: Task): void {
  const lane = laneOf(state, task);
  const gate = state.gates.get(task.gate ?? 0);
  task.state = 'waiting';
  task.gate = null;
  lane.heldCount--;
  lane.kind.heldCount--;
  if (gate === undefined) return;
  gate.heldCount--;
  settle(state, gate);
}

/** For gates, and for tasks with a place, of which all that is known waits in the store only. */
function hasRoomForHidden({ gates, placeCount, policy: { gateCountMax } }: State): boolean {
  return gates.size <= gateCountMax / GATE_SHARE && placeCount <= gateCountMax;
}

/** By their rows so many are held by it. */
export function recallHeld(state: State, key: number, heldCount: number): void {
  const gate = state.gates.get(key) ?? createGate(key, null);
  state.gates.set(key, gate);
  gate.heldCount = heldCount;
  settle(state, gate);
}

/** Somebody may be let in, or nobody is there any more. */
export function settle(state: State, gate: Gate): void {
  const { candidates, attemptCount, heldCount, key } = gate;
  if (heldCount > 0) {
    state.openGates.add(gate);
    return;
  }
  if (attemptCount + candidates.size > 0) return;
  state.gates.delete(key);
  state.openGates.delete(gate);
}

/** Asks for those who are to be let in, some gates at a time: the answer asks for the next ones. */
export function askForHeld(state: State, out: Output): void {
  if (state.openGates.size === 0 || state.loading.has('held') || !state.accepting) return;
  for (const gate of state.openGates) {
    if (gate.heldCount > 0 && freeIn(state, gate) > 0) {
      state.loading.add('held');
      out.loads.push({ type: 'held' });
      return;
    }
    state.openGates.delete(gate);
  }
}

/** Another limit, another pointer, or none: whoever waits asks anew, and what executors have counts by it. */
export function regate(state: State, type: string, isSameValue: boolean): void {
  for (const gate of state.gates.values()) {
    if (gate.type !== type) continue;
    state.placeCount -= gate.candidates.size;
    gate.candidates = noCandidates();
    // The first that is read tells whether it is a gate still.
    if (!isSameValue) Object.assign(gate, { type: null, isStale: false });
    settle(state, gate);
  }
}

/** The first of these, as they are when rows are read. `limit`: how many have a place. */
export function gatesToRead(state: State): { readonly gate: number; readonly limit: number }[] {
  const open: { readonly gate: number; readonly limit: number }[] = [];
  for (const gate of state.openGates) {
    const limit = freeIn(state, gate);
    if (gate.heldCount > 0 && limit > 0) open.push({ gate: gate.key, limit });
    if (open.length === TURN_GATE_COUNT_MAX) break;
  }
  return open;
}
