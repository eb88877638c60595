/**
 * How a task, an attempt and a notification look as rows, and back. The column lists here decide
 * which columns a statement names; `migrations.ts` makes them and `schema.sql` explains them.
 * Nothing here talks to a database.
 */
import { jsonAt, jsonObject } from '@soda-scheduler/protocol';
import type { ListedAttempt } from '../../application/ports.ts';
import type { ExecutorRecord } from '../../domain/executor.ts';
import type {
  AttemptError,
  AttemptRecord,
  Notification,
  RetryPolicy,
  Task,
  TaskState,
} from '../../domain/task.ts';

export type Value = string | number | null;
export type Row = Readonly<Record<string, unknown>>;

export interface Column<Source> {
  readonly name: string;
  /** What the column holds, for statements that must declare it. */
  readonly kind: 'integer' | 'real' | 'text';
  readonly of: (source: Source) => Value;
}

type Column3<Source> = readonly [
  Column<Source>['name'],
  Column<Source>['kind'],
  Column<Source>['of'],
];

function columns<Source>(...list: Column3<Source>[]): readonly Column<Source>[] {
  return list.map(([name, kind, of]) => ({ name, kind, of }));
}

const isAlerting = (task: Task): boolean => task.startTimeoutAction === 'alert';

/** Set once, when the task is accepted. */
const fixedColumns = columns<Task>(
  ['seq', 'integer', (task) => task.seq],
  ['id', 'text', (task) => task.id],
  ['type', 'text', (task) => task.type],
  ['lane', 'text', (task) => task.lane],
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
  ['deadline_at', 'integer', (task) => task.deadlineAt],
  ['params', 'text', (task) => task.params],
);

/** Written by every update of a live task. */
export const changingColumns = columns<Task>(
  ['version', 'integer', (task) => task.version],
  ['state', 'text', (task) => task.state],
  ['priority', 'integer', (task) => task.priority],
  ['order_time', 'integer', (task) => task.orderTime],
  ['due_at', 'integer', (task) => task.dueAt],
  ['end_by', 'integer', (task) => task.startBy ?? task.deadlineAt],
  ['attempt', 'integer', (task) => task.attempt],
  ['attempts_used', 'integer', (task) => task.attemptsUsed],
  ['crash_count', 'integer', (task) => task.crashCount],
  ['executor_id', 'text', (task) => task.executorId],
  ['incarnation', 'text', (task) => task.incarnation],
  ['contact_count', 'integer', (task) => task.contactCount],
  ['hidden_ms', 'integer', (task) => task.hiddenMs],
  ['stall_hidden_ms', 'integer', (task) => task.stallHiddenMs],
  ['offered_at', 'integer', (task) => task.offeredAt],
  ['started_at', 'integer', (task) => task.startedAt],
  ['cancel_requested_at', 'integer', (task) => task.cancelRequestedAt],
  ['cancel_reason', 'text', (task) => task.cancelReason],
  ['last_outcome', 'text', (task) => task.lastOutcome],
  ['progress_percent', 'real', (task) => task.progressPercent],
  ['progress_at', 'integer', (task) => task.progressAt],
  ['progress_state', 'text', (task) => task.progressState],
  ['error', 'text', (task) => errorText(task.error)],
);

const checkpointColumn = columns<Task>(['checkpoint', 'text', (task) => task.checkpoint]);

/** Known only once the task has ended: a live row has no such columns. */
const endColumns = columns<Task>(
  ['finished_at', 'integer', (task) => task.finishedAt],
  ['failure_reason', 'text', (task) => task.failureReason],
  ['result', 'text', (task) => task.result],
);

export const notificationColumns = columns<Notification>(
  ['notify_state', 'text', (notification) => notification.state],
  ['notify_tries', 'integer', (notification) => notification.tries],
  ['notify_next_at', 'integer', (notification) => notification.nextTryAt],
  ['notify_status', 'integer', (notification) => notification.lastStatus],
  ['notify_error', 'text', (notification) => notification.lastError],
  ['delivered_at', 'integer', (notification) => notification.deliveredAt],
  ['notify_since', 'integer', (notification) => notification.triesSince],
);

export const liveColumns = [...fixedColumns, ...changingColumns, ...checkpointColumn];

interface Finish {
  readonly task: Task;
  readonly notification: Notification | null;
}

export const historyColumns: readonly Column<Finish>[] = [
  ...[...liveColumns, ...endColumns].map((column) => ({
    ...column,
    of: ({ task }: Finish) => column.of(task),
  })),
  ...notificationColumns.map((column) => ({
    ...column,
    of: ({ notification }: Finish) => (notification === null ? null : column.of(notification)),
  })),
];

export const attemptColumns = columns<AttemptRecord>(
  ['task_seq', 'integer', (attempt) => attempt.taskSeq],
  ['attempt', 'integer', (attempt) => attempt.attempt],
  ['executor_id', 'text', (attempt) => attempt.executorId],
  ['incarnation', 'text', (attempt) => attempt.incarnation],
  ['session', 'text', (attempt) => attempt.session],
  ['outcome', 'text', (attempt) => attempt.outcome],
  ['offered_at', 'integer', (attempt) => attempt.offeredAt],
  ['started_at', 'integer', (attempt) => attempt.startedAt],
  ['ended_at', 'integer', (attempt) => attempt.endedAt],
  ['error', 'text', (attempt) => errorText(attempt.error)],
);

const onlyInHistory = new Set([...endColumns, ...notificationColumns].map(({ name }) => name));
const large = new Set(['params', 'checkpoint', 'result']);

/**
 * The columns of a task as a select list, NULL where the table has no such column. `light`:
 * without what may be large, and with the beginning of a large error.
 */
export function selectList(source: 'live' | 'history', size: 'whole' | 'light'): string {
  return historyColumns
    .map(({ name }) => {
      if (source === 'live' && onlyInHistory.has(name)) return `NULL AS ${name}`;
      if (size === 'whole') return name;
      if (name === 'error') return lightError;
      return large.has(name) ? `NULL AS ${name}` : name;
    })
    .join(', ');
}

/** Beyond it an error is large. */
const ERROR_BYTES_MAX = 4_096;
/** `message`, its end perhaps cut off, and `name`. */
const LARGE_ERROR =
  /^\{"message":("(?:[^"\\]|\\u[0-9a-f]{4}|\\[^u])*)"?(?:,"name":("(?:[^"\\]|\\u[0-9a-f]{4}|\\[^u])*"))?(?:,"details":)?/;
/** Tells a cut error from a whole one: the database is to send no more than it must. */
const lightError = `CASE WHEN OCTET_LENGTH(error) > ${ERROR_BYTES_MAX}
  THEN SUBSTR(error, 1, ${ERROR_BYTES_MAX}) ELSE error END AS error, OCTET_LENGTH(error) AS error_bytes`;

/** The columns of an attempt, with the beginning of a large error. */
export const attemptList = attemptColumns
  .map(({ name }) => (name === 'error' ? lightError : name))
  .join(', ');

const errorText = (error: AttemptError | null): string | null => {
  if (error === null) return null;
  // In this order: the beginning of a large one is read without its end.
  const { message, name, details } = error;
  return jsonObject({ message, name }, { details });
};

/** What is there of it: of a large one that was cut, all but the details. */
function errorOf(row: Row): Pick<ListedAttempt, 'error' | 'detailsBytes'> {
  const text = row['error'] as string | null;
  const bytes = (row['error_bytes'] as number | null | undefined) ?? 0;
  if (text === null || bytes <= ERROR_BYTES_MAX) {
    return { error: text === null ? null : wholeError(text), detailsBytes: 0 };
  }
  const begun = LARGE_ERROR.exec(text);
  const message = begun?.[1] === undefined ? '' : (JSON.parse(`${begun[1]}"`) as string);
  const name = begun?.[2] === undefined ? {} : { name: JSON.parse(begun[2]) as string };
  const detailsBytes = bytes - Buffer.byteLength(begun?.[0] ?? '') - 1;
  return { error: { message, ...name }, detailsBytes };
}

function wholeError(text: string): AttemptError {
  const { message, name } = JSON.parse(text) as AttemptError;
  const details = jsonAt(text, ['details']);
  return {
    message,
    ...(name !== undefined && { name }),
    ...(details !== undefined && { details }),
  };
}

/** Kept as it is, for it is JSON: a frame or a body that holds it would not be, otherwise. */
function json(text: unknown): string | null {
  if (text !== null) JSON.parse(text as string);
  return text as string | null;
}

/** @throws {SyntaxError} one of its texts is not JSON. */
export function taskOf(row: Row): Task {
  const get = <T>(name: string): T => row[name] as T;
  return {
    seq: get('seq'),
    id: get('id'),
    type: get('type'),
    params: json(get('params')) ?? '',
    labels: JSON.parse(get('labels')) as string[],
    requires: JSON.parse(get('requires')) as string[],
    lane: get('lane'),
    user: {
      group: get('user_group'),
      project: get('user_project'),
      env: get('user_env'),
      user: get('user_name'),
    },
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
    deadlineAt: get('deadline_at'),
    state: get<TaskState>('state'),
    version: get('version'),
    priority: get('priority'),
    orderTime: get('order_time'),
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
    progressPercent: get('progress_percent'),
    progressState: json(get('progress_state')),
    progressAt: get('progress_at'),
    checkpoint: json(get('checkpoint')),
    error: errorOf(row).error,
    lastOutcome: get('last_outcome'),
    result: json(get('result')),
    finishedAt: get('finished_at'),
    failureReason: get('failure_reason'),
  };
}

/** Null where the task has no callback. The row is one of history. */
export function notificationOf(row: Row): Notification | null {
  const get = <T>(name: string): T => row[name] as T;
  if (get('notify_state') === null) return null;
  return {
    taskSeq: get('seq'),
    taskId: get('id'),
    url: get('notify_url'),
    finishedAt: get('finished_at'),
    state: get('notify_state'),
    tries: get('notify_tries'),
    // Null in rows of 2.0.0.
    triesSince: get('notify_since') ?? get('finished_at'),
    nextTryAt: get('notify_next_at'),
    lastStatus: get('notify_status'),
    lastError: get('notify_error'),
    deliveredAt: get('delivered_at'),
  };
}

export const executorColumns = columns<ExecutorRecord>(
  ['id', 'text', (record) => record.executorId],
  ['lasting', 'integer', (record) => (record.lasting ? 1 : 0)],
  ['drained_at', 'integer', (record) => record.drainedAt],
  ['drain_deadline_at', 'integer', (record) => record.drainDeadlineAt],
);

export function executorOf(row: Row): ExecutorRecord {
  const get = <T>(name: string): T => row[name] as T;
  return {
    executorId: get('id'),
    lasting: get('lasting') === 1,
    drainedAt: get('drained_at'),
    drainDeadlineAt: get('drain_deadline_at'),
  };
}

export function attemptOf(row: Row): ListedAttempt {
  const get = <T>(name: string): T => row[name] as T;
  return {
    taskSeq: get('task_seq'),
    attempt: get('attempt'),
    executorId: get('executor_id'),
    incarnation: get('incarnation'),
    session: get('session'),
    outcome: get('outcome'),
    offeredAt: get('offered_at'),
    startedAt: get('started_at'),
    endedAt: get('ended_at'),
    ...errorOf(row),
  };
}
