/** Tasks and executors as the API shows them: names of the wire, ISO times, the JSON of others as it is. */
import {
  type ExecutorView,
  jsonObject,
  type TaskSummary,
  type TaskView,
  traceIdOf,
} from '@soda-scheduler/protocol';
import type { ListedAttempt, ShownTask, StoredTask } from '../../application/ports.ts';
import {
  type ExecutorRecord,
  type Override,
  type PastAttempt,
  type Readiness,
  stateOf,
} from '../../domain/model/executor.ts';
import type { CurrentAttempt, SeenExecutor } from '../../domain/views/executors.ts';
import type { EndEstimate } from '../../domain/state/paces.ts';
import type { WaitingReason } from '../../domain/views/explain.ts';
import type { Outlook } from '../../domain/views/outlook.ts';
import type { Pause } from '../../domain/model/pause.ts';
import type { TaskJob } from '../../domain/model/task-job.ts';
import {
  type AttemptError,
  isAtRest,
  isTerminal,
  movedTo,
  type Notification,
  type Task,
} from '../../domain/model/task.ts';
import { pauseFields } from '../../domain/why/details.ts';
import { iso } from '../body/instants.ts';

type AttemptView = TaskView['timeline'][number];

/** Of an attempt in the timeline: there may be two hundred of them. */
const MESSAGE_LENGTH_MAX = 1024;
const DETAILS_BYTES_MAX = 1024;
const HALF_CHARACTER = /[\ud800-\udbff]$/;

/** As JSON text, as all that follows: what others gave as JSON is in it as they wrote it. */
export function taskViewText(
  shown: ShownTask,
  { waiting, end }: Outlook,
  namespace: string,
): string {
  const { task, attempts, notification } = shown;
  const fields = {
    ...summaryFields(task, notification, namespace),
    retry: { max_attempts: task.retry.maxAttempts, interval: intervalOf(task) },
    assign_timeout: task.assignTimeoutMs / 1000,
    execution_timeout: secondsOrNull(task.executionTimeoutMs),
    stall_timeout: secondsOrNull(task.stallTimeoutMs),
    start_timeout: secondsOrNull(task.startTimeoutMs),
    start_timeout_action: task.startTimeoutAction,
    needs: { disk_bytes: task.diskBytes },
    uses: [...task.uses],
    trace_id: task.traceparent === null ? null : traceIdOf(task.traceparent),
    checkpoint_bytes: task.checkpoint === null ? 0 : Buffer.byteLength(task.checkpoint),
    waiting: waiting && waitingView(waiting),
  } satisfies Omit<TaskView, SplicedField | 'timeline'>;
  const timeline = timelineOf(task, attempts).map(({ view, error, detailsBytes }) =>
    jsonObject(view, { error: briefErrorText(error, detailsBytes) }),
  );
  return jsonObject(fields, {
    progress: progressText(task, end),
    error: errorText(errorOf(task)),
    params: task.params,
    result: task.result,
    timeline: `[${timeline.join(',')}]`,
  });
}

/** The same of a task that has ended. */
export function endedTaskText(shown: ShownTask, namespace: string): string {
  return taskViewText(shown, { waiting: null, end: null }, namespace);
}

export function waitingView({ pauses, ...rest }: WaitingReason): NonNullable<TaskView['waiting']> {
  return pauses === undefined ? rest : { ...rest, pauses: pauses.map(pauseFields) };
}

export function pauseView({ at, by, reason, until }: Pause) {
  return { at: iso(at), by, reason, until: iso(until) };
}

/** One attempt with all that is known of it; null where it is not. */
export function attemptViewText({ task, attempts }: ShownTask, attempt: number): string | null {
  const found = timelineOf(task, attempts).find(({ view }) => view.attempt === attempt);
  return found === undefined ? null : jsonObject(found.view, { error: errorText(found.error) });
}

export function taskListText(
  tasks: readonly StoredTask[],
  nextCursor: string | null,
  namespace: string,
): string {
  const summaries = tasks.map(({ task, notification }) =>
    jsonObject(summaryFields(task, notification, namespace), {
      progress: progressText(task),
      error: errorText(withoutDetails(errorOf(task))),
    }),
  );
  return `{"tasks":[${summaries.join(',')}],"next_cursor":${JSON.stringify(nextCursor)}}`;
}

/** What is, or holds, the JSON of others. */
type SplicedField = 'params' | 'result' | 'progress' | 'error';

function summaryFields(
  task: Task,
  notification: Notification | null,
  namespace: string,
): Omit<TaskSummary, SplicedField> {
  return {
    task_id: task.id,
    type: task.type,
    state: task.state,
    namespace,
    version: task.version,
    user: userView(task),
    job: task.job && jobView(task.job),
    booking: task.booking,
    labels: [...task.labels],
    requires: [...task.requires],
    priority: task.priority,
    place: movedTo(task),
    attempt: task.attempt,
    attempts_used: task.attemptsUsed,
    executor_id: task.executorId,
    submitted_at: iso(task.submittedAt),
    due_at: iso(task.dueAt),
    started_at: iso(task.startedAt),
    finished_at: iso(task.finishedAt),
    deadline: iso(task.deadlineAt),
    cancel_requested_at: iso(task.cancelRequestedAt),
    suspended: suspendedView(task),
    failure_reason: task.failureReason,
    notification: notificationView(task, notification),
  };
}

/** Also while its attempt is about to end for that. */
function suspendedView({ cancelReason, suspension }: Task): TaskSummary['suspended'] {
  if (cancelReason !== 'suspended' || suspension === null) return null;
  const { at, by, reason } = suspension;
  return { at: iso(at), by, reason };
}

export function executorView(seen: SeenExecutor): ExecutorView {
  const { executor, record, isSuperseded, current, booked } = seen;
  return {
    executor_id: executor.id,
    state: stateOf(executor),
    superseded: isSuperseded,
    connected: executor.connected,
    draining: executor.drainRequested || executor.leaving,
    ...drainView(record),
    lasting: executor.lasting,
    types: [...executor.types],
    labels: [...(executor.override.labels ?? executor.own.labels)],
    reserve: [...executor.reserve],
    own: { labels: [...executor.own.labels], reserve: [...executor.own.reserve] },
    override: overrideView(executor.override, record?.overrideBy ?? null),
    task_id: current?.taskId ?? null,
    attempt: current?.attempt ?? null,
    current: current && {
      ...attemptOn(current),
      state: current.state,
      since: iso(current.since),
    },
    booked: booked && {
      booking_id: booked.id,
      state: booked.isBound ? 'bound' : 'kept',
      until: iso(booked.until),
    },
    last: executor.past.map((one) => ({
      ...attemptOn(one),
      state: one.outcome,
      at: iso(one.endedAt),
    })),
    host: executor.host,
    pid: executor.pid,
    sdk: executor.sdk,
    version: executor.version || null,
    connected_at: iso(executor.connectedAt),
    last_seen_at: iso(executor.lastSeenAt),
    lease_until: executor.connected ? null : iso(executor.lastSeenAt + executor.leaseMs),
    loop_lag_ms: executor.loopLagMs,
    rss_bytes: executor.rssBytes,
    cpu_percent: executor.cpuPercent,
    ready: executor.connected ? readyView(executor.readiness) : null,
  };
}

function attemptOn({ taskId, attempt, type }: PastAttempt | CurrentAttempt) {
  return { task_id: taskId, attempt, type };
}

function drainView(record: ExecutorRecord | null) {
  return {
    drained_by: record?.drainedBy ?? null,
    drained_at: iso(record?.drainedAt ?? null),
    drain_reason: record?.drainReason ?? null,
    drain_deadline: iso(record?.drainDeadlineAt ?? null),
  };
}

function readyView({ ok, reason, diskBytes }: Readiness): ExecutorView['ready'] {
  return { ok, reason, disk_bytes: diskBytes };
}

/** One that is not here, and of which something is to be remembered: what operators have decided. */
export function goneExecutorView(record: ExecutorRecord): ExecutorView {
  return {
    executor_id: record.executorId,
    state: 'gone',
    superseded: false,
    connected: false,
    draining: record.drainedAt !== null,
    ...drainView(record),
    lasting: record.lasting,
    types: [],
    labels: [...(record.labels ?? [])],
    reserve: [...(record.reserve ?? [])],
    own: { labels: [], reserve: [] },
    override: overrideView(record, record.overrideBy),
    task_id: null,
    attempt: null,
    current: null,
    booked: null,
    last: [],
    host: '',
    pid: 0,
    sdk: '',
    version: null,
    connected_at: null,
    last_seen_at: null,
    lease_until: null,
    loop_lag_ms: null,
    rss_bytes: null,
    cpu_percent: null,
    ready: null,
  };
}

function overrideView({ labels, reserve }: Override, by: string | null): ExecutorView['override'] {
  return { labels: labels && [...labels], reserve: reserve && [...reserve], by };
}

function progressText(task: Task, end: EndEstimate | null = null): string | null {
  const { progressAt, progressPercent: percent, progressState: state, progressDetail } = task;
  if (progressAt === null) return null;
  const estimate = end && {
    end_at: second(end.endAt),
    low: second(end.lowAt),
    high: second(end.highAt),
  };
  const fields = { percent, at: iso(progressAt), ...(estimate && { estimate }) };
  const text = jsonObject(fields, { state });
  return progressDetail === null ? text : `${text.slice(0, -1)},${progressDetail.slice(1)}`;
}

/** Nobody knows it better. */
function second(at: number): string {
  return iso(Math.round(at / 1000) * 1000);
}

function errorText(error: AttemptError | null): string | null {
  if (error === null) return null;
  const { message, name, details } = error;
  return jsonObject({ message, name }, { details });
}

/** The error of an earlier attempt is in the timeline; a success has none. */
function errorOf({ state, error }: Task): Task['error'] {
  return state === 'succeeded' ? null : error;
}

function withoutDetails(error: Task['error']): Task['error'] {
  if (error === null) return null;
  const { message, name } = error;
  return name === undefined ? { message } : { message, name };
}

export function jobView({
  name,
  version,
  trigger,
  nominal,
  backfill,
}: TaskJob): NonNullable<TaskView['job']> {
  const { rerun = 0, operationId: operation_id = null } = backfill ?? {};
  const of = { trigger: trigger === '' ? null : trigger, nominal: iso(nominal) };
  return { name, version, ...of, rerun, operation_id };
}

function userView({ user }: Task): TaskView['user'] {
  return {
    group: user.group,
    ...(user.project === null ? {} : { project: user.project }),
    ...(user.env === null ? {} : { env: user.env }),
    ...(user.user === null ? {} : { user: user.user }),
  };
}

interface TimelineEntry {
  readonly view: Omit<AttemptView, 'error'>;
  readonly error: AttemptError | null;
  readonly detailsBytes: number;
}

/** Records describe the attempts that ended before; the newest one may be told by the task itself. */
function timelineOf(task: Task, attempts: readonly ListedAttempt[]): TimelineEntry[] {
  const timeline = attempts.map(timelineEntry);
  const recorded = attempts.some((record) => record.attempt === task.attempt);
  if (recorded || isAtRest(task) || task.executorId === null || task.offeredAt === null) {
    return timeline;
  }
  const ended = isTerminal(task.state);
  timeline.push({
    view: {
      attempt: task.attempt,
      executor_id: task.executorId,
      outcome: ended ? task.lastOutcome : null,
      offered_at: iso(task.offeredAt),
      started_at: iso(task.startedAt),
      ended_at: ended ? iso(task.finishedAt) : null,
    },
    error: ended && task.lastOutcome !== 'succeeded' ? task.error : null,
    detailsBytes: 0,
  });
  return timeline;
}

function timelineEntry(record: ListedAttempt): TimelineEntry {
  return {
    view: {
      attempt: record.attempt,
      executor_id: record.executorId,
      outcome: record.outcome,
      offered_at: iso(record.offeredAt),
      started_at: iso(record.startedAt),
      ended_at: iso(record.endedAt),
    },
    error: record.error,
    detailsBytes: record.detailsBytes,
  };
}

/** The error of one of many: its attempt, asked for alone, has all of it. */
function briefErrorText(error: AttemptError | null, detailsBytes: number): string | null {
  if (error === null) return null;
  const { name, details } = error;
  const bytes = details === undefined ? detailsBytes : Buffer.byteLength(details);
  const message =
    error.message.length > MESSAGE_LENGTH_MAX
      ? `${error.message.slice(0, MESSAGE_LENGTH_MAX).replace(HALF_CHARACTER, '')}…`
      : error.message;
  if (bytes > DETAILS_BYTES_MAX) return JSON.stringify({ message, name, details_bytes: bytes });
  return jsonObject({ message, name }, { details });
}

function notificationView(task: Task, notification: Notification | null): TaskView['notification'] {
  if (task.notifyUrl === null) return null;
  return {
    url: task.notifyUrl,
    state: notification?.state ?? null,
    tries: notification?.tries ?? 0,
    last_status: notification?.lastStatus ?? null,
    last_error: notification?.lastError ?? null,
    next_try_at: notification?.state === 'pending' ? iso(notification.nextTryAt) : null,
    delivered_at: iso(notification?.deliveredAt ?? null),
  };
}

function intervalOf({ retry: { interval } }: Task): number | number[] {
  return typeof interval === 'number' ? interval : [...interval];
}

function secondsOrNull(ms: number | null): number | null {
  return ms === null ? null : ms / 1000;
}
