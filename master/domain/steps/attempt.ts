/**
 * What executors say about their attempts. Every such event names task and attempt; only the
 * newest attempt of a live task may change it (P4). A stale one is refused, told to stop, and
 * changes nothing.
 */
import { forgetRefusal, noteRefusal } from '../booking/candidates.ts';
import { noteRan } from '../booking/tasks.ts';
import { checkpointSaved, logEnded } from '../changes.ts';
import { tellAttempt, tellByExecutor, tellSoon } from '../feed/tell.ts';
import { RETURN_COUNT_MAX } from '../bounds.ts';
import type { Event } from '../events.ts';
import type { Output } from '../effects.ts';
import type { Executor } from '../model/executor.ts';
import type { State } from '../state/state.ts';
import type { Task } from '../model/task.ts';
import { countAttempt } from '../usage/count.ts';
import { endAttempt, finish, tellStartOverdue } from './finish.ts';
import { countEnd } from '../queue/route.ts';
import {
  bySession,
  currentTask,
  free,
  holderOf,
  noteEnd,
  observeStale,
  occupationBy,
  occupy,
  refuseStale,
  release,
  rouse,
  seen,
} from './occupation.ts';

type About = Extract<Event, { readonly frameSeq: number }>;

export function onAttempt(state: State, event: About, now: number, out: Output): void {
  switch (event.type) {
    case 'attemptAccepted':
      return attemptAccepted(state, event, now, out);
    case 'attemptRejected':
      return attemptRejected(state, event, now, out);
    case 'progressReported':
      return progressReported(state, event, now, out);
    case 'eventTold':
      return eventTold(state, event, now, out);
    case 'alertSaid':
      return alertSaid(state, event, now, out);
    case 'attemptEnded':
      return attemptEnded(state, event, now, out);
  }
}

/** From now on its time counts. */
function attemptAccepted(
  state: State,
  event: Extract<Event, { type: 'attemptAccepted' }>,
  now: number,
  out: Output,
): void {
  const task = receive(state, event, now, out);
  if (task === null) return refuseStale(state, event, out);
  markRunning(state, task, now, out);
}

/** The executor runs it: from here on its time counts. Also when it comes back and says so. */
export function markRunning(state: State, task: Task, now: number, out: Output): void {
  const executor = holderOf(state, task);
  if (executor !== undefined) {
    occupy(state, executor, occupationBy(state, executor, task, true));
    task.incarnation ??= executor.incarnation;
    forgetRefusal(state, executor, task);
  }
  if (task.state === 'running') return;
  task.state = 'running';
  task.startedAt = now;
  task.hiddenMs = 0;
  task.stallHiddenMs = 0;
  tellStartOverdue(state, task, now, out);
  task.startBy = null;
  writeSoon(state, task, now);
  watch(state, task);
  tellSoon(state, 'task.started', task, now);
  const waitedMs = now - Math.max(task.dueAt, task.submittedAt);
  out.observed.push({ event: 'task_started', task, waitedMs });
}

/** Sets the timers of a running attempt. */
export function watch(state: State, task: Task): void {
  const { attempt } = task;
  const executionAt = executionEndsAt(task);
  if (executionAt !== null) {
    state.deadlines.push({ at: executionAt, kind: 'execution', task, attempt });
  }
  const stallAt = stallEndsAt(task);
  if (stallAt !== null) state.deadlines.push({ at: stallAt, kind: 'stall', task, attempt });
}

/** When a running attempt has run for its execution timeout, time that nobody saw left out. */
export function executionEndsAt(task: Task): number | null {
  const { startedAt, executionTimeoutMs, hiddenMs } = task;
  if (startedAt === null || executionTimeoutMs === null) return null;
  return startedAt + hiddenMs + executionTimeoutMs;
}

/** When it has shown no progress for its stall timeout, the same left out. */
export function stallEndsAt(task: Task): number | null {
  const { startedAt, progressAt, stallTimeoutMs, stallHiddenMs } = task;
  if (startedAt === null || stallTimeoutMs === null) return null;
  return Math.max(progressAt ?? 0, startedAt) + stallHiddenMs + stallTimeoutMs;
}

/**
 * Nobody could see it for so long. What is not known of time since the attempt began is not spared
 * twice: at most all of it.
 */
export function spare(task: Task, hiddenMs: number, now: number): void {
  const since = task.startedAt ?? task.offeredAt ?? now;
  const sinceProgress = Math.max(task.progressAt ?? 0, since);
  task.hiddenMs = Math.min(task.hiddenMs + hiddenMs, Math.max(0, now - since));
  task.stallHiddenMs = Math.min(task.stallHiddenMs + hiddenMs, Math.max(0, now - sinceProgress));
}

/** The executor knows how long its handler has run: what was spared for want of that is taken back. */
export function correctHidden(state: State, task: Task, ranMs: number, now: number): void {
  const hiddenMs = Math.max(0, now - (task.startedAt ?? now) - ranMs);
  if (hiddenMs >= task.hiddenMs) return;
  task.hiddenMs = hiddenMs;
  writeSoon(state, task, now);
  watch(state, task);
}

/** The task goes back to its place, to be offered to another; no attempt is used up. */
function attemptRejected(
  state: State,
  event: Extract<Event, { type: 'attemptRejected' }>,
  now: number,
  out: Output,
): void {
  const task = receive(state, event, now, out);
  if (event.isUnproven) return refuseStale(state, event, out);
  const executor = bySession(state, event);
  if (task === null) {
    release(state, executor, event, now);
    return;
  }
  const error = { message: event.message, details: JSON.stringify({ code: event.code }) };
  if (executor !== undefined) {
    coolDown(state, executor, task, now, event.message);
    free(state, executor, now);
  }
  endAttempt(state, task, { outcome: 'rejected', error }, now, out);
}

/**
 * The pair is kept apart for a while, and an executor that keeps refusing is left alone for one
 * that grows, so that neither a pair nor an executor can spin.
 */
export function coolDown(
  state: State,
  executor: Executor,
  task: Task,
  now: number,
  message: string,
): void {
  const { coolDownMs } = state.policy;
  noteRefusal(state, executor, task, now, message);
  executor.coolDowns.set(task.id, now + coolDownMs);
  state.deadlines.push({ at: now + coolDownMs, kind: 'rested', executor });
  rest(state, executor, now);
}

/** From the third offer in a row that came to nothing. */
export function rest(state: State, executor: Executor, now: number): void {
  executor.refusalCount++;
  if (executor.refusalCount < 3) return;
  const { coolDownMs } = state.policy;
  const restMs = Math.min(100 * 2 ** Math.min(executor.refusalCount - 3, 16), coolDownMs);
  executor.restUntil = now + restMs;
  state.deadlines.push({ at: executor.restUntil, kind: 'rested', executor });
}

/** A rest or a cool-down has ended: the executor chooses among all that it may have now. */
export function rested(state: State, executor: Executor, now: number): void {
  for (const [taskId, until] of executor.coolDowns) {
    if (until <= now) executor.coolDowns.delete(taskId);
  }
  if (executor.restUntil <= now) executor.restUntil = 0;
  rouse(state, executor);
}

/** Kept at once, written within a second; a new checkpoint is written at once. */
function progressReported(
  state: State,
  event: Extract<Event, { type: 'progressReported' }>,
  now: number,
  out: Output,
): void {
  const task = receive(state, event, now, out);
  if (task === null) return refuseStale(state, event, out);
  if (event.percent !== null) {
    tellTenth(state, task, event.percent, now);
    task.progressPercent = event.percent;
    state.paces.note(task, event.percent, now);
  }
  // What is said of it holds until the next report, which says it again.
  if (event.percent !== null || event.detail !== undefined) {
    task.progressDetail = event.detail ?? null;
  }
  if (event.state !== undefined) task.progressState = event.state;
  task.progressAt = now;
  task.stallHiddenMs = 0;
  if (event.checkpoint !== undefined && event.checkpoint !== task.checkpoint) {
    task.checkpoint = event.checkpoint;
    // It got further than before: what killed its executors is behind it.
    task.crashCount = 0;
    task.contactCount = 0;
    state.givenBack.delete(task.seq);
    out.changes.push(checkpointSaved(task));
    tellAttempt(state, out, 'task.checkpoint', task, now, { length: event.checkpoint.length });
  }
  state.open.count(task);
  writeSoon(state, task, now);
}

/** Of each attempt every tenth once, however often and in whatever order they are reported. */
function tellTenth(state: State, task: Task, percent: number, now: number): void {
  const tenth = Math.floor(percent / 10);
  const told = state.feed.toldTenths.get(task);
  const before = told?.attempt === task.attempt ? told.tenth : 0;
  if (tenth <= before) return;
  state.feed.toldTenths.set(task, { attempt: task.attempt, tenth });
  tellSoon(state, 'task.progress', task, now, { percent });
}

function eventTold(
  state: State,
  event: Extract<Event, { type: 'eventTold' }>,
  now: number,
  out: Output,
): void {
  const task = receive(state, event, now, out);
  const executor = bySession(state, event);
  if (task === null || executor === undefined) return refuseStale(state, event, out);
  tellByExecutor(state, out, task, executor, event, now);
}

/** Nothing of it is in the state: whoever observes sees to it. */
function alertSaid(
  state: State,
  event: Extract<Event, { type: 'alertSaid' }>,
  now: number,
  out: Output,
): void {
  const task = receive(state, event, now, out);
  const executor = bySession(state, event);
  if (task === null || executor === undefined) return refuseStale(state, event, out);
  if (!state.alertAllowances.take(executor, now)) {
    out.observed.push({ event: 'alert_left_out', task });
    return;
  }
  const { severity, message, fields = null } = event;
  out.observed.push({ event: 'alert_said', task, severity, message, fields });
}

/** The executor is free again, whether or not its word still counts. */
function attemptEnded(
  state: State,
  event: Extract<Event, { type: 'attemptEnded' }>,
  now: number,
  out: Output,
): void {
  const task = receive(state, event, now, out);
  const executor = bySession(state, event);
  // Whose attempt that was is not known: nobody is free for it.
  if (executor !== undefined && !event.isUnproven) {
    if (event.outcome !== 'returned') executor.refusalCount = 0;
    release(state, executor, event, now);
  }
  if (task === null) {
    // Already decided. The frame is confirmed, so that the executor forgets it.
    observeStale(event, out);
    return;
  }
  if (event.logLineCount) out.changes.push(logEnded(task, event.logLineCount));
  if (event.outcome === 'succeeded') {
    task.result = event.result;
    task.error = null;
    task.lastOutcome = 'succeeded';
    task.progressPercent = 100;
    if (executor !== undefined) {
      countEnd(executor, false);
      noteEnd(state, executor, task, 'succeeded', now);
    }
    countAttempt(state, out, task, 'succeeded', now);
    noteRan(state, task, now, out);
    finish(state, task, 'succeeded', null, now, out);
    return;
  }
  const { outcome, error, retryable, isInputUnavailable = false, retryAfterMs } = event;
  const isAsked = task.cancelReason !== null || executor?.leaving || executor?.drainRequested;
  if (outcome === 'returned' && executor !== undefined && !isAsked) {
    return givenBack(state, task, executor, now, out);
  }
  const end = { outcome, error, retryable, isInputUnavailable, retryAfterMs };
  endAttempt(state, task, end, now, out);
}

/**
 * Given back although nobody asked for it. It costs nothing a few times, so that another executor may
 * do better; then it is a failure like any other, or the task would go round for ever.
 */
function givenBack(state: State, task: Task, executor: Executor, now: number, out: Output): void {
  const count = (state.givenBack.get(task.seq) ?? 0) + 1;
  state.givenBack.set(task.seq, count);
  coolDown(state, executor, task, now, 'given back, and nobody had asked for it');
  if (count <= RETURN_COUNT_MAX) {
    return endAttempt(state, task, { outcome: 'returned', error: null }, now, out);
  }
  const message = `given back ${count} times, and nobody had asked for it`;
  endAttempt(state, task, { outcome: 'failed', error: { message } }, now, out);
}

/**
 * The task, if the event is about its newest attempt, from the process that has it, and proves
 * that where it has to.
 */
function receive(state: State, event: About, now: number, out: Output): Task | null {
  const { sessionId, frameSeq } = event;
  const executor = bySession(state, event);
  // In a session that was given up for another: it says so again in that one.
  if (executor === undefined && state.executors.has(event.executorId)) return null;
  out.effects.push({ type: 'confirmFrame', sessionId, frameSeq });
  if (executor === undefined) return null;
  seen(executor, now);
  return event.isUnproven ? null : currentTask(state, executor, event);
}

/** How long what is said of attempts waits, for more of it to be written once. */
export const FLUSH_MS = 1_000;

export function writeSoon(state: State, task: Task, now: number): void {
  if (state.unwritten.size === 0) state.flush.at = now + FLUSH_MS;
  state.unwritten.add(task);
}
