/**
 * Keeps what somebody's command has changed: a row more among the changes of its step, so that both are committed
 * together, or neither. A command that changes nothing leaves none.
 */
import { type Audit, taskIn } from '../changes.ts';
import type { Output } from '../effects.ts';
import type { Event, Requested } from '../events.ts';
import { isOfBookings, type OnBooking } from '../booking/set.ts';
import { jobSubject } from '../jobs/audit.ts';
import { isAskedOfJobs } from '../jobs/on-jobs.ts';
import { changeMade, type Fields, type Outcome } from '../model/audit.ts';
import type { Booking } from '../booking/booking.ts';
import type { ExecutorRecord } from '../model/executor.ts';
import type { Pause, RowScope } from '../model/pause.ts';
import type { SharedLimit } from '../model/shared-limit.ts';
import { filterFields } from '../model/task-filter.ts';
import type { TaskType } from '../model/task-type.ts';
import { movedTo, type Notification, type Task } from '../model/task.ts';
import { pauseKey, type Settings, type State } from '../state/state.ts';

/** What a command is about, where that is written, and how it is now. */
interface Subject extends Omit<Outcome, 'before' | 'after'>, Pick<Audit, 'table'> {
  readonly now: () => Fields | null;
}

/** As JSON text: what has changed of a thing that is as it was. */
const NOTHING = '{}';
/** Other than a task, whose params are told by their length, and an executor, which may be removed without a row. */
const TOLD_WHOLLY: ReadonlySet<Audit['table']> = new Set([
  'settings',
  'type',
  'limit',
  'view',
  'pause',
]);

/** Steps the event, and notes what of its subject is another then. */
export function noting(
  state: State,
  event: Event,
  now: number,
  out: Output,
  apply: () => void,
): void {
  const { author } = event;
  if (author === undefined || !('request' in event)) return apply();
  const { changes, effects } = out;
  const [changeCount, effectCount] = [changes.length, effects.length];
  const { now: look, table, ...about } = subjectOf(state, event, out, changeCount);
  const before = look();
  apply();
  const isChanged = changes.length > changeCount;
  const isDone = effects.slice(effectCount).some((effect) => {
    return effect.type === 'reply' && 'kind' in effect.reply && effect.reply.kind === 'done';
  });
  // Who is gone may have no row, and yet is forgotten.
  if (!isDone || (!isChanged && event.type !== 'removeRequested')) return;
  const record = changeMade(author, now, { ...about, before, after: look() });
  const isSame = record.before === NOTHING && record.after === NOTHING;
  if (isSame && TOLD_WHOLLY.has(table)) return;
  changes.push({ op: 'audit', table, record });
}

/** @param from which of the changes are those of this command. */
function subjectOf(state: State, event: Requested, out: Output, from: number): Subject {
  if (isAskedOfJobs(event)) return jobSubject(state, event, out, from);
  if (isOfBookings(event)) return bookingSubject(state, event);
  switch (event.type) {
    case 'settingsChanged': {
      const reason = event.paused?.reason ?? null;
      const target = event.author?.namespace ?? null;
      return { table: 'settings', target, reason, now: () => settingsFields(state.settings) };
    }
    case 'typeSet':
    case 'typeRemoved':
    case 'typePaused':
    case 'typeResumed':
    case 'typeOverridden':
      return {
        table: 'type',
        target: event.name,
        reason: reasonOf(event),
        now: () => typeFields(state.types.get(event.name)),
      };
    case 'limitSet': {
      const now = () => limitFields(state.supplies.get(event.name)?.limit);
      return { table: 'limit', target: event.name, now };
    }
    case 'viewSet': {
      const now = () => viewFields(state.views.get(event.name)?.query);
      return { table: 'view', target: event.name, now };
    }
    case 'drainRequested':
    case 'resumeRequested':
    case 'removeRequested':
    case 'relabelRequested': {
      const { executorId: target } = event;
      const now = () => executorFields(state.executorRecords.get(target));
      return { table: 'executor', target, reason: reasonOf(event), now };
    }
    case 'pauseSet': {
      const { scope, value, pause } = event;
      const now = () => pauseFields(state.pauses.get(pauseKey(scope, value)));
      const target = pauseTarget(scope, value);
      return { table: 'pause', target, reason: pause?.reason ?? null, now };
    }
    case 'cancelRequested':
    case 'retryRequested':
    case 'suspendRequested':
    case 'taskResumeRequested':
    case 'moveRequested':
    case 'changeRequested': {
      const { taskId: target, task: stored } = event;
      const now = () => taskFields(written(out, from, target) ?? state.tasks.get(target) ?? stored);
      return { table: 'task', target, reason: reasonOf(event), now };
    }
    case 'deleteRequested': {
      const { taskId: target, task } = event;
      const now = () => (out.changes.length === from ? taskFields(task) : null);
      return { table: 'history', target, now };
    }
    case 'workRequested':
    case 'workSteered':
      return workSubject(state, event);
    case 'redeliverRequested': {
      const now = () => callbackFields(event.notification);
      return { table: 'history', target: event.taskId, now };
    }
    case 'tasksSubmitted':
      return { table: 'task', target: event.tasks[0]?.id ?? null, now: () => null };
  }
}

/** Many tasks: by what they were chosen and how many they were, once; none of them by itself. */
function workSubject(
  { works }: State,
  event: Extract<Event, { type: 'workRequested' | 'workSteered' }>,
): Subject {
  if (event.type === 'workSteered') {
    const state = () => works.byId.get(event.workId)?.state;
    return { table: 'work', target: event.workId, now: () => ({ state: state() }) };
  }
  const { id: target, ids, counts } = event.work;
  const { reason } = event.work.request;
  if (event.work.kind === 'backfill') {
    const { job, trigger, from, until: to, which, action, maxRunning } = event.work.request;
    const chosen = { job, trigger, from, to, which, max_running: maxRunning };
    const now = () => (works.byId.has(target) ? { action } : null);
    return { table: 'work', target, filter: chosen, count: counts.total, reason, now };
  }
  const { action, change, filter } = event.work.request;
  const chosen = filter === null ? { ids } : filterFields(filter);
  const now = () => (works.byId.has(target) ? { action, change } : null);
  return { table: 'work', target, filter: chosen, count: counts.total, reason, now };
}

function bookingSubject({ bookings }: State, event: OnBooking): Subject {
  const target = event.type === 'bookingRequested' ? event.booking.id : event.bookingId;
  return { table: 'booking', target, now: () => bookingFields(bookings.byId.get(target)) };
}

function reasonOf(event: Requested): string | null {
  if (event.type === 'typeOverridden') return event.layer?.reason ?? null;
  return 'reason' in event ? (event.reason ?? null) : null;
}

/** As one of these changes writes it: it may be in no memory. */
function written({ changes }: Output, from: number, taskId: string): Task | null {
  for (const change of changes.slice(from)) {
    if (!('row' in change)) continue;
    const task = taskIn(change.row);
    if (task?.id === taskId) return task;
  }
  return null;
}

/** Of a namespace. */
export function settingsFields(settings: Settings): Fields {
  const { maxWaiting: max_waiting, maxRunning: max_running, retention, paused } = settings;
  return { max_waiting, max_running, retention, ...pauseFields(paused) };
}

/** As `group:news`; of all namespaces there is one. */
export function pauseTarget(scope: RowScope, value: string): string {
  return scope === 'all' ? scope : `${scope}:${value}`;
}

export function pauseFields(paused: Pause | null | undefined): Fields {
  return {
    paused_at: paused?.at,
    paused_by: paused?.by,
    paused_reason: paused?.reason,
    paused_until: paused?.until,
  };
}

function typeFields(row: TaskType | undefined): Fields | null {
  if (row === undefined) return null;
  const { text, paused, override } = row;
  return {
    ...(JSON.parse(text) as Fields),
    ...pauseFields(paused),
    override: override && (JSON.parse(override.text) as Fields),
    override_until: override?.until,
  };
}

function limitFields(limit: SharedLimit | undefined): Fields | null {
  return limit === undefined ? null : { max: limit.max, per: limit.per };
}

function bookingFields(booking: Booking | undefined): Fields | null {
  if (booking === undefined) return null;
  const { type, group, from, to, count, state, skips } = booking;
  return { type, group, from_at: from, to_at: to, count, state, skips };
}

function viewFields(query: string | undefined): Fields | null {
  return query === undefined ? null : { query: JSON.parse(query) as unknown };
}

function executorFields(record: ExecutorRecord | undefined): Fields {
  return {
    drained_at: record?.drainedAt,
    drained_until: record?.drainDeadlineAt,
    labels: record?.labels,
    reserve: record?.reserve,
  };
}

function callbackFields(callback: Notification | null | undefined): Fields | null {
  return callback ? { callback: callback.state, tries: callback.tries } : null;
}

/** What may be asked for of it, but its params, which may be large and hold anything; and what becomes of it. */
function taskFields(task: Task | null | undefined): Fields | null {
  if (task === null || task === undefined) return null;
  const seconds = (ms: number | null) => ms && ms / 1000;
  return {
    state: task.state,
    cancel_reason: task.cancelReason,
    priority: task.priority,
    place: movedTo(task),
    due_at: task.dueAt,
    attempts_used: task.attemptsUsed,
    labels: task.labels,
    requires: task.requires,
    user: task.user,
    notify_url: task.notifyUrl,
    params: { length: task.params.length },
    retry: task.retry,
    assign_timeout: seconds(task.assignTimeoutMs),
    execution_timeout: seconds(task.executionTimeoutMs),
    stall_timeout: seconds(task.stallTimeoutMs),
    start_timeout: seconds(task.startTimeoutMs),
    start_timeout_action: task.startTimeoutAction,
    disk_bytes: task.diskBytes,
    uses: task.uses,
    booking: task.booking,
    deadline_at: task.deadlineAt,
  };
}
