/**
 * Ending a running attempt. The wish is written first, then the `cancel` frame goes out; the
 * attempt ends with the executor's report, or is fenced after the grace. A result that was on its
 * way wins if it arrives first. The executor gets nothing new before it reported or lost its lease.
 */
import type { CommandOutcome, Output } from '../effects.ts';
import type { State } from '../state.ts';
import { type CancelReason, isTerminal, type Task } from '../task.ts';
import { endAttempt, finish } from './finish.ts';

/** A waiting task ends at once; a running one is told to, and the wish is what is answered. */
export function cancelRequested(
  state: State,
  task: Task,
  now: number,
  out: Output,
): CommandOutcome {
  if (isTerminal(task.state)) return { code: 409, message: `the task is ${task.state} already` };
  if (task.state === 'waiting') {
    finish(state, task, 'canceled', null, now, out);
  } else {
    beginEnding(state, task, 'canceled', now, out);
  }
  return { code: 200 };
}

/** A user's wish replaces any other reason; otherwise the first reason stands. */
export function beginEnding(
  state: State,
  task: Task,
  reason: CancelReason,
  now: number,
  out: Output,
): void {
  const outranks =
    reason === 'canceled' || (reason === 'deadline' && task.cancelReason !== 'canceled');
  if (task.cancelReason === reason || (task.cancelReason !== null && !outranks)) return;
  task.cancelRequestedAt ??= now;
  task.cancelReason = reason;
  out.changes.push({ type: 'taskUpdated', task });
  sendCancel(state, task, now, out);
}

/** Tells the executor, and starts the grace. Once more when it comes back in the middle of it. */
export function sendCancel(state: State, task: Task, now: number, out: Output): void {
  if (task.cancelReason === null) return;
  const executor = state.executors.get(task.executorId ?? '');
  const { cancelGraceMs } = state.policy;
  const { attempt } = task;
  state.deadlines.push({ at: now + cancelGraceMs, kind: 'grace', task, attempt });
  if (executor === undefined || executor.sessionId === null) return;
  out.effects.push({
    type: 'sendToExecutor',
    sessionId: executor.sessionId,
    command: {
      type: 'cancel',
      taskId: task.id,
      attempt,
      reason: task.cancelReason,
      graceMs: cancelGraceMs,
    },
  });
}

/** The grace is over and the executor has not reported. */
export function graceEnded(state: State, task: Task, now: number, out: Output): void {
  const executor = state.executors.get(task.executorId ?? '');
  if (executor !== undefined) {
    // It hears of it when it is back, or loses its lease. To begin its grace earlier would let a
    // second attempt overlap with one that was never told to end (P5).
    const { cancelGraceMs, leaseMs } = state.policy;
    const at = executor.connected ? (executor.connectedAt ?? 0) + cancelGraceMs : now + leaseMs;
    if (at > now) {
      state.deadlines.push({ at, kind: 'grace', task, attempt: task.attempt });
      return;
    }
  }
  const message = `told to end (${task.cancelReason}), did not report within the grace`;
  endAttempt(state, task, { outcome: 'canceled', error: { message } }, now, out);
}
