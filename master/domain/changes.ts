/**
 * Rows to write, as data: what a step asks for and a store performs. Every table has its entry in
 * `Tables`; how it looks in a database is nothing to this file.
 */
import { ATTEMPT_COUNT_MAX } from './bounds.ts';
import type { RateUse } from './limits/quota.ts';
import type { LogEnd } from './logs/attempt-log.ts';
import type { AuditRecord } from './model/audit.ts';
import type { ExecutorRecord, Leftover } from './model/executor.ts';
import type { LaneRow } from './queue/lane.ts';
import type { Settings } from './state/state.ts';
import type { Absence, PauseRow } from './model/pause.ts';
import type { Calendar, Job, JobActivity, JobVersion, Occurrence, Trigger } from './model/job.ts';
import type { Booking } from './booking/booking.ts';
import type { SavedView } from './model/saved-view.ts';
import type { Holding, SharedLimit } from './model/shared-limit.ts';
import type { TaskType } from './model/task-type.ts';
import type { AttemptRecord, Notification, Retention, Task } from './model/task.ts';
import type { UsageDelta } from './usage/usage.ts';
import type { Work } from './long-work/work.ts';

/** A task that has ended, with its callback. */
export interface Ended {
  readonly task: Task;
  readonly notification: Notification | null;
}

/** Of every table: what tells its rows apart, what a row holds, and what of it a `set` must hold. */
export interface Tables {
  /** Tasks that have not ended. */
  readonly task: { key: number; row: Task; set: Task };
  /** The instant tells this end of the task from another one; where the row is kept both tell. */
  readonly history: {
    key: readonly [seq: number, finishedAt: number, retention: Retention];
    row: Ended;
    set: Pick<Ended, 'notification'>;
  };
  readonly attempt: {
    key: readonly [taskSeq: number, attempt: number];
    row: AttemptRecord;
    set: Pick<AttemptRecord, 'outcome'>;
  };
  readonly logEnd: { key: readonly [taskSeq: number, attempt: number]; row: LogEnd; set: never };
  readonly lane: { key: number; row: LaneRow; set: never };
  readonly executor: { key: string; row: ExecutorRecord; set: never };
  readonly leftover: { key: readonly [taskId: string, attempt: number]; row: Leftover; set: never };
  readonly limit: { key: string; row: SharedLimit; set: never };
  readonly holding: { key: readonly [taskId: string, attempt: number]; row: Holding; set: never };
  readonly rate: { key: readonly [type: string, group: string]; row: RateUse; set: never };
  readonly type: { key: string; row: TaskType; set: never };
  readonly pause: { key: number; row: PauseRow; set: never };
  readonly view: { key: string; row: SavedView; set: never };
  readonly booking: { key: string; row: Booking; set: never };
  readonly work: { key: string; row: Work; set: never };
  readonly job: {
    key: string;
    row: Job;
    set: Pick<Job, 'lastStartedAt' | 'lastEndedAt' | 'recent'>;
  };
  readonly jobVersion: {
    key: readonly [job: string, version: number];
    row: JobVersion;
    set: never;
  };
  readonly trigger: { key: readonly [job: string, name: string]; row: Trigger; set: Trigger };
  readonly occurrence: {
    key: readonly [job: string, trigger: string, nominal: number, rerun: number];
    row: Occurrence;
    set: never;
  };
  readonly jobActivity: { key: string; row: JobActivity; set: never };
  readonly calendar: { key: string; row: Calendar; set: Pick<Calendar, 'replanAfter'> };
  readonly usage: { key: readonly [term: number, number: number]; row: UsageDelta; set: never };
}

export type TableName = keyof Tables;
export type Key = Tables[TableName]['key'];
export type StoredRow = Tables[TableName]['row'];
type WrittenRow = StoredRow | Tables[TableName]['set'];

/** Tables of few rows, which memory holds whole: they are read when a term begins. */
export const WHOLE_TABLES = [
  'lane',
  'executor',
  'leftover',
  'type',
  'pause',
  'rate',
  'limit',
  'holding',
  'view',
  'work',
  'jobActivity',
  'calendar',
  'booking',
] as const satisfies readonly TableName[];
export type WholeName = (typeof WHOLE_TABLES)[number];
export type WholeRows = { readonly [N in WholeName]: readonly Tables[N]['row'][] };

/** Fields that a `set` leaves as they are, unless it says `large`: they would be copied for nothing. */
export const LARGE_FIELDS: { readonly [N in TableName]?: readonly (keyof Tables[N]['row'])[] } = {
  task: ['checkpoint'],
};

/** The version at which the row is stored; `any`: whichever, and no row at all will do. */
export type Expected = number | 'any';

interface Writes<N extends TableName> {
  /** The row is not there yet. */
  insert: { readonly row: Tables[N]['row'] };
  /** `large`: also the `LARGE_FIELDS`; `whole`: also what else is set once. */
  set: {
    readonly expect: Expected;
    readonly row: Tables[N]['set'];
    readonly large: boolean;
    readonly whole?: true;
  };
  /** Whether it is there or not, it is to be so. */
  put: { readonly row: Tables[N]['row'] };
  remove: { readonly expect: Expected };
}

type Op = keyof Writes<TableName>;

/**
 * One row to write. The engine folds those of a turn into one for each row, and reads the row only
 * then: it may change until the turn has ended.
 */
export type RowWrite<N extends TableName = TableName, O extends Op = Op> = {
  [T in N]: {
    [P in O]: { readonly op: P; readonly table: T; readonly key: Tables[T]['key'] } & Writes<T>[P];
  }[O];
}[N];

export type Change =
  | RowWrite
  /** The limits for the start of all tasks that wait move, also of those only in the store. */
  | { readonly op: 'credit'; readonly absence: Absence }
  /** They are part of what every commit says of the master. */
  | { readonly op: 'settings'; readonly settings: Settings }
  | ({ readonly op: 'audit' } & Audit);

/** What somebody has changed, and where that is written. */
export interface Audit {
  readonly table: TableName | 'settings';
  readonly record: AuditRecord;
}

/** Equal for equal keys, and something to look up by. */
export function idOf(key: Key): number | string {
  if (typeof key !== 'object') return key;
  return key.length < 4 ? `${key[0]}/${key[1]}` : key.join('/');
}

/** The task that the row is of; null for rows of other things. */
export function taskIn(row: WrittenRow): Task | null {
  if ('task' in row) return row.task;
  return 'lane' in row ? row : null;
}

/** Rows are flat, but for the task and the notification of one that has ended. */
export function copyOf<Row extends object>(row: Row): Row {
  const { task, notification }: Partial<Ended> = row;
  return {
    ...row,
    ...(task && { task: { ...task } }),
    ...(notification && { notification: { ...notification } }),
  };
}

export function taskInserted(task: Task): Change {
  return { op: 'insert', table: 'task', key: task.seq, row: task };
}

/** All but its checkpoint. */
export function taskUpdated(task: Task): Change {
  const { seq: key, version: expect } = task;
  return { op: 'set', table: 'task', key, expect, row: task, large: false };
}

/** What was asked for is another thing now. */
export function taskChanged(task: Task): Change {
  const { seq: key, version: expect } = task;
  return { op: 'set', table: 'task', key, expect, row: task, large: false, whole: true };
}

export function checkpointSaved(task: Task): Change {
  const { seq: key, version: expect } = task;
  return { op: 'set', table: 'task', key, expect, row: task, large: true };
}

/** Which end of a task, and where its row is kept. */
type End = Pick<Notification, 'finishedAt' | 'retention'>;

/** The live row goes, one of history comes. */
export function taskFinished(
  task: Task,
  { finishedAt, retention }: End,
  notification: Notification | null,
): Change[] {
  const { seq, version: expect } = task;
  const key = [seq, finishedAt, retention] as const;
  return [
    { op: 'remove', table: 'task', key: seq, expect },
    { op: 'insert', table: 'history', key, row: { task, notification } },
  ];
}

/** Its history row goes, a live one comes. */
export function taskReopened(task: Task, { finishedAt, retention }: End): Change[] {
  const key = [task.seq, finishedAt, retention] as const;
  return [{ op: 'remove', table: 'history', key, expect: task.version }, taskInserted(task)];
}

/** Nothing of it is left: no row of history, no attempt. */
export function taskDeleted(
  { seq, attempt: newest, version: expect }: Pick<Task, 'seq' | 'attempt' | 'version'>,
  { finishedAt, retention }: End,
): Change[] {
  const gone: Change[] = [
    { op: 'remove', table: 'history', key: [seq, finishedAt, retention], expect },
  ];
  const first = Math.max(1, newest - ATTEMPT_COUNT_MAX + 1);
  for (let attempt = first; attempt <= newest; attempt++) {
    gone.push({ op: 'remove', table: 'attempt', key: [seq, attempt], expect: 'any' });
  }
  return gone;
}

/** Tasks of which nothing is left: by `seq`. One that runs again has left history too. */
export function deletedBy(writes: readonly RowWrite[]): ReadonlySet<number> {
  const gone = new Set<number>();
  for (const { op, table, key } of writes) {
    if (op === 'remove' && table === 'history') gone.add(key[0]);
  }
  if (gone.size === 0) return gone;
  for (const { op, table, key } of writes)
    if (op === 'insert' && table === 'task') gone.delete(key);
  return gone;
}

/** Whether a row of the task is written by this turn already. */
export function isWritten(changes: readonly Change[], { seq }: Pick<Task, 'seq'>): boolean {
  return changes.some((change) => 'key' in change && change.table === 'task' && change.key === seq);
}

/** Takes the place of the one that is now too old; there is none for most. */
export function attemptRecorded(row: AttemptRecord): Change[] {
  const { taskSeq, attempt } = row;
  const change: Change = { op: 'insert', table: 'attempt', key: [taskSeq, attempt], row };
  if (attempt <= ATTEMPT_COUNT_MAX) return [change];
  const oldest = [taskSeq, attempt - ATTEMPT_COUNT_MAX] as const;
  return [{ op: 'remove', table: 'attempt', key: oldest, expect: 'any' }, change];
}

/** So many lines its executor has logged: they go by themselves, and some may never come. */
export function logEnded({ seq: taskSeq, attempt }: Task, lineCount: number): Change {
  const row = { taskSeq, attempt, lineCount };
  return { op: 'insert', table: 'logEnd', key: [taskSeq, attempt], row };
}

/** The record of an attempt that was lost says more than was known then; it may have gone. */
export function attemptDecided(
  taskSeq: number,
  attempt: number,
  outcome: AttemptRecord['outcome'],
): Change {
  const key = [taskSeq, attempt] as const;
  return { op: 'set', table: 'attempt', key, expect: 'any', row: { outcome }, large: false };
}

/** Its row may have gone, with its segment or because the task runs again. */
export function notificationChanged(notification: Notification): Change {
  const { taskSeq, finishedAt, retention } = notification;
  const key = [taskSeq, finishedAt, retention] as const;
  return { op: 'set', table: 'history', key, expect: 'any', row: { notification }, large: false };
}
