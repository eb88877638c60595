/** Logs of tasks in the database: writes them by themselves, and reads them chunk by chunk. */
import type { ChunkQuery, LogStore, LogWrite, StoredChunk } from '../../../application/ports.ts';
import type { LogHead } from '../../../domain/logs/attempt-log.ts';
import { Newest } from '../../../domain/newest.ts';
import type { Database, Read } from '../database.ts';
import { plain } from '../dialects/dialect.ts';
import type { Row } from '../rows.ts';
import { LogRemoval } from './log-removal.ts';
import { LOG_TABLE, logsWritten } from './log-table.ts';

/** More than may be deleted between an executor's last word of a task and the next write. */
const DELETED_COUNT_MAX = 10_000;

export class LogRows implements LogStore {
  readonly #database: Database;
  /** Tasks that are gone: what still comes of their logs would never go. */
  readonly #deleted = new Newest<number, true>(DELETED_COUNT_MAX);
  readonly #removal: LogRemoval;

  /** @param database not the engine's, where that has one of its own. */
  constructor(database: Database) {
    this.#database = database;
    this.#removal = new LogRemoval(database);
  }

  async writeLogs(writes: readonly LogWrite[]): Promise<void> {
    const { dialect } = this.#database;
    const kept = writes.filter(({ taskSeq }) => !this.#deleted.get(taskSeq));
    const statements = logsWritten(dialect, kept);
    if (statements.length === 0) return;
    await this.#database.aside(() =>
      this.#database.unflushedTransaction((connection) =>
        dialect.run(connection, [plain(dialect.begin), ...statements]),
      ),
    );
    // Meanwhile: the commit that did may have found nothing yet.
    for (const { taskSeq } of kept) {
      if (this.#deleted.get(taskSeq)) await this.#removal.ofTask(taskSeq);
    }
  }

  /** By a commit that has taken place. */
  noteDeleted(taskSeqs: ReadonlySet<number>): void {
    for (const taskSeq of taskSeqs) this.#deleted.set(taskSeq, true);
    // What fails now is done within the hour.
    if (taskSeqs.size > 0) this.sweep().catch(() => undefined);
  }

  /** Removes what commits have marked, also those of masters before. */
  async sweep(): Promise<void> {
    if (this.#database.dialect.isInProcess) await this.#removal.sweep();
  }

  async readLogHeads(taskSeq: number, attempt: number): Promise<readonly LogHead[]> {
    const rows = await this.#database.rows(
      `SELECT n, last_n, byte_count FROM ${LOG_TABLE} WHERE task_seq = ? AND attempt = ? ORDER BY n`,
      [taskSeq, attempt],
    );
    return rows.map(headOf);
  }

  async readLogChunks(query: ChunkQuery): Promise<readonly StoredChunk[]> {
    if (this.#deleted.get(query.taskSeq)) return [];
    const { sql, values } = conditionOf(query);
    const rows = await this.#database.aside(() =>
      this.#database.rows(
        `SELECT attempt, n, last_n, byte_count, line_texts FROM ${LOG_TABLE}
         WHERE task_seq = ?${sql} ORDER BY attempt, n LIMIT ?`,
        [query.taskSeq, ...values, query.limit],
      ),
    );
    return rows.map((row) => ({
      attempt: row['attempt'] as number,
      text: row['line_texts'] as string,
      ...headOf(row),
    }));
  }
}

function conditionOf({ taskSeq, attempt, after }: ChunkQuery): Read {
  if (attempt !== null) {
    const [beyond, n] = after?.attempt === attempt ? [' AND last_n > ?', [after.n]] : ['', []];
    return { sql: ` AND attempt = ?${beyond}`, values: [attempt, ...n] };
  }
  if (after !== null) {
    const sql = ' AND attempt >= ? AND (attempt > ? OR last_n > ?)';
    return { sql, values: [after.attempt, after.attempt, after.n] };
  }
  const newest = `(SELECT MAX(attempt) FROM ${LOG_TABLE} WHERE task_seq = ?)`;
  return { sql: ` AND attempt >= ${newest}`, values: [taskSeq] };
}

function headOf(row: Row): LogHead {
  return {
    n: row['n'] as number,
    lastN: row['last_n'] as number,
    bytes: row['byte_count'] as number,
  };
}
