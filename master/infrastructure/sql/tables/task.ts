/** Tasks that have not ended, as rows. Those of history have the same columns, and a few more. */
import type { TaskJob } from '../../../domain/model/task-job.ts';
import type { RetryPolicy, Suspension, Task, TaskState, User } from '../../../domain/model/task.ts';
import { usesIn, usesText } from '../../../domain/model/shared-limit.ts';
import type { Index, Types } from '../dialects/dialect.ts';
import { columns, type Row } from '../rows.ts';
import { errorOf, errorText } from './error.ts';
import type { Table } from './table.ts';

const isAlerting = (task: Task): boolean => task.startTimeoutAction === 'alert';

/** Set when the task is accepted, and where it is changed while it waits. */
const fixedColumns = columns<Task>(
  ['ns', 'integer', (_, ns) => ns, 0],
  ['seq', 'integer', (task) => task.seq],
  ['id', 'text', (task) => task.id],
  ['type', 'text', (task) => task.type],
  // Of 2.0.0, which had the name of its kind there.
  ['lane', 'text', () => ''],
  ['labels', 'text', (task) => JSON.stringify(task.labels)],
  ['requires', 'text', (task) => JSON.stringify(task.requires)],
  ['user_group', 'text', (task) => task.user.group],
  ['user_project', 'text', (task) => task.user.project],
  ['user_env', 'text', (task) => task.user.env],
  ['user_name', 'text', (task) => task.user.user],
  ['notify_url', 'text', (task) => task.notifyUrl],
  ['request_hash', 'text', (task) => task.requestHash],
  ['submitted_at', 'integer', (task) => task.submittedAt],
  ['max_attempts', 'integer', (task) => task.retry.maxAttempts],
  ['retry_interval', 'text', (task) => JSON.stringify(task.retry.interval)],
  ['assign_timeout_ms', 'integer', (task) => task.assignTimeoutMs],
  ['execution_timeout_ms', 'integer', (task) => task.executionTimeoutMs],
  ['stall_timeout_ms', 'integer', (task) => task.stallTimeoutMs],
  ['start_timeout_ms', 'integer', (task) => task.startTimeoutMs],
  ['start_timeout_action', 'text', (task) => (isAlerting(task) ? task.startTimeoutAction : null)],
  ['disk_bytes', 'integer', (task) => task.diskBytes],
  ['uses', 'text', (task) => (task.uses.length === 0 ? null : usesText(task.uses))],
  ['deadline_at', 'integer', (task) => task.deadlineAt],
  ['traceparent', 'text', (task) => task.traceparent],
  ['params', 'text', (task) => task.params],
  ['job', 'text', (task) => task.job && jobText(task.job)],
  ['booking', 'text', (task) => task.booking],
);

/** Written by every update of a live task. */
const changingColumns = columns<Task>(
  ['version', 'integer', (task) => task.version],
  ['state', 'text', (task) => task.state],
  ['priority', 'integer', (task) => task.priority],
  ['lane_seq', 'integer', (task) => task.lane],
  ['order_time', 'integer', (task) => task.orderTime],
  ['due_at', 'integer', (task) => task.dueAt],
  ['end_by', 'integer', (task) => task.startBy ?? task.deadlineAt],
  ['attempt', 'integer', (task) => task.attempt],
  ['attempts_used', 'integer', (task) => task.attemptsUsed],
  ['crash_count', 'integer', (task) => task.crashCount],
  ['executor_id', 'text', (task) => task.executorId],
  ['incarnation', 'text', (task) => task.incarnation],
  ['contact_count', 'integer', (task) => task.contactCount, 0],
  ['hidden_ms', 'integer', (task) => task.hiddenMs, 0],
  ['stall_hidden_ms', 'integer', (task) => task.stallHiddenMs, 0],
  ['offered_at', 'integer', (task) => task.offeredAt],
  ['started_at', 'integer', (task) => task.startedAt],
  ['cancel_requested_at', 'integer', (task) => task.cancelRequestedAt],
  ['cancel_reason', 'text', (task) => task.cancelReason],
  ['last_outcome', 'text', (task) => task.lastOutcome],
  ['progress_percent', 'real', (task) => task.progressPercent],
  ['progress_at', 'integer', (task) => task.progressAt],
  ['progress_state', 'text', (task) => task.progressState],
  ['progress_detail', 'text', (task) => task.progressDetail],
  ['error', 'text', (task) => errorText(task.error)],
);

/** As they are made. */
export const addedLiveColumns = (t: Types) =>
  [
    ['gate', `${t.instant} NULL`],
    ['queue_time', `${t.instant} NULL`],
    ['suspended', `${t.text} NULL`],
    ['event_count', `${t.instant} NOT NULL DEFAULT 0`],
  ] as const;

/** Only those that have not ended stand somewhere, can be held, set aside, or tell: history has no such columns. */
export const liveColumns = columns<Task>(
  ['gate', 'integer', (task) => task.gate],
  ['queue_time', 'integer', (task) => task.queueTime],
  ['suspended', 'text', (task) => task.suspension && JSON.stringify(task.suspension)],
  ['event_count', 'integer', (task) => task.eventCount, 0],
);

/** Without what no row says anything of, where the database can: each row would come and go in them for nothing. */
export const taskIndexes: readonly Index[] = [
  { name: 'ns_id', columns: 'ns, id', unique: true },
  { name: 'queue', columns: 'state, lane_seq, queue_time, seq, due_at' },
  { name: 'ns_due', columns: 'ns, due_at, seq' },
  // With the deadline, which alone counts in a pause, of all or of the type.
  {
    name: 'ns_end',
    columns: 'ns, end_by, seq, deadline_at, type',
    where: 'end_by IS NOT NULL',
  },
  { name: 'ns_gate', columns: 'ns, gate, queue_time, seq', where: 'gate IS NOT NULL' },
];

const checkpointColumn = columns<Task>(['checkpoint', 'text', (task) => task.checkpoint]);

export const taskColumns = [...fixedColumns, ...changingColumns, ...checkpointColumn];

export const task: Table<'task'> = {
  place: 'task',
  key: [{ name: 'seq', kind: 'integer' }],
  columns: [...taskColumns, ...liveColumns],
  changing: [...changingColumns, ...liveColumns],
  large: checkpointColumn,
  fixed: fixedColumns.filter(({ name }) => name !== 'ns' && name !== 'seq'),
};

/** What there is to read of a live row: the fewer columns, the less a page of a lane costs. */
export const liveList = task.columns
  .map(({ name }) => name)
  .filter((name) => name !== 'ns' && name !== 'lane')
  .join(', ');

/** Kept as it is, for it is JSON: a frame or a body that holds it would not be, otherwise. */
function json(text: unknown): string | null {
  if (text !== null) JSON.parse(text as string);
  return text as string | null;
}

function jobText({ name, version, trigger, nominal, backfill }: TaskJob): string {
  const again = backfill === null ? [] : [backfill.rerun, backfill.operationId];
  return JSON.stringify([name, version, trigger, nominal, ...again]);
}

function jobIn(text: string | null): TaskJob | null {
  if (text === null) return null;
  type Kept = [string, number, string, number, number?, string?];
  const [name, version, trigger, nominal, rerun, operationId] = JSON.parse(text) as Kept;
  const isAgain = rerun !== undefined && operationId !== undefined;
  return { name, version, trigger, nominal, backfill: isAgain ? { rerun, operationId } : null };
}

function suspensionOf(text: string | null): Suspension | null {
  return text === null ? null : (JSON.parse(text) as Suspension);
}

/** Whose task it is. */
export function userOf(row: Row): User {
  const get = <T>(name: string): T => row[name] as T;
  return {
    group: get('user_group'),
    project: get('user_project'),
    env: get('user_env'),
    user: get('user_name'),
  };
}

/** Live rows have no columns for an end. @throws {SyntaxError} one of its texts is not JSON. */
export function taskOf(row: Row): Task {
  const get = <T>(name: string): T => row[name] as T;
  return {
    seq: get('seq'),
    id: get('id'),
    type: get('type'),
    params: json(get('params')) ?? '',
    labels: JSON.parse(get('labels')) as string[],
    requires: JSON.parse(get('requires')) as string[],
    lane: get('lane_seq') ?? 0,
    user: userOf(row),
    notifyUrl: get('notify_url'),
    requestHash: get('request_hash'),
    submittedAt: get('submitted_at'),
    retry: {
      maxAttempts: get('max_attempts'),
      interval: JSON.parse(get('retry_interval')) as RetryPolicy['interval'],
    },
    assignTimeoutMs: get('assign_timeout_ms'),
    executionTimeoutMs: get('execution_timeout_ms'),
    stallTimeoutMs: get('stall_timeout_ms'),
    startTimeoutMs: get('start_timeout_ms'),
    startTimeoutAction: get('start_timeout_action') ?? 'fail',
    diskBytes: get('disk_bytes'),
    uses: usesIn(get('uses') ?? ''),
    deadlineAt: get('deadline_at'),
    traceparent: get('traceparent') ?? null,
    job: jobIn(get('job') ?? null),
    booking: get('booking') ?? null,
    state: get<TaskState>('state'),
    version: get('version'),
    priority: get('priority'),
    gate: get('gate') ?? null,
    orderTime: get('order_time'),
    queueTime: get('queue_time') ?? get('order_time'),
    dueAt: get('due_at'),
    startBy: get('end_by') === get('deadline_at') ? null : get('end_by'),
    attempt: get('attempt'),
    attemptsUsed: get('attempts_used'),
    crashCount: get('crash_count'),
    executorId: get('executor_id'),
    incarnation: get('incarnation'),
    contactCount: get('contact_count'),
    hiddenMs: get('hidden_ms'),
    stallHiddenMs: get('stall_hidden_ms'),
    offeredAt: get('offered_at'),
    startedAt: get('started_at'),
    cancelRequestedAt: get('cancel_requested_at'),
    cancelReason: get('cancel_reason'),
    suspension: suspensionOf(get('suspended') ?? null),
    progressPercent: get('progress_percent'),
    progressState: json(get('progress_state')),
    progressDetail: json(get('progress_detail')),
    progressAt: get('progress_at'),
    checkpoint: json(get('checkpoint')),
    eventCount: get('event_count') ?? 0,
    error: errorOf(row).error,
    lastOutcome: get('last_outcome'),
    result: json(get('result') ?? null),
    finishedAt: get('finished_at') ?? null,
    retention: get('retention') ?? null,
    failureReason: get('failure_reason') ?? null,
  };
}
