/**
 * How attempts and tasks end. Every end of an attempt, whatever its cause, passes through
 * `endAttempt`; every end of a task through `finish`.
 */
import { attemptRecorded, taskFinished, taskUpdated } from '../changes.ts';
import type { Output } from '../effects.ts';
import { shortOf, tellAttempt, tellAttemptEnd, tellTask } from '../feed/tell.ts';
import { countBooked, endOfBooking, isPastBooking, noteRan } from '../booking/tasks.ts';
import { count, countAttempt } from '../usage/count.ts';
import { runEnded } from '../jobs/activity.ts';
import type { Doubt, Executor } from '../model/executor.ts';
import { dequeue, enqueue, setAside } from '../queue/waiting.ts';
import { countEnd } from '../queue/route.ts';
import { backoffMs } from '../model/retry-policy.ts';
import { random01, startClock, type State } from '../state/state.ts';
import {
  type AttemptError,
  type AttemptOutcome,
  type AttemptRecord,
  type FailureReason,
  isAtRest,
  isLoss,
  isStartOverdue,
  type Notification,
  startByAfter,
  startLimitOf,
  type Task,
  type TerminalState,
  waits,
} from '../model/task.ts';
import { beginDoubt, countLoss, forgetDoubts } from '../state/doubt.ts';
import { uncountOffer } from './limits.ts';
import { send } from './notify.ts';
import { holderOf, noteEnd } from './occupation.ts';
import { orderTimeOf } from './submit.ts';

/** A task that fails at once, and is to be tried again at once, would write rows without end. */
const RETRY_DELAY_MS_MIN = 100;

/** An end without success, as it was reported or found out. */
export interface AttemptEnd {
  readonly outcome: Exclude<AttemptOutcome, 'succeeded'>;
  readonly error: AttemptError | null;
  /** False ends the task: the executor said that trying again is of no use. */
  readonly retryable?: boolean;
  /** Ends the task too, and uses up no attempt. */
  readonly isInputUnavailable?: boolean;
  readonly retryAfterMs?: number | null;
  /** A loss that counts in no budget. */
  readonly isExcused?: boolean;
  /** A loss that counts once it is decided what it was. */
  readonly doubt?: Doubt;
}

/** The newest attempt of an offered or running task ended without success: again, or no more? */
export function endAttempt(
  state: State,
  task: Task,
  end: AttemptEnd,
  now: number,
  out: Output,
): void {
  const outcome = outcomeOf(task, end.outcome);
  recordAttempt(state, task, outcome, end.error, now, out);
  if (outcome === 'rejected') uncountOffer(state, task, out);
  settleEnding(state, task, out);
  task.lastOutcome = outcome;
  if (end.error !== null) task.error = end.error;

  // A wish to end the task itself wins over any way in which the attempt has ended.
  if (task.cancelReason === 'canceled') return finish(state, task, 'canceled', null, now, out);
  if (task.cancelReason === 'booking_end') return finishBooked(state, task, now, out);
  if (task.cancelReason === 'deadline' || (task.deadlineAt !== null && task.deadlineAt <= now)) {
    return finish(state, task, 'expired', 'deadline', now, out);
  }
  if (task.cancelReason === 'suspended') {
    // It has gone on after its window, and would wait for executors that never come.
    const isOver = isPastBooking(state, task, task.dueAt);
    return isOver ? finishBooked(state, task, now, out) : suspend(state, task, now, out);
  }
  if (outcome === 'failed' && end.isInputUnavailable === true) {
    return finish(state, task, 'failed', 'input_unavailable', now, out);
  }
  if (outcome === 'failed' || outcome === 'timed_out') {
    const executor = holderOf(state, task);
    if (executor !== undefined) countEnd(executor, true);
    task.attemptsUsed++;
    if (end.retryable === false) {
      return finish(state, task, 'failed', 'non_retryable', now, out);
    }
    if (task.retry.maxAttempts > 0 && task.attemptsUsed >= task.retry.maxAttempts) {
      return finish(state, task, 'failed', 'attempts_exhausted', now, out);
    }
    const wanted = end.retryAfterMs ?? backoffMs(task.retry, task.attemptsUsed, random01(state));
    const delayMs = Math.max(wanted, RETRY_DELAY_MS_MIN);
    const dueAt = now + delayMs;
    // Priority is left out: a head start larger than the wait would cancel the wait. Where
    // there is none to cancel it stays.
    task.orderTime = wanted > RETRY_DELAY_MS_MIN ? dueAt : orderTimeOf(dueAt, task.priority);
    task.queueTime = task.orderTime;
    return requeue(state, task, dueAt, now, out);
  }
  if (outcome === 'lost' && end.doubt !== undefined) {
    return requeue(state, task, beginDoubt(state, task, end.doubt, now), now, out);
  }
  if (isLoss(outcome) && !end.isExcused && countLoss(state, task, outcome)) {
    return finish(state, task, 'failed', 'crash_budget', now, out);
  }
  if (task.startedAt === null && isStartOverdue(task, startClock(state, now, task))) {
    return finish(state, task, 'failed', 'not_started', now, out);
  }
  // No fault of the task: it keeps its place.
  requeue(state, task, now, now, out);
}

/** What ended an attempt that was told to end is the reason why it was told. */
function outcomeOf(task: Task, reported: AttemptEnd['outcome']): AttemptOutcome {
  switch (task.cancelReason) {
    case null:
      // Nobody told it: the handler gave up by itself.
      return reported === 'canceled' ? 'failed' : reported;
    case 'canceled':
    case 'suspended':
    case 'booking_end':
      return 'canceled';
    case 'execution_timeout':
    case 'stalled':
    case 'deadline':
      return 'timed_out';
    case 'drain':
    case 'preempted':
      return isLoss(reported) ? reported : 'returned';
  }
}

/** Whatever it was told, it is over now: its executor is listened to again. */
function settleEnding(state: State, task: Task, out: Output): void {
  const executor = holderOf(state, task);
  if (executor === undefined) return;
  state.unsettled.add(executor);
  executor.ending = null;
  if (executor.isFrozen) setFrozen(executor, false, out);
}

/** Frozen: nothing that this process says renews its lease, nor is it answered. */
export function setFrozen(executor: Executor, isFrozen: boolean, out: Output): void {
  executor.isFrozen = isFrozen;
  const { id: executorId, incarnation } = executor;
  out.effects.push({ type: 'freezeExecutor', executorId, incarnation, isFrozen });
}

function recordAttempt(
  state: State,
  task: Task,
  outcome: AttemptOutcome,
  error: AttemptError | null,
  now: number,
  out: Output,
): void {
  const attempt: AttemptRecord = {
    taskSeq: task.seq,
    attempt: task.attempt,
    executorId: task.executorId ?? '',
    incarnation: task.incarnation,
    session: holderOf(state, task)?.sessionId ?? null,
    outcome,
    offeredAt: task.offeredAt ?? now,
    startedAt: task.startedAt,
    endedAt: now,
    error,
  };
  out.changes.push(...attemptRecorded(attempt));
  countAttempt(state, out, task, outcome, now);
  noteRan(state, task, now, out);
  const executor = holderOf(state, task);
  if (executor !== undefined && task.startedAt !== null)
    noteEnd(state, executor, task, outcome, now);
  out.observed.push({ event: 'attempt_ended', task, attempt });
  tellEnd(state, task, attempt, out);
}

/** An offer that came to nothing is told as what it was. */
function tellEnd(
  state: State,
  task: Task,
  { outcome, error, endedAt }: AttemptRecord,
  out: Output,
): void {
  const short = error && { error: shortOf(error.message) };
  if (outcome === 'assign_timeout') tellAttempt(state, out, 'task.assign_timeout', task, endedAt);
  else if (outcome === 'rejected')
    tellAttempt(state, out, 'task.rejected', task, endedAt, short ?? { error: '' });
  else tellAttemptEnd(state, out, task, endedAt, { outcome, ...short });
}

function requeue(state: State, task: Task, dueAt: number, now: number, out: Output): void {
  if (isPastBooking(state, task, dueAt)) return finishBooked(state, task, now, out);
  const clock = startClock(state, now, task);
  // An offer that came to nothing is no start: the time that is left goes on. What has passed of a
  // pause is credited here: its end credits only what comes after the new due time.
  if (task.startedAt !== null || dueAt > now) task.startBy = startLimitOf(task, dueAt);
  else if (clock < now) task.startBy = startByAfter(task, clock, now);
  task.state = 'waiting';
  task.dueAt = dueAt;
  task.incarnation = null;
  task.offeredAt = null;
  task.startedAt = null;
  task.cancelRequestedAt = null;
  task.cancelReason = null;
  state.open.forget(task);
  state.unwritten.delete(task);
  out.changes.push(taskUpdated(task));
  enqueue(state, task, now, out);
}

/**
 * No executor has it any more, and none is to have it until somebody resumes it. It keeps its place in the order;
 * it is to be started anew then.
 */
export function suspend(state: State, task: Task, now: number, out: Output): void {
  if (waits(task)) dequeue(state, task);
  task.state = 'suspended';
  task.startBy = null;
  task.incarnation = null;
  task.offeredAt = null;
  task.startedAt = null;
  task.cancelRequestedAt ??= now;
  task.cancelReason = 'suspended';
  state.open.forget(task);
  state.unwritten.delete(task);
  out.changes.push(taskUpdated(task));
  tellTask(state, out, 'task.suspended', task, now);
  setAside(state, task, out);
}

/** Whether a waiting task may not be offered any more: it has to end. */
export function isOverdue(state: State, task: Task, now: number): boolean {
  if (isExpired(task, now)) return true;
  // The clock of starts is never ahead.
  return isStartOverdue(task, now) && isStartOverdue(task, startClock(state, now, task));
}

/**
 * Ends a waiting task that is overdue; what came after it in its lane may be next. Of one that is only
 * to be told of, this tells.
 */
export function settleOverdue(state: State, task: Task, now: number, out: Output): void {
  if (!isOverdue(state, task, now)) return tellStartOverdue(state, task, now, out);
  if (isExpired(task, now)) finish(state, task, 'expired', 'deadline', now, out);
  else finish(state, task, 'failed', 'not_started', now, out);
  const lane = state.lanes.get(task.lane);
  if (lane !== undefined) state.roused.add(lane);
}

/** Once: the row remembers it. */
export function tellStartOverdue(state: State, task: Task, now: number, out: Output): void {
  if (task.startTimeoutAction !== 'alert' || task.startBy === null) return;
  if (task.startBy > startClock(state, now, task)) return;
  task.startBy = null;
  out.changes.push(taskUpdated(task));
  out.observed.push({ event: 'start_overdue', task });
  tellTask(state, out, 'task.start_overdue', task, now);
}

function isExpired({ deadlineAt }: Task, now: number): boolean {
  return deadlineAt !== null && deadlineAt <= now;
}

/** It ends with its booking, and says so: nobody has canceled it. What an attempt has said is in the timeline. */
export function finishBooked(state: State, task: Task, now: number, out: Output): void {
  const error = { name: 'booking_end', message: endOfBooking(state, task) };
  finish(state, task, 'canceled', null, now, out, error);
}

/** The terminal transition: it happens once for each run of a task, and never from a terminal state. */
export function finish(
  state: State,
  task: Task,
  to: TerminalState,
  reason: FailureReason | null,
  now: number,
  out: Output,
  error: AttemptError | null = task.error,
): void {
  const wasAtRest = isAtRest(task);
  if (wasAtRest) dequeue(state, task);
  else settleEnding(state, task, out);
  forgetDoubts(state, task);
  state.tasks.delete(task.id);
  state.givenBack.delete(task.seq);
  state.open.forget(task);
  state.unwritten.delete(task);
  task.state = to;
  task.error = error;
  // It stands in no queue any more.
  task.queueTime = task.orderTime;
  const { retention } = state.settings;
  task.finishedAt = now;
  task.retention = retention;
  task.failureReason = reason;
  task.suspension = null;
  task.eventCount = 0;
  const notification: Notification | null =
    task.notifyUrl === null
      ? null
      : {
          taskSeq: task.seq,
          taskId: task.id,
          type: task.type,
          user: task.user,
          url: task.notifyUrl,
          finishedAt: now,
          retention,
          state: 'pending',
          tries: 0,
          triesSince: now,
          nextTryAt: now,
          lastStatus: null,
          lastError: null,
          deliveredAt: null,
        };
  out.changes.push(...taskFinished(task, { finishedAt: now, retention }, notification));
  runEnded(state, task, now, out);
  if (task.booking !== null) countBooked(state, task.booking, -1);
  count(state, out, task, now, { [to]: 1 });
  out.observed.push({ event: 'task_finished', task });
  const how = reason === null ? { state: to } : { state: to, reason };
  const tellIt = wasAtRest ? tellTask : tellAttempt;
  tellIt(state, out, 'task.finished', task, now, how);
  if (notification !== null) send(state, notification, task, out);
}
