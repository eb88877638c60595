/** Attempts that ended without success, as rows. */
import type { ListedAttempt } from '../../../application/ports.ts';
import type { AttemptRecord } from '../../../domain/model/task.ts';
import type { Types } from '../dialects/dialect.ts';
import { LOG_TABLE } from '../logs/log-table.ts';
import { columns, type Row } from '../rows.ts';
import { errorOf, errorText, lightError } from './error.ts';
import type { Table } from './table.ts';

/** As 2.0.0 made it, and what came since. */
export const attemptDefinition = (t: Types): string => `
  task_seq ${t.instant} NOT NULL,
  attempt ${t.integer} NOT NULL,
  executor_id ${t.key(64)} NOT NULL,
  outcome ${t.key(32)} NOT NULL,
  offered_at ${t.instant} NOT NULL,
  started_at ${t.instant} NULL,
  ended_at ${t.instant} NOT NULL,
  error ${t.text} NULL,
  PRIMARY KEY (task_seq, attempt)`;

export const addedAttemptColumns = (t: Types) =>
  [
    ['incarnation', `${t.name(64)} NULL`],
    ['session', `${t.key(64)} NULL`],
  ] as const;

/** All that is found out later. */
const verdictColumn = columns<Pick<AttemptRecord, 'outcome'>>([
  'outcome',
  'text',
  (attempt) => attempt.outcome,
]);

const attemptColumns = columns<AttemptRecord>(
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

export const attempt: Table<'attempt'> = {
  place: 'task_attempt',
  key: [
    { name: 'task_seq', kind: 'integer' },
    { name: 'attempt', kind: 'integer' },
  ],
  along: LOG_TABLE,
  columns: attemptColumns,
  changing: verdictColumn,
};

/** The columns of an attempt, with the beginning of a large error. */
export const attemptList = attemptColumns
  .map(({ name }) => (name === 'error' ? lightError : name))
  .join(', ');

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
