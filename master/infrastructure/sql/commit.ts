/**
 * Turns a commit into statements. It reads the tasks at once and keeps no reference to them, so
 * that the domain may go on changing them while the statements are on their way.
 */
import type { Commit } from '../../application/ports.ts';
import type { Absence } from '../../domain/effects.ts';
import { ATTEMPT_COUNT_MAX, CommitConflict } from '../../application/ports.ts';
import type { AttemptRecord, Notification, Task } from '../../domain/task.ts';
import type { Dialect, Statement } from './dialects/dialect.ts';
import type { Column, Value } from './rows.ts';
import {
  attemptColumns,
  changingColumns,
  executorColumns,
  historyColumns,
  liveColumns,
  notificationColumns,
} from './rows.ts';
import type { Segment, Segments } from './segments.ts';
import { segmentAt } from './segments.ts';

/** What a row is matched by: no write goes through unless all of these are as expected. */
const versionMatch = [
  { name: 'seq', kind: 'integer' },
  { name: 'version', kind: 'integer' },
] as const;
const executorMatch = [{ name: 'id', kind: 'text' }] as const;
const finishMatch = [
  { name: 'seq', kind: 'integer' },
  { name: 'finished_at', kind: 'integer' },
] as const;

const attemptMatch = [
  { name: 'task_seq', kind: 'integer' },
  { name: 'attempt', kind: 'integer' },
] as const;

export interface Plan {
  readonly statements: readonly Statement[];
  /** Segments that the statements need and that have yet to be made. */
  readonly missing: readonly Segment[];
}

/**
 * Order matters where one commit moves a task out of a table and another task in.
 * @throws {CommitConflict} a task is to be taken out of a segment that has been dropped.
 */
export function planCommit(dialect: Dialect, segments: Segments, commit: Commit): Plan {
  const missing: Segment[] = [];
  const statements: Statement[] = [];
  for (const [segment, reopens] of bySegment(commit.reopens, ({ finishedAt }) => finishedAt)) {
    if (!segments.has(segment)) throw new CommitConflict(`${segment.table} has been dropped`);
    statements.push(...remove(dialect, segment.table, tasksOf(reopens)));
  }
  const stored = commit.finishes.filter((finish) => finish.stored);
  statements.push(
    ...remove(dialect, 'task', tasksOf(stored)),
    ...insert(dialect, 'task', liveColumns, commit.inserts),
    ...insert(dialect, 'task', liveColumns, tasksOf(commit.reopens)),
    ...update(dialect, commit.updates),
    ...saveCheckpoints(commit.checkpoints),
  );
  for (const [segment, finishes] of bySegment(commit.finishes, ({ task }) => endOf(task))) {
    if (!segments.has(segment)) missing.push(segment);
    statements.push(...insert(dialect, segment.table, historyColumns, finishes));
  }
  statements.push(
    ...insert(dialect, 'task_attempt', attemptColumns, commit.attempts),
    ...forgetAttempts(dialect, commit.attempts),
    ...decide(commit.verdicts),
  );
  for (const [segment, changed] of bySegment(commit.notifications, (item) => item.finishedAt)) {
    // A segment that has been dropped took its notifications along.
    if (!segments.has(segment) && !missing.some(({ day }) => day === segment.day)) continue;
    statements.push(...updateNotifications(dialect, segment.table, changed));
  }
  statements.push(...saveExecutors(dialect, commit.executors));
  return { statements, missing };
}

/**
 * `startByAfter`, of every row that has such a limit: the index finds no others. In pieces up to each
 * of the bounds, the last one first: what has been moved is not met again.
 */
export function creditAbsence(
  dialect: Dialect,
  { from, until }: Absence,
  bounds: readonly number[],
): Statement {
  const later = 'end_by + ? - CASE WHEN due_at > ? THEN due_at ELSE ? END';
  const ends = [from, ...bounds, Number.MAX_SAFE_INTEGER];
  const pieces = ends.slice(1).map((end, index) => [ends[index] ?? from, end] as const);
  return {
    sql: `UPDATE ${dialect.readBy('task', 'task_end')}
      SET end_by = CASE WHEN deadline_at <= ${later} THEN deadline_at ELSE ${later} END
      WHERE end_by > ? AND end_by <= ? AND due_at < ?
      AND (deadline_at IS NULL OR end_by < deadline_at)`,
    runs: pieces
      .reverse()
      .map(([after, upTo]) => [until, from, from, until, from, from, after, upTo, until]),
    touches: null,
  };
}

const tasksOf = (list: readonly { readonly task: Task }[]): Task[] => list.map(({ task }) => task);

function bySegment<T>(items: readonly T[], finishedAt: (item: T) => number): [Segment, T[]][] {
  const groups = new Map<number, [Segment, T[]]>();
  for (const item of items) {
    const segment = segmentAt(finishedAt(item));
    const group = groups.get(segment.day);
    if (group === undefined) groups.set(segment.day, [segment, [item]]);
    else group[1].push(item);
  }
  return [...groups.values()];
}

function endOf(task: Task): number {
  if (task.finishedAt === null) throw new TypeError(`task ${task.id} ends without finishedAt`);
  return task.finishedAt;
}

/** Columns that no row has a value for are left out: they are half of a new task. */
function insert<Source>(
  dialect: Dialect,
  table: string,
  columns: readonly Column<Source>[],
  sources: readonly Source[],
): Statement[] {
  if (sources.length === 0) return [];
  const named = columns.filter(({ of }) => sources.some((source) => of(source) !== null));
  const rows = sources.map((source) => named.map(({ of }) => of(source)));
  return dialect.insert(table, named, rows);
}

function remove(dialect: Dialect, table: string, tasks: readonly Task[]): Statement[] {
  if (tasks.length === 0) return [];
  const rows = tasks.map((task): Value[] => [task.seq, task.version - 1]);
  return dialect.remove(table, versionMatch, rows);
}

function update(dialect: Dialect, tasks: readonly Task[]): Statement[] {
  if (tasks.length === 0) return [];
  const rows = tasks.map((task) => [
    task.seq,
    task.version - 1,
    ...changingColumns.map(({ of }) => of(task)),
  ]);
  return dialect.update('task', versionMatch, changingColumns, rows);
}

function saveCheckpoints(tasks: readonly Task[]): Statement[] {
  if (tasks.length === 0) return [];
  return [
    {
      sql: 'UPDATE task SET checkpoint = ? WHERE seq = ? AND version = ?',
      runs: tasks.map(({ checkpoint, seq, version }) => [checkpoint, seq, version]),
      touches: tasks.length,
    },
  ];
}

/** Each takes the place of the one that is now too old; there is none for most. */
function forgetAttempts(dialect: Dialect, attempts: readonly AttemptRecord[]): Statement[] {
  const rows = attempts
    .filter(({ attempt }) => attempt > ATTEMPT_COUNT_MAX)
    .map(({ taskSeq, attempt }): Value[] => [taskSeq, attempt - ATTEMPT_COUNT_MAX]);
  if (rows.length === 0) return [];
  return dialect
    .remove('task_attempt', attemptMatch, rows)
    .map((statement) => ({ ...statement, touches: null }));
}

/** Few, and seldom: each row is replaced as a whole. */
function saveExecutors(dialect: Dialect, executors: Commit['executors']): Statement[] {
  const records = executors.flatMap(({ record }) => (record === null ? [] : [record]));
  const ids = executors.map(({ executorId }): Value[] => [executorId]);
  if (ids.length === 0) return [];
  const removed = dialect.remove('executor', executorMatch, ids);
  return [
    ...removed.map((statement) => ({ ...statement, touches: null })),
    ...insert(dialect, 'executor', executorColumns, records),
  ];
}

/** The history row may have gone (retention, reopen): then there is nothing left to note. */
function updateNotifications(
  dialect: Dialect,
  table: string,
  notifications: readonly Notification[],
): Statement[] {
  const rows = notifications.map((notification) => [
    notification.taskSeq,
    notification.finishedAt,
    ...notificationColumns.map(({ of }) => of(notification)),
  ]);
  return dialect
    .update(table, finishMatch, notificationColumns, rows)
    .map((statement) => ({ ...statement, touches: null }));
}

function decide(verdicts: Commit['verdicts']): Statement[] {
  if (verdicts.length === 0) return [];
  const runs = verdicts.map(({ taskSeq, attempt, outcome }) => [outcome, taskSeq, attempt]);
  const sql = 'UPDATE task_attempt SET outcome = ? WHERE task_seq = ? AND attempt = ?';
  return [{ sql, runs, touches: null }];
}
