/** Logs of tasks as rows: so many lines each, of an attempt. */
import type { LogWrite } from '../../../application/ports.ts';
import { endChunk, type LogEnd } from '../../../domain/logs/attempt-log.ts';
import type { Dialect, Statement, Types } from '../dialects/dialect.ts';
import { columns } from '../rows.ts';
import type { Table } from '../tables/table.ts';

export const logDefinition = (t: Types): string => `
  task_seq ${t.instant} NOT NULL,
  attempt ${t.integer} NOT NULL,
  n ${t.instant} NOT NULL,
  last_n ${t.instant} NOT NULL,
  byte_count ${t.integer} NOT NULL,
  line_texts ${t.text} NOT NULL,
  PRIMARY KEY (task_seq, attempt, n)`;

export const LOG_TABLE = 'task_log';

const KEY = [
  { name: 'task_seq', kind: 'integer' },
  { name: 'attempt', kind: 'integer' },
  { name: 'n', kind: 'integer' },
] as const;

type LogRow = LogWrite['put'][number] & Pick<LogWrite, 'taskSeq' | 'attempt'>;

const logColumns = columns<LogRow>(
  ['task_seq', 'integer', (row) => row.taskSeq],
  ['attempt', 'integer', (row) => row.attempt],
  ['n', 'integer', (row) => row.n],
  ['last_n', 'integer', (row) => row.lastN],
  ['byte_count', 'integer', (row) => row.bytes],
  ['line_texts', 'text', (row) => row.text],
);

/** How many lines there were, as the commit says that ends the attempt: a row behind the others, which is only inserted. */
export const logEnd: Table<'logEnd'> = {
  place: LOG_TABLE,
  key: KEY,
  columns: logColumns.map((column) => ({
    ...column,
    of: (row: LogEnd, ns: number) => column.of({ ...row, ...endChunk(row) }, ns),
  })),
};

/** All that these say; to be run again where nobody knows whether it was. */
export function logsWritten(dialect: Dialect, writes: readonly LogWrite[]): Statement[] {
  const removed = writes.flatMap(({ taskSeq, attempt, remove }) =>
    remove.map((n) => [taskSeq, attempt, n]),
  );
  const put = writes.flatMap(({ taskSeq, attempt, put: chunks }) =>
    chunks.map((chunk) => logColumns.map(({ of }) => of({ taskSeq, attempt, ...chunk }, 0))),
  );
  return [
    ...(removed.length === 0 ? [] : logsRemoved(dialect, removed)),
    ...(put.length === 0 ? [] : dialect.replace(LOG_TABLE, logColumns, put)),
  ];
}

/** Chunks, by task, attempt and number. */
export function logsRemoved(dialect: Dialect, keys: number[][]): Statement[] {
  return dialect.remove(LOG_TABLE, KEY, keys).map(anyCount);
}

const MARKED = `REPLACE INTO ${LOG_TABLE} (${logColumns.map(({ name }) => name).join(', ')})
  SELECT -task_seq, 0, 0, 0, 0, '' FROM ${LOG_TABLE} WHERE task_seq = ? LIMIT 1`;

/**
 * That the logs of these tasks are to go, where there are any: a row of each under its number negated. To remove them would
 * take a commit as long as they are.
 */
export function logsMarked(taskSeqs: Iterable<number>): Statement[] {
  const runs = Array.from(taskSeqs, (taskSeq) => [taskSeq]);
  return runs.length === 0 ? [] : [{ sql: MARKED, runs, touches: null }];
}

const anyCount = (statement: Statement): Statement => ({ ...statement, touches: null });
