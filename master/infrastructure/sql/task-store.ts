/**
 * The store of tasks in SQL: terms, commits and segments. What it reads is in `queries.ts`, what
 * a commit writes in `commit.ts`, what differs between databases behind `dialect.ts`. It decides
 * nothing about tasks.
 */
import type { Knex } from 'knex';
import type { Commit, Log, TaskStore } from '../../application/ports.ts';
import { CommitConflict, StoreUnusable, TermLost } from '../../application/ports.ts';
import { planCommit } from './commit.ts';
import type { Database } from './database.ts';
import type { Connection, Dialect, Outcome, Statement } from './dialect.ts';
import { plain } from './dialect.ts';
import { createSegment, migrate, segmentIndexes } from './migrations.ts';
import { Queries } from './queries.ts';
import type { Segment } from './segments.ts';
import { nextSegmentAt, SEGMENT_PREFIX, segmentAt, segmentNamed, Segments } from './segments.ts';

/** Attempts deleted at once when a segment is dropped: other commits go in between. */
const PRUNE_COUNT = 5_000;

export class SqlStore extends Queries implements TaskStore {
  readonly #database: Database;
  readonly #knex: Knex;
  readonly #dialect: Dialect;
  readonly #segments: Segments;
  readonly #allowWeakDurability: boolean;
  readonly #log: Log;

  constructor(
    database: Database,
    options: { readonly allowWeakDurability: boolean; readonly log: Log },
  ) {
    const segments = new Segments();
    super(database, segments, options.log);
    this.#database = database;
    this.#knex = database.knex;
    this.#dialect = database.dialect;
    this.#segments = segments;
    this.#allowWeakDurability = options.allowWeakDurability;
    this.#log = options.log;
  }

  async takeTerm(
    owner: string,
    now: number,
    held?: number,
  ): Promise<{ term: number; lastSeq: number }> {
    try {
      await this.#checkServer();
      await migrate(this.#database);
      await this.#findSegments();
      await this.prepareSegments(now);
      const term = await this.#beginTerm(owner, now, held);
      return { term, lastSeq: await this.lastSeq() };
    } catch (error) {
      const refusal = this.#dialect.refusalOf(error);
      // One that has served before keeps its executors, and waits to be let in again.
      if (refusal === null || held !== undefined) throw error;
      throw new StoreUnusable(`the database server refuses: ${refusal}`, { cause: error });
    }
  }

  async commit(commit: Commit): Promise<void> {
    const { statements, missing } = planCommit(this.#dialect, this.#segments, commit);
    // Making a table would end the transaction, so it comes before.
    for (const segment of missing) await this.#makeSegment(segment);
    await this.#database.transaction(async (connection) => {
      await this.#write(connection, commit.term, statements);
    });
  }

  async prepareSegments(now: number): Promise<void> {
    for (const segment of [segmentAt(now), nextSegmentAt(now)]) {
      if (!this.#segments.has(segment)) await this.#makeSegment(segment);
    }
  }

  async dropSegments(before: number): Promise<number> {
    // Those included that could not be dropped before: nobody reads them any more.
    this.#segments.addTables(await this.#dialect.listTables(this.#knex, SEGMENT_PREFIX));
    const ended = this.#segments.endedBefore(before);
    for (const segment of ended) {
      // Attempts first: were the segment gone, nothing would tell whose they are.
      await this.#pruneAttempts(segment);
      this.#segments.remove(segment);
      await this.#knex.raw(`DROP TABLE IF EXISTS ${segment.table}`);
    }
    return ended.length;
  }

  async close(): Promise<void> {
    await this.#knex.destroy();
  }

  async #checkServer(): Promise<void> {
    const fault = await this.#dialect.findFault(this.#knex);
    if (fault !== null) throw new StoreUnusable(fault);
    const weakness = await this.#dialect.findWeakness(this.#knex);
    if (weakness === null) return;
    const message = `a power cut could lose accepted tasks: ${weakness}`;
    if (!this.#allowWeakDurability) throw new StoreUnusable(message);
    this.#log.warn(message);
  }

  #beginTerm(owner: string, now: number, held: number | undefined): Promise<number> {
    const raise: Statement = {
      sql: 'UPDATE master SET term = term + 1, owner = ?, started_at = ? WHERE id = 1',
      runs: [[owner, now]],
      touches: 1,
    };
    return this.#database.transaction(async (connection) => {
      const begin = [plain(this.#dialect.begin), this.#readTerm()];
      const [, before] = await this.#dialect.run(connection, begin);
      // A term of our own may have begun without our hearing of it.
      if (held !== undefined && before?.rows[0]?.['owner'] !== owner) {
        throw new TermLost(`term ${held} is over: another master has begun one`);
      }
      const [, after] = await this.#dialect.run(connection, [raise, this.#readTerm()]);
      return termIn(after);
    });
  }

  /** Locks the row, so that no newer term begins before this transaction has ended. */
  #readTerm(): Statement {
    return plain(`SELECT term, owner FROM master WHERE id = 1${this.#dialect.lockRow}`);
  }

  async #write(
    connection: Connection,
    term: number,
    statements: readonly Statement[],
  ): Promise<void> {
    let outcomes: Outcome[];
    try {
      const begin = [plain(this.#dialect.begin), this.#readTerm()];
      outcomes = await this.#dialect.run(connection, [...begin, ...statements]);
    } catch (error) {
      if (!this.#dialect.isDuplicate(error)) throw error;
      // A newer master may be why the row is there.
      const [read] = await this.#dialect.run(connection, [this.#readTerm()]);
      checkTerm(read, term);
      throw new CommitConflict(String(error), { cause: error });
    }
    const [, read, ...written] = outcomes;
    checkTerm(read, term);
    for (const [index, { sql, touches }] of statements.entries()) {
      const touched = written[index]?.touched;
      if (touches !== null && touched !== touches) {
        const head = sql.slice(0, sql.indexOf(' ', 12));
        throw new CommitConflict(`${head}: ${touched} rows instead of ${touches}`);
      }
    }
  }

  /** Those that lack an index are completed: reads name the index they go by. */
  async #findSegments(): Promise<void> {
    const dialect = this.#dialect;
    for (const table of await dialect.findHalfMade(this.#knex, SEGMENT_PREFIX, segmentIndexes)) {
      const segment = segmentNamed(table);
      if (segment !== null) await this.#makeSegment(segment);
    }
    this.#segments.replace(await dialect.listTables(this.#knex, SEGMENT_PREFIX));
  }

  async #makeSegment(segment: Segment): Promise<void> {
    await this.#database.changeSchema(createSegment(this.#dialect, segment.table));
    this.#segments.add(segment);
  }

  async #pruneAttempts({ table }: Segment): Promise<void> {
    let after = 0;
    for (;;) {
      const rows = await this.#database.rows(
        'SELECT task_seq FROM task_attempt WHERE task_seq > ? ORDER BY task_seq LIMIT ?',
        [after, PRUNE_COUNT],
      );
      const last = rows.at(-1)?.['task_seq'] as number | undefined;
      if (last === undefined) return;
      await this.#knex.raw(
        `DELETE FROM task_attempt WHERE task_seq > ? AND task_seq <= ? AND task_seq IN (SELECT seq FROM ${table})`,
        [after, last],
      );
      after = last;
    }
  }
}

function termIn(outcome: Outcome | undefined): number {
  return outcome?.rows[0]?.['term'] as number;
}

function checkTerm(outcome: Outcome | undefined, term: number): void {
  const newest = termIn(outcome);
  if (newest !== term) throw new TermLost(`term ${term} is over: the newest is ${newest}`);
}
