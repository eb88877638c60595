/**
 * Puts waiting tasks where they belong and takes them out: due ones into the window of their
 * lane, later ones into the delayed window, and what is beyond a window only into the store.
 */
import { LANE_COUNT_MIN, WINDOW_BYTES_FACTOR } from '../bounds.ts';
import type { Output } from '../effects.ts';
import { heldBytes } from '../state/held-bytes.ts';
import type { State } from '../state/state.ts';
import type { Task } from '../model/task.ts';
import { noteValue } from './route.ts';
import { isServed, isWanted, markHungry } from './junctions.ts';
import type { Lane } from './lane.ts';
import { countWaiting, laneFor, laneOf } from './lanes.ts';

/** A task begins to wait. It may end up in the store only: then it is in `state.tasks` no more. */
export function enqueue(state: State, task: Task, now: number, out: Output): void {
  const lane = laneFor(state, task, out);
  task.lane = lane.id;
  countWaiting(state, lane, 1);
  place(state, task, now);
}

/** A task in memory stops waiting: it is offered, or it ends. */
export function dequeue(state: State, task: Task): void {
  const lane = laneOf(state, task);
  countWaiting(state, lane, -1);
  displace(state, task, lane);
}

/** A waiting task read from the store, or one whose order or due time has changed. */
export function place(state: State, task: Task, now: number): void {
  const lane = laneOf(state, task);
  const due = task.dueAt <= now;
  const window = due ? lane.ready : state.delayed;
  if (!window.offer(task)) {
    leaveToStore(state, task);
    return;
  }
  state.tasks.set(task.id, task);
  state.windowCount++;
  state.windowBytes += heldBytes(task);
  watchLimits(state, task);
  noteValue(state, task);
  if (due) {
    lane.kind.open.announce(lane, task);
    state.shares.get(lane.kind.type)?.announce(lane);
    state.roused.add(lane);
  }
  while (isTooFull(state, window.size, due ? lane : null)) {
    const last = window.evictLast();
    if (last === undefined) break;
    state.windowCount--;
    state.windowBytes -= heldBytes(last);
    leaveToStore(state, last);
  }
}

/** Of a live task in memory: its deadline, and by when it is to be started. */
export function watchLimits({ deadlines }: State, task: Task): void {
  if (task.deadlineAt !== null) deadlines.push({ at: task.deadlineAt, kind: 'deadline', task });
  if (task.startBy !== null) deadlines.push({ at: task.startBy, kind: 'start', task });
}

/** Takes a waiting task out of its window, to change its order or to put it elsewhere. */
export function displace(state: State, task: Task, lane = laneOf(state, task)): void {
  if (!lane.ready.remove(task) && !state.delayed.remove(task)) return;
  state.windowCount--;
  state.windowBytes -= heldBytes(task);
  if (lane.loading || !lane.ready.runsLow(state.policy.pageCount)) return;
  markHungry(lane);
  // An idle executor that may not have the last task yet waits for those in the store.
  if (lane.ready.size === 0) state.roused.add(lane);
}

/** Tasks whose time has come move to their lanes; so many at once, the rest after the next tick. */
export function releaseDue(state: State, now: number): void {
  for (; state.releasableCount > 0; state.releasableCount--) {
    const task = state.delayed.first();
    if (task === undefined || task.dueAt > now) return;
    displace(state, task);
    place(state, task, now);
  }
}

function leaveToStore(state: State, task: Task): void {
  state.tasks.delete(task.id);
  state.givenBack.delete(task.seq);
  if (task.deadlineAt !== null || task.startBy !== null) state.overdueHidden = true;
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
