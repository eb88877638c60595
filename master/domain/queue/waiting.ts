/**
 * Puts waiting tasks where they belong and takes them out: due ones into the window of their
 * lane, later ones into the delayed window, and what is beyond a window only into the store.
 */
import { LANE_COUNT_MIN, WINDOW_BYTES_FACTOR } from '../bounds.ts';
import { taskUpdated } from '../changes.ts';
import type { Output } from '../effects.ts';
import { tellTask } from '../feed/tell.ts';
import type { Candidate, Gate } from '../limits/gate.ts';
import { heldBytes } from '../state/held-bytes.ts';
import type { State } from '../state/state.ts';
import { isDue, type Task } from '../model/task.ts';
import { noteValue } from './route.ts';
import { positionOf } from './agenda.ts';
import {
  candidateOf,
  enter,
  freeIn,
  gateKeyOf,
  gateOf,
  giveUpPlace,
  holdBy,
  keepPlace,
  leave,
  letGo,
} from '../limits/places.ts';
import { isServed, isWanted, markHungry } from './junctions.ts';
import { dueAtOf, type Lane } from './lane.ts';
import { countSuspended, countWaiting, laneFor, laneOf } from './lanes.ts';
import { isBefore, START } from './window.ts';

/** A task begins to wait. It may end up in the store only: then it is in `state.tasks` no more. */
export function enqueue(state: State, task: Task, now: number, out: Output): void {
  const lane = laneFor(state, task, out);
  task.lane = lane.id;
  countWaiting(state, lane, 1);
  place(state, task, now, out);
}

/** A task is suspended: its row is all that there is of it. */
export function setAside(state: State, task: Task, out: Output): void {
  const lane = laneFor(state, task, out);
  task.lane = lane.id;
  countSuspended(state, lane, 1);
  state.tasks.delete(task.id);
  state.givenBack.delete(task.seq);
  if (task.deadlineAt !== null) state.overdue.isNeeded = true;
}

/** A task stops waiting, or being suspended: it is offered, or goes elsewhere, or it ends. */
export function dequeue(state: State, task: Task): void {
  const lane = laneOf(state, task);
  if (task.state === 'suspended') return countSuspended(state, lane, -1);
  countWaiting(state, lane, -1);
  noteGone(lane, task);
  displace(state, task, lane);
}

/** Who is the first due then only the store knows. */
function noteGone(lane: Lane, { dueAt }: Task): void {
  if (lane.storedDueAt === dueAt) lane.storedDueAt = null;
}

/** A waiting task read from the store, or one whose order or due time has changed. */
export function place(state: State, task: Task, now: number, out: Output): void {
  const lane = laneOf(state, task);
  const due = isDue(task, now);
  if (due && lane.quota !== null && !admit(state, task, now, out)) return;
  const window = due ? lane.ready : state.delayed;
  if (!window.offer(task)) {
    if (lane.storedDueAt !== null) lane.storedDueAt = Math.min(lane.storedDueAt, task.dueAt);
    leaveToStore(state, task);
    return;
  }
  state.tasks.set(task.id, task);
  state.windowCount++;
  state.windowBytes += heldBytes(task);
  watchLimits(state, task);
  noteValue(state, task, now);
  if (due) {
    lane.kind.open.announce(lane, task);
    state.shares.get(lane.kind.type)?.announce(lane);
    state.roused.add(lane);
  }
  while (isTooFull(state, window.size, due ? lane : null)) {
    const last = window.evictLast();
    if (last === undefined) break;
    if (due && window.size === 0) {
      lane.storedDueAt = Math.min(last.dueAt, lane.storedDueAt ?? last.dueAt);
    }
    state.windowCount--;
    state.windowBytes -= heldBytes(last);
    leaveToStore(state, last);
  }
}

/**
 * Whether it may wait in its lane: it is in no gate, there is a place for it, or it comes before one that is to step
 * back. Else it is held.
 */
function admit(state: State, task: Task, now: number, out: Output): boolean {
  const key = gateKeyOf(state, task);
  if (key === null) return true;
  const gate = gateOf(state, key, task.type);
  if (gate.candidates.find(candidateOf(task)) !== undefined) return true;
  const free = freeIn(state, gate);
  const last = free > 0 ? undefined : gate.candidates.last();
  const isAhead = last !== undefined && isBefore(positionOf(task), last);
  // Where others are held the first of them may come before it: they are asked for.
  if (!isAhead && (free <= 0 || gate.heldCount > 0)) {
    hold(state, gate, task, now, out);
    return false;
  }
  enter(state, gate, task);
  if (isAhead) stepBack(state, gate, last, now, out);
  return true;
}

/** Its place goes to one that comes before it. One that is in the store only asks again when it is read. */
function stepBack(state: State, gate: Gate, last: Candidate, now: number, out: Output): void {
  giveUpPlace(state, gate, last);
  const task = state.tasks.get(last.taskId);
  if (task === undefined) return;
  displace(state, task);
  hold(state, gate, task, now, out);
}

function hold(state: State, gate: Gate, task: Task, now: number, out: Output): void {
  noteGone(laneOf(state, task), task);
  holdBy(state, gate, task);
  out.changes.push(taskUpdated(task));
  tellTask(state, out, 'task.held', task, now);
}

/** One who was held has a place now, if its gate is still the one that held it. Its row was read. */
export function admitHeld(state: State, task: Task, now: number, out: Output): void {
  const gate = state.gates.get(task.gate ?? 0);
  const isIts = gate !== undefined && gateKeyOf(state, task) === gate.key;
  if (isIts && isDue(task, now) && freeIn(state, gate) > 0) enter(state, gate, task);
  letGo(state, task);
  out.changes.push(taskUpdated(task));
  place(state, task, now, out);
}

/** Of a live task in memory: its deadline, and by when it is to be started. */
export function watchLimits({ deadlines }: State, task: Task): void {
  if (task.deadlineAt !== null) deadlines.push({ at: task.deadlineAt, kind: 'deadline', task });
  if (task.startBy !== null) deadlines.push({ at: task.startBy, kind: 'start', task });
}

/** Takes a waiting task out of its window, or of those that are held, to change its order or to put it elsewhere. */
function displace(state: State, task: Task, lane = laneOf(state, task)): void {
  if (task.state === 'held') return letGo(state, task);
  state.passedOver.delete(task.seq);
  if (lane.quota !== null) leave(state, task);
  if (!lane.ready.remove(task) && !state.delayed.remove(task)) return;
  state.windowCount--;
  state.windowBytes -= heldBytes(task);
  if (lane.loading || !lane.ready.runsLow(state.policy.pageCount)) return;
  markHungry(lane);
  // An idle executor that may not have the last task yet waits for those in the store.
  if (lane.ready.size === 0) state.roused.add(lane);
}

/** Tasks whose time has come move to their lanes; so many at once, the rest after the next tick. */
export function releaseDue(state: State, now: number, out: Output): void {
  for (; state.releasableCount > 0; state.releasableCount--) {
    const task = state.delayed.first();
    if (task === undefined || !isDue(task, now)) return;
    displace(state, task);
    place(state, task, now, out);
  }
}

/** One that is due, and was read: it is in its lane, before others that have become due have come to theirs. */
export function release(state: State, task: Task, now: number, out: Output): void {
  const lane = laneOf(state, task);
  if (lane.ready.find(task) !== undefined) return;
  displace(state, task, lane);
  place(state, task, now, out);
}

/** Nothing of the lane is in memory any more: it is read from the start. Since when its first task waits is known until then. */
export function unload(state: State, lane: Lane): void {
  lane.storedDueAt = dueAtOf(lane);
  for (let last = lane.ready.evictLast(); last !== undefined; last = lane.ready.evictLast()) {
    state.windowCount--;
    state.windowBytes -= heldBytes(last);
    leaveToStore(state, last);
  }
  lane.ready.until = START;
  markHungry(lane);
  state.roused.add(lane);
}

function leaveToStore(state: State, task: Task): void {
  state.tasks.delete(task.id);
  state.givenBack.delete(task.seq);
  if (state.gates.size > 0) keepPlace(state, task);
  if (task.deadlineAt !== null || task.startBy !== null) state.overdue.isNeeded = true;
}

/** `lane`: null for the tasks that are not due. */
function isTooFull(state: State, windowSize: number, lane: Lane | null): boolean {
  const { laneWindowCount, windowCountMax, windowBytesMax } = state.policy;
  if (windowSize > laneWindowCount) return true;
  if (state.windowCount <= windowCountMax && state.windowBytes <= windowBytesMax) return false;
  return windowSize > (lane !== null && isOverfull(state) ? spareCount(lane) : LANE_COUNT_MIN);
}

/** What lanes keep whatever the total has come to too much: 16 tasks of each of 10,000 lanes. */
function isOverfull({ policy, windowBytes }: State): boolean {
  return windowBytes > policy.windowBytesMax * WINDOW_BYTES_FACTOR;
}

/** One, where an executor is idle that may have it; none where it would only lie there. */
function spareCount(lane: Lane): number {
  return isWanted(lane.kind) ? 1 : 0;
}

/**
 * Rows to read for each of so many lanes: of a page, or of what there is room for, so that none is
 * read in vain.
 */
export function roomFor(state: State, laneCount: number): number {
  const { pageCount, windowCountMax, windowBytesMax } = state.policy;
  if (isOverfull(state)) return 1;
  const room = state.windowBytes < windowBytesMax ? windowCountMax - state.windowCount : 0;
  const share = Math.floor(Math.min(pageCount, room) / laneCount);
  return Math.min(pageCount, Math.max(share, LANE_COUNT_MIN));
}

/** Whether the next page of a lane is to be read: not where it would be given up as it comes in. */
export function isOfUse(state: State, lane: Lane): boolean {
  if (!isServed(lane.kind)) return false;
  const isFull = state.windowBytes > state.policy.windowBytesMax;
  return !isFull || lane.ready.size > 0 || spareCount(lane) > 0;
}
