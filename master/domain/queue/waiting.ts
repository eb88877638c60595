/**
 * Puts waiting tasks where they belong and takes them out: due ones into the window of their
 * lane, later ones into the delayed window, and what is beyond a window only into the store.
 */
import { LANE_COUNT_MIN, WINDOW_BYTES_FACTOR } from '../bounds.ts';
import type { Output } from '../effects.ts';
import { heldBytes } from '../held-bytes.ts';
import { startClock, type State } from '../state.ts';
import { startByAfter, type Task } from '../task.ts';
import { createLane, type Lane, removeLane } from './lane.ts';

/** A task begins to wait. It may end up in the store only: then it is in `state.tasks` no more. */
export function enqueue(state: State, task: Task, now: number): void {
  laneFor(state, task).waitingCount++;
  state.waitingCount++;
  place(state, task, now);
}

/** A task in memory stops waiting: it is offered, or it ends. */
export function dequeue(state: State, task: Task): void {
  const lane = laneFor(state, task);
  lane.waitingCount--;
  if (lane.waitingCount === 0) state.mayHaveEmptyLane = true;
  state.waitingCount--;
  displace(state, task, lane);
}

/** A waiting task read from the store, or one whose order or due time has changed. */
export function place(state: State, task: Task, now: number): void {
  const lane = laneFor(state, task);
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
  if (due) state.roused.add(lane);
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

/** A master says at least once a second that it is there: a longer gap is an absence. */
export const ABSENCE_MS_MIN = 3_000;

/**
 * No master was there, or its process stood still, or nothing was to be offered. Once each time: the
 * rows follow in the same commit. What was so in a pause is credited when that ends.
 */
export function creditAbsence(state: State, from: number, to: number, out: Output): void {
  const until = startClock(state, to);
  if (until <= from) return;
  let isLimited = state.waitingCount > 0;
  for (const task of state.tasks.values()) {
    if (task.startBy === null) continue;
    isLimited = true;
    task.startBy = startByAfter(task, from, until);
    watchLimits(state, task);
  }
  if (!isLimited) return;
  out.changes.push({ op: 'credit', absence: { from, until } });
}

/** Takes a waiting task out of its window, to change its order or to put it elsewhere. */
export function displace(state: State, task: Task, lane = laneFor(state, task)): void {
  if (!lane.ready.remove(task) && !state.delayed.remove(task)) return;
  state.windowCount--;
  state.windowBytes -= heldBytes(task);
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

/** Whether tasks of this kind may still be accepted; the number of lanes is bounded. */
export function hasLaneFor(state: State, lane: string): boolean {
  if (state.lanes.has(lane) || state.lanes.size < state.policy.laneCountMax) return true;
  if (!state.mayHaveEmptyLane) return false;
  for (const other of state.lanes.values()) {
    if (other.waitingCount > 0) continue;
    removeLane(other);
    state.lanes.delete(other.key);
    state.roused.delete(other);
  }
  state.mayHaveEmptyLane = false;
  return state.lanes.size < state.policy.laneCountMax;
}

/** The lane of a task, made where there is none yet. */
export function laneFor(
  state: State,
  task: Pick<Task, 'lane' | 'type' | 'requires' | 'labels'>,
): Lane {
  let lane = state.lanes.get(task.lane);
  if (lane === undefined) {
    const { lane: key, type, requires, labels } = task;
    lane = createLane({ key, type, requires, labels }, state.pools.values());
    state.lanes.set(key, lane);
    state.mayHaveEmptyLane = true;
  }
  return lane;
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
  return lane.pools.some((pool) => pool.idle.size > 0) ? 1 : 0;
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
export function wantsMore(state: State, lane: Lane): boolean {
  if (lane.loading || lane.pools.length === 0) return false;
  const isFull = state.windowBytes > state.policy.windowBytesMax;
  if (isFull && lane.ready.size === 0 && spareCount(lane) === 0) return false;
  return lane.ready.runsLow(state.policy.pageCount);
}
