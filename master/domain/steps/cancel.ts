/**
 * Ending a running attempt. The wish is written first, then the `cancel` frame goes out; the
 * attempt ends with the executor's report, or is fenced one grace after the executor has heard of
 * it. A result that was on its way wins if it arrives first. The executor gets nothing new before
 * it reported or lost its lease.
 */
import { taskUpdated } from '../changes.ts';
import { tellAttempt } from '../feed/tell.ts';
import type { CommandOutcome, Output } from '../effects.ts';
import type { Event } from '../events.ts';
import type { Executor } from '../model/executor.ts';
import type { State } from '../state/state.ts';
import { type CancelReason, isAtRest, isTerminal, type Task } from '../model/task.ts';
import { endAttempt, finish, setFrozen } from './finish.ts';
import { bySession, currentTask, holderOf } from './occupation.ts';

/** A waiting or suspended task ends at once; a running one is told to, and the wish is what is answered. */
export function cancelRequested(
  state: State,
  task: Task,
  now: number,
  out: Output,
): CommandOutcome {
  if (isTerminal(task.state))
    return { kind: 'conflict', message: `the task is ${task.state} already` };
  if (isAtRest(task)) {
    finish(state, task, 'canceled', null, now, out);
  } else {
    beginEnding(state, task, 'canceled', now, out);
  }
  return { kind: 'done' };
}

/** Which reasons replace which: what a user wants comes before what time does to an attempt, but for the deadline. */
const RANKS: Readonly<Record<CancelReason, number>> = {
  canceled: 3,
  deadline: 2,
  booking_end: 2,
  suspended: 1,
  execution_timeout: 0,
  stalled: 0,
  drain: 0,
  preempted: 0,
};

/** Of two reasons of one rank the first stands. */
export function beginEnding(
  state: State,
  task: Task,
  reason: CancelReason,
  now: number,
  out: Output,
): void {
  const { cancelReason: before } = task;
  if (before !== null && RANKS[reason] <= RANKS[before]) return;
  task.cancelRequestedAt ??= now;
  task.cancelReason = reason;
  out.changes.push(taskUpdated(task));
  tellAttempt(state, out, 'task.cancel_requested', task, now, { reason });
  sendCancel(state, task, now, out);
}

/**
 * Tells the executor, and starts the grace. Told once more when it comes back in the middle of it,
 * or when the reason has changed; neither gives it more time.
 */
export function sendCancel(state: State, task: Task, now: number, out: Output): void {
  if (task.cancelReason === null) return;
  const executor = holderOf(state, task);
  if (executor === undefined) return;
  beginGrace(state, executor, task, now);
  if (executor.sessionId === null) return;
  out.effects.push({
    type: 'sendToExecutor',
    sessionId: executor.sessionId,
    command: {
      type: 'cancel',
      taskId: task.id,
      attempt: task.attempt,
      reason: task.cancelReason,
      graceMs: state.policy.cancelGraceMs,
    },
  });
}

/** From now on it has one grace to say that it has heard it, and one from then on to end it. */
export function beginGrace(state: State, executor: Executor, task: Task, now: number): void {
  const { id: taskId, attempt } = task;
  if (executor.ending?.taskId === taskId && executor.ending.attempt === attempt) return;
  executor.ending = { taskId, attempt, sentAt: now, acknowledgedAt: null };
  state.deadlines.push({ at: now + state.policy.cancelGraceMs, kind: 'grace', task, attempt });
}

/** The executor knows: its grace counts from here. Only the first time. */
export function cancelAcknowledged(
  state: State,
  event: Extract<Event, { type: 'cancelAcknowledged' }>,
  now: number,
): void {
  const executor = bySession(state, event);
  const ending = executor?.ending;
  if (executor === undefined || !ending || ending.acknowledgedAt !== null) return;
  if (ending.taskId !== event.taskId || ending.attempt !== event.attempt) return;
  const task = currentTask(state, executor, event);
  if (task === null) return;
  ending.acknowledgedAt = now;
  const { attempt } = event;
  state.deadlines.push({ at: now + state.policy.cancelGraceMs, kind: 'grace', task, attempt });
}

/**
 * A grace is over. One who knew and has not reported is fenced. One who may never have heard of it
 * is not answered any more, so that its lease runs out, by its own count too: to fence it at once
 * would let a second attempt overlap with one that was never told to end (P5). Either way it is
 * over a grace and a lease after it was told, however often it reconnects.
 */
export function graceEnded(state: State, task: Task, now: number, out: Output): void {
  const executor = holderOf(state, task);
  const ending = executor?.ending;
  if (executor === undefined || !ending) return;
  const at = (ending.acknowledgedAt ?? ending.sentAt) + state.policy.cancelGraceMs;
  if (at > now) {
    state.deadlines.push({ at, kind: 'grace', task, attempt: task.attempt });
    return;
  }
  if (ending.acknowledgedAt === null) {
    if (!executor.isFrozen) setFrozen(executor, true, out);
    return;
  }
  const message = `told to end (${task.cancelReason}), did not report within the grace`;
  endAttempt(state, task, { outcome: 'canceled', error: { message } }, now, out);
}
