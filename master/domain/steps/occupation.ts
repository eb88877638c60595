/** Which attempt an executor is occupied with, and when it is free for another. */
import type { Output } from '../effects.ts';
import type { Executor } from '../executor.ts';
import type { State } from '../state.ts';
import type { Task } from '../task.ts';

interface AttemptKey {
  readonly taskId: string;
  readonly attempt: number;
}

/** The task, if this is its newest attempt, still open, and this executor has it. */
export function currentTask(
  state: State,
  executorId: string,
  { taskId, attempt }: AttemptKey,
): Task | null {
  const task = state.tasks.get(taskId);
  if (task === undefined || task.attempt !== attempt || task.executorId !== executorId) return null;
  return task.state === 'offered' || task.state === 'running' ? task : null;
}

/** Any frame of an executor renews its lease. */
export function seen(state: State, executorId: string, now: number): void {
  const executor = state.executors.get(executorId);
  if (executor !== undefined) executor.lastSeenAt = now;
}

/** The executor is done with whatever occupied it. */
export function free(state: State, executor: Executor, now: number): void {
  executor.occupation = null;
  executor.missedCount = 0;
  executor.lastSeenAt = now;
  becomeIdle(state, executor);
}

/** Joins the idle ones of its pool, if it may be given a task now. */
export function becomeIdle(state: State, executor: Executor): void {
  if (!executor.connected || executor.occupation !== null) return;
  if (executor.drainRequested || executor.leaving) return;
  const pool = state.pools.get(executor.poolKey);
  if (pool === undefined || pool.idle.has(executor)) return;
  pool.idle.add(executor);
  state.freed.add(executor);
}

/** It is given no task until it becomes idle again. */
export function leaveIdle(state: State, executor: Executor): void {
  state.pools.get(executor.poolKey)?.idle.delete(executor);
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
  out.effects.push({ type: 'observe', event: 'stale_attempt', taskId, attempt, executorId });
}
