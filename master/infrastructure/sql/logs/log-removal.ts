/**
 * Removes the logs of tasks that are gone, in pieces: each is a transaction of its own, so that a commit waits for one of
 * them at most, however long a log is. What commits have only marked is found by its marks, also after a restart.
 */
import type { Database } from '../database.ts';
import { plain } from '../dialects/dialect.ts';
import { logsRemoved, LOG_TABLE } from './log-table.ts';

/** Chunks of one transaction: 1 MiB of lines. */
const PIECE_COUNT = 128;
/** That are read at once. */
const MARK_COUNT = 100;

export class LogRemoval {
  readonly #database: Database;
  #sweeping: Promise<void> | null = null;
  #isAsked = false;

  constructor(database: Database) {
    this.#database = database;
  }

  /** All that is marked now, or was while it was at it. */
  sweep(): Promise<void> {
    this.#isAsked = true;
    this.#sweeping ??= this.#sweepAll().finally(() => {
      this.#sweeping = null;
    });
    return this.#sweeping;
  }

  async #sweepAll(): Promise<void> {
    while (this.#isAsked) {
      this.#isAsked = false;
      for (let marks = await this.#marks(); marks.length > 0; marks = await this.#marks()) {
        for (const mark of marks) {
          await this.ofTask(-mark);
          await this.ofTask(mark);
        }
      }
    }
  }

  async #marks(): Promise<number[]> {
    const rows = await this.#database.rows(
      `SELECT task_seq FROM ${LOG_TABLE} WHERE task_seq < 0 ORDER BY task_seq LIMIT ?`,
      [MARK_COUNT],
    );
    return rows.map((row) => row['task_seq'] as number);
  }

  /** Of some that are going to be removed: those that have a log. */
  async ofTasks(taskSeqs: readonly number[]): Promise<void> {
    if (taskSeqs.length === 0) return;
    const among = taskSeqs.map(() => '?').join(', ');
    const rows = await this.#database.rows(
      `SELECT DISTINCT task_seq FROM ${LOG_TABLE} WHERE task_seq IN (${among})`,
      taskSeqs,
    );
    for (const row of rows) await this.ofTask(row['task_seq'] as number);
  }

  async ofTask(taskSeq: number): Promise<void> {
    let count = PIECE_COUNT;
    while (count === PIECE_COUNT) {
      count = await this.#database.aside(() => this.#removePiece(taskSeq));
    }
  }

  async #removePiece(taskSeq: number): Promise<number> {
    const { dialect } = this.#database;
    const rows = await this.#database.rows(
      `SELECT attempt, n FROM ${LOG_TABLE} WHERE task_seq = ? ORDER BY attempt, n LIMIT ?`,
      [taskSeq, PIECE_COUNT],
    );
    const keys = rows.map((row) => [taskSeq, row['attempt'] as number, row['n'] as number]);
    if (keys.length === 0) return 0;
    await this.#database.unflushedTransaction((connection) =>
      dialect.run(connection, [plain(dialect.begin), ...logsRemoved(dialect, keys)]),
    );
    return keys.length;
  }
}
