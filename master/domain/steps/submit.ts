/** A submitted task is accepted or refused. */
import { taskInserted } from '../changes.ts';
import { tellTask } from '../feed/tell.ts';
import type { Event, NewTask } from '../events.ts';
import type { LimitReached, Output, SubmitOutcome } from '../effects.ts';
import { announceTasks } from '../booking/announce.ts';
import { bookedAs, countBooked } from '../booking/tasks.ts';
import { runBegan } from '../jobs/activity.ts';
import { fullFor } from '../limits/quota.ts';
import { isCrowded } from '../limits/places.ts';
import { missingLimit } from '../operators/limits.ts';
import { crowdOf } from '../queue/lanes.ts';
import { enqueue } from '../queue/waiting.ts';
import type { State } from '../state/state.ts';
import { NO_USES, type Use, usesOfBoth } from '../model/shared-limit.ts';
import { count } from '../usage/count.ts';
import { startLimitOf, type Task, type TaskSpec } from '../model/task.ts';

type Refusal = { readonly kind: 'full'; readonly message: string } | LimitReached;

/** One outcome for each task, in order: of two with one id the first is accepted. */
export function tasksSubmitted(
  state: State,
  event: Extract<Event, { type: 'tasksSubmitted' }>,
  now: number,
  out: Output,
): void {
  // A task that is only in the store is not in `state.tasks`; an earlier one of this very batch
  // may be such a task.
  const accepted = new Map<string, string>();
  const booked = new Map<string, string[]>();
  const reply = event.tasks.map((task): SubmitOutcome => {
    const holderHash = event.taken?.get(task.id) ?? accepted.get(task.id);
    const outcome = accept(state, task, holderHash, now, out);
    if (outcome.kind !== 'accepted') return outcome;
    accepted.set(task.id, task.requestHash);
    const { booking = null } = task;
    if (booking !== null) booked.set(booking, [...(booked.get(booking) ?? []), task.id]);
    return outcome;
  });
  for (const [booking, taskIds] of booked) announceTasks(state, taskIds, booking, now, out);
  out.effects.push({ type: 'reply', request: event.request, reply });
}

/** One task, unless its id is in use: `holder` is the digest of whoever has it. */
export function accept(
  state: State,
  request: NewTask,
  holder: string | undefined,
  now: number,
  out: Output,
): SubmitOutcome {
  const taskId = request.id;
  const holderHash = holder ?? state.tasks.get(taskId)?.requestHash ?? null;
  if (holderHash !== null) return { taskId, kind: 'taken', holderHash };
  // Only of what is new: a repetition may come when its type, or the time, allows no such task any more.
  if (request.misfits !== undefined) return { taskId, kind: 'misfit' };
  const missing = missingLimit(state, request.uses);
  if (missing !== undefined) return { taskId, kind: 'misfit', missingLimit: missing };
  if (request.deadlineAt !== null && request.deadlineAt <= now)
    return { taskId, kind: 'overdue', now };
  if (!state.accepting) return { taskId, kind: 'closed', message: 'the master is shutting down' };
  const booked = bookedAs(state, request, now);
  if (booked.kind !== 'fits') return { taskId, ...booked };
  const task = createTask(state, booked.request, now);
  const refusal = refusalOf(state, task, out);
  if (refusal !== null) return { taskId, ...refusal };
  state.lastSeq = task.seq;
  out.changes.push(taskInserted(task));
  runBegan(state, task, out);
  if (task.booking !== null) countBooked(state, task.booking, 1);
  count(state, out, task, now, { submitted: 1 });
  out.observed.push({ event: 'task_accepted', task });
  tellTask(state, out, 'task.submitted', task, now, saidOf(task, now));
  enqueue(state, task, now, out);
  return { taskId, kind: 'accepted' };
}

function saidOf({ dueAt, job }: Task, now: number) {
  if (dueAt <= now && job === null) return undefined;
  return { ...(dueAt > now && { due_at: dueAt }), ...(job !== null && { job: job.name }) };
}

/** Why no further such task may begin to wait, or null. */
export function refusalOf(state: State, task: Task, out: Output): Refusal | null {
  const { policy, settings, waitingCount, suspendedCount } = state;
  // What is suspended is kept as well, for as long as nobody resumes it.
  const keptCount = waitingCount + suspendedCount;
  if (keptCount >= policy.waitingCountMax) {
    return { kind: 'full', message: `${keptCount} waiting or suspended already` };
  }
  const { maxWaiting } = settings;
  if (maxWaiting !== null && waitingCount >= maxWaiting) {
    const message = `${waitingCount} waiting already, and max_waiting is ${maxWaiting}`;
    return { kind: 'limited', limit: 'max_waiting', message };
  }
  const quota = state.quotas.get(task.type);
  const full = quota && fullFor(quota, task.user.group);
  if (full) {
    const { name: limit, max, used } = full;
    const message = `${used} of type ${task.type} waiting already, and ${limit} is ${max}`;
    return { kind: 'limited', limit, message };
  }
  if (isCrowded(state, task)) {
    const message = `tasks of ${state.gates.size} values of limits.concurrency wait already`;
    return { kind: 'full', message };
  }
  const crowd = crowdOf(state, task, out);
  return crowd === null ? null : { kind: 'full', message: crowd };
}

/** What it asks for itself, or what is set for its type. */
function diskBytesOf({ types }: State, { type, diskBytes }: NewTask): number | null {
  return diskBytes ?? types.get(type)?.needs.diskBytes ?? null;
}

/** What it asks for of shared limits, and what else its type takes of them. */
function usesFor({ types }: State, { type, uses }: NewTask): readonly Use[] {
  return usesOfBoth(types.get(type)?.uses ?? NO_USES, uses);
}

function createTask(state: State, request: NewTask, now: number): Task {
  const { policy } = state;
  const asked: Beginning = {
    seq: state.lastSeq + 1,
    id: request.id,
    type: request.type,
    params: request.params,
    labels: request.labels,
    requires: request.requires,
    user: request.user,
    notifyUrl: request.notifyUrl,
    requestHash: request.requestHash,
    submittedAt: now,
    retry: request.retry,
    assignTimeoutMs: request.assignTimeoutMs ?? policy.assignTimeoutMs,
    executionTimeoutMs: request.executionTimeoutMs ?? policy.executionTimeoutMs,
    stallTimeoutMs: request.stallTimeoutMs,
    startTimeoutMs: request.startTimeoutMs ?? policy.startTimeoutMs,
    startTimeoutAction: request.startTimeoutAction ?? 'fail',
    diskBytes: diskBytesOf(state, request),
    uses: usesFor(state, request),
    deadlineAt: request.deadlineAt,
    traceparent: request.traceparent,
    job: request.job ?? null,
    booking: request.booking ?? null,
    version: 0,
    priority: request.priority,
    lane: 0,
    attempt: 0,
    executorId: null,
    checkpoint: null,
  };
  return newRun(asked, Math.max(request.runAt ?? now, now));
}

/** What any later run of a task has of the one before. */
type Beginning = TaskSpec &
  Pick<Task, 'version' | 'priority' | 'lane' | 'attempt' | 'executorId' | 'checkpoint'>;

/**
 * A task at the beginning of a run, its first or any later one. All fields at once, in the order of those
 * that are read from rows: to add some to a copy is slow where there are many.
 */
export function newRun(of: Beginning, dueAt: number): Task {
  const orderTime = orderTimeOf(dueAt, of.priority);
  return {
    seq: of.seq,
    id: of.id,
    type: of.type,
    params: of.params,
    labels: of.labels,
    requires: of.requires,
    lane: of.lane,
    user: of.user,
    notifyUrl: of.notifyUrl,
    requestHash: of.requestHash,
    submittedAt: of.submittedAt,
    retry: of.retry,
    assignTimeoutMs: of.assignTimeoutMs,
    executionTimeoutMs: of.executionTimeoutMs,
    stallTimeoutMs: of.stallTimeoutMs,
    startTimeoutMs: of.startTimeoutMs,
    startTimeoutAction: of.startTimeoutAction,
    diskBytes: of.diskBytes,
    uses: of.uses,
    deadlineAt: of.deadlineAt,
    traceparent: of.traceparent,
    job: of.job,
    booking: of.booking,
    state: 'waiting',
    version: of.version,
    priority: of.priority,
    gate: null,
    orderTime,
    queueTime: orderTime,
    dueAt,
    startBy: startLimitOf(of, dueAt),
    attempt: of.attempt,
    attemptsUsed: 0,
    crashCount: 0,
    executorId: of.executorId,
    incarnation: null,
    contactCount: 0,
    hiddenMs: 0,
    stallHiddenMs: 0,
    offeredAt: null,
    startedAt: null,
    cancelRequestedAt: null,
    cancelReason: null,
    suspension: null,
    progressPercent: null,
    progressState: null,
    progressDetail: null,
    progressAt: null,
    checkpoint: of.checkpoint,
    eventCount: 0,
    error: null,
    lastOutcome: null,
    result: null,
    finishedAt: null,
    retention: null,
    failureReason: null,
  };
}

/** Priority is seconds of head start: it moves a task ahead of those of its age. */
export function orderTimeOf(since: number, priority: number): number {
  return since - priority * 1000;
}
