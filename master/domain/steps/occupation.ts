/** Which attempt an executor is occupied with, and when it is free for another. */
import { PAST_ATTEMPT_COUNT_MAX } from '../bounds.ts';
import { moveRunning } from '../booking/bookings-state.ts';
import type { Output } from '../effects.ts';
import {
  elderKey,
  type Executor,
  isFree,
  isServing,
  type Leftover,
  type Occupation,
} from '../model/executor.ts';
import { isAfterWindow } from '../booking/tasks.ts';
import { gateKeyOf } from '../limits/places.ts';
import { addIdle, removeIdle } from '../queue/junctions.ts';
import type { State } from '../state/state.ts';
import type { AttemptOutcome, Task } from '../model/task.ts';
import { countHeld } from './limits.ts';
import { countAllTaken, settleHolding, takenFor } from '../limits/supplies.ts';

interface AttemptKey {
  readonly taskId: string;
  readonly attempt: number;
}

/** The task, if this is its newest attempt, still open, and this process has it. */
export function currentTask(
  state: State,
  executor: Pick<Executor, 'id' | 'incarnation'>,
  { taskId, attempt }: AttemptKey,
): Task | null {
  const task = state.tasks.get(taskId);
  if (task === undefined || task.attempt !== attempt || task.executorId !== executor.id) {
    return null;
  }
  if (task.incarnation !== null && task.incarnation !== executor.incarnation) return null;
  return isOpen(task) ? task : null;
}

function isOpen(task: Task): boolean {
  return task.state === 'offered' || task.state === 'running';
}

/** The process that has the newest attempt of an open task. */
export function holderOf(state: State, task: Task): Executor | undefined {
  const { executorId, incarnation } = task;
  if (executorId === null || !isOpen(task)) return undefined;
  const newest = state.executors.get(executorId);
  if (newest !== undefined && (incarnation ?? newest.incarnation) === newest.incarnation) {
    return newest;
  }
  return state.elders.get(elderKey(executorId, incarnation ?? ''));
}

/** Whether it is still the one that is meant: it may have been forgotten, or come back as another. */
export function isKnown(state: State, executor: Executor): boolean {
  if (state.executors.get(executor.id) === executor) return true;
  return state.elders.get(elderKey(executor.id, executor.incarnation)) === executor;
}

/** Whoever speaks in this session; undefined where it has been given up. */
export function bySession(
  state: State,
  event: { readonly executorId: string; readonly sessionId: string },
): Executor | undefined {
  const executor = state.executors.get(event.executorId);
  return executor?.sessionId === event.sessionId ? executor : undefined;
}

/** Any frame of an executor renews its lease, unless it has been frozen. */
export function seen(executor: Executor, now: number): void {
  if (!executor.isFrozen) executor.lastSeenAt = now;
}

/** The newest attempt of the task, as an executor has it. */
export function occupationBy(
  state: State,
  executor: Executor,
  task: Task,
  accepted: boolean,
): Occupation {
  const { id: taskId, attempt, type, user } = task;
  const taken = takenFor(state, executor, { taskId, attempt });
  return {
    taskId,
    attempt,
    accepted,
    type,
    group: user.group,
    gate: gateKeyOf(state, task),
    booking: isAfterWindow(state, task) ? null : task.booking,
    taken,
  };
}

/** The one way in which an executor gets an attempt, or is done with it: so they are counted. */
export function occupy(state: State, executor: Executor, occupation: Occupation | null): void {
  const { occupation: before } = executor;
  // One that is accepted counts as it did: there is no room meanwhile.
  if (!countsAs(before, occupation)) {
    if (before !== null) countHeld(state, before, -1);
    if (occupation !== null) countHeld(state, occupation, 1);
  }
  if (before?.taken !== occupation?.taken) {
    if (before !== null) countAllTaken(state, before.taken, -1);
    if (occupation !== null) countAllTaken(state, occupation.taken, 1);
  }
  moveRunning(state.bookings, executor, before?.booking ?? null, occupation?.booking ?? null);
  executor.occupation = occupation;
  state.unsettled.add(executor);
  // One that is about to leave is of use to its booking for as long as it has a task of it.
  const isLeft = occupation === null && executor.booking !== null && !isServing(executor);
  if (isLeft) state.bookings.isUnsettled = true;
}

function countsAs(one: Occupation | null, other: Occupation | null): boolean {
  if (one?.booking !== other?.booking) return false;
  return one?.type === other?.type && one?.group === other?.group && one?.gate === other?.gate;
}

/**
 * Writes which executors may still run what is over, and which do no more, with what they have taken of shared
 * limits: it counts as running, also for a master that begins.
 */
export function writeLeftovers(state: State, out: Output): void {
  for (const executor of state.unsettled) {
    settleHolding(state, executor, out);
    const { id: executorId, incarnation, occupation } = executor;
    const isOver = occupation !== null && currentTask(state, executor, occupation) === null;
    const before = state.leftovers.get(executor);
    if (isOver && isSame(before, occupation)) continue;
    if (before !== undefined) {
      state.leftovers.delete(executor);
      const key = [before.taskId, before.attempt] as const;
      out.changes.push({ op: 'remove', table: 'leftover', key, expect: 'any' });
    }
    if (!isOver) continue;
    const { taskId, attempt, type, group, gate } = occupation;
    const row: Leftover = { taskId, attempt, executorId, incarnation, type, group, gate };
    state.leftovers.set(executor, row);
    out.changes.push({ op: 'put', table: 'leftover', key: [taskId, attempt], row });
  }
  state.unsettled.clear();
}

function isSame(one: AttemptKey | undefined, other: AttemptKey): boolean {
  return one?.taskId === other.taskId && one.attempt === other.attempt;
}

/** The executor is done with whatever occupied it. */
export function free(state: State, executor: Executor, now: number): void {
  occupy(state, executor, null);
  executor.missedCount = 0;
  seen(executor, now);
  becomeIdle(state, executor);
}

/** Joins the idle ones of its pool, if it may be given a task now. */
export function becomeIdle(state: State, executor: Executor): void {
  if (!isFree(executor)) return;
  const pool = state.pools.get(executor.poolKey);
  if (pool === undefined || pool.idle.has(executor)) return;
  addIdle(pool, executor);
  state.freed.add(executor);
}

/** If it is idle, it chooses anew among all that it may have. */
export function rouse(state: State, executor: Executor): void {
  if (state.pools.get(executor.poolKey)?.idle.has(executor)) state.freed.add(executor);
}

/** It is given no task until it becomes idle again. */
export function leaveIdle(state: State, executor: Executor): void {
  state.freed.delete(executor);
  if (executor.booking !== null || executor.keptUntil !== null) state.bookings.isUnsettled = true;
  const pool = state.pools.get(executor.poolKey);
  if (pool !== undefined) removeIdle(pool, executor);
}

/** The executor is done with this attempt, whether it still counts or not. */
export function release(
  state: State,
  executor: Executor | undefined,
  ended: AttemptKey,
  now: number,
): void {
  const occupation = executor?.occupation;
  if (executor === undefined || occupation?.taskId !== ended.taskId) return;
  if (occupation.attempt === ended.attempt) free(state, executor, now);
}

/** Ends of an attempt that tell how long such tasks take. */
const TELLING: readonly AttemptOutcome[] = ['succeeded', 'failed', 'timed_out'];

/** An attempt of the task has ended on it. In memory only: rows tell of tasks, and know all of them. */
export function noteEnd(
  { runTimes }: State,
  { past }: Executor,
  task: Task,
  outcome: AttemptOutcome,
  now: number,
): void {
  const { id: taskId, attempt, type, user, startedAt } = task;
  if (startedAt !== null && TELLING.includes(outcome)) {
    runTimes.note(type, now - startedAt - task.hiddenMs);
  }
  past.unshift({ taskId, attempt, type, group: user.group, outcome, endedAt: now });
  if (past.length > PAST_ATTEMPT_COUNT_MAX) past.pop();
}

interface Stale extends AttemptKey {
  readonly executorId: string;
  readonly sessionId: string | null;
}

/** An executor goes on with an attempt that is no longer its own: it is told to stop. */
export function refuseStale(state: State, stale: Stale, out: Output): void {
  observeStale(stale, out);
  const { sessionId, taskId, attempt } = stale;
  if (sessionId === null) return;
  const graceMs = state.policy.cancelGraceMs;
  const command = { type: 'cancel', taskId, attempt, reason: 'stale_attempt', graceMs } as const;
  out.effects.push({ type: 'sendToExecutor', sessionId, command });
}

/** Says so in the log and the metrics. */
export function observeStale({ taskId, attempt, executorId }: Stale, out: Output): void {
  out.observed.push({ event: 'stale_attempt', taskId, attempt, executorId });
}

/** Whether there is an attempt whose time counts. */
export function someoneRuns(state: State): boolean {
  for (const { occupation } of state.executors.values()) if (occupation !== null) return true;
  return state.elders.size > 0;
}
