/**
 * Reads and transactions on a pool of connections, which is tarn's. A connection that failed in a way that is not understood
 * never goes back to the pool as it is. Knows nothing of tasks.
 */
import pRetry from 'p-retry';
import { Pool, TimeoutError } from 'tarn';
import { CommitConflict, type Position, TermLost } from '../../application/ports.ts';
import type { Connection, Connections, Dialect, Statement } from './dialects/dialect.ts';
import { padded, placeholders, plain } from './dialects/dialect.ts';
import type { Pace } from './pace.ts';
import type { Row, Value } from './rows.ts';

/** A transaction that keeps losing to rivals has failed. */
const REPEATS_MAX = 5;
const REPEAT_DELAY_MS = 10;

/** A statement, with what it binds. */
export interface Read {
  readonly sql: string;
  readonly values: readonly Value[];
}

/**
 * Opens one when it is needed. One that cannot be opened fails whoever has waited for longest; then the next one is
 * opened for the next, so that of several the last learns of it after as many attempts, or after `waitMs`.
 */
export function poolOf(connections: Connections): Pool<Connection> {
  const { min, max, idleMs, waitMs } = connections;
  return new Pool({
    create: () => connections.open(),
    destroy: (connection: Connection) => connections.close(connection),
    validate: (connection) => connections.isSound(connection),
    min,
    max,
    idleTimeoutMillis: idleMs,
    acquireTimeoutMillis: waitMs,
    propagateCreateError: true,
  });
}

export class Database {
  readonly dialect: Dialect;
  /** For work on what was read: rows may be large, whichever database they come from. */
  readonly pace: Pace;
  readonly #pool: Pool<Connection>;
  /** The only one to use; null: any of the pool. */
  readonly #connection: Connection | null;
  /**
   * One that is free, and that the pool takes for one in use: to ask the pool costs two timers and some twenty
   * promises, more than a lone statement. Only where the database is in this process, which ends no connection that is idle.
   */
  #atHand: Connection | null = null;
  #isClosed = false;

  constructor(
    pool: Pool<Connection>,
    dialect: Dialect,
    pace: Pace,
    connection: Connection | null = null,
  ) {
    this.#pool = pool;
    this.dialect = dialect;
    this.pace = pace;
    this.#connection = connection;
  }

  async rows(sql: string, values: readonly Value[] = []): Promise<readonly Row[]> {
    const [rows = []] = await this.rowsOfEach([{ sql, values }]);
    return rows;
  }

  /** Of several statements, which travel together. */
  async rowsOfEach(reads: readonly Read[]): Promise<readonly (readonly Row[])[]> {
    const statements = reads.map(({ sql, values }): Statement => {
      return { sql, runs: [values], touches: null };
    });
    const outcomes = await this.#connected((connection) =>
      this.dialect.run(connection, statements),
    );
    return outcomes.map(({ rows }) => rows);
  }

  /**
   * A piece of work that only a person waits for. Where the database works in this thread, a commit would wait for
   * whatever such pieces look at: there is one at a time.
   */
  aside<T>(piece: () => Promise<T>): Promise<T> {
    return this.dialect.isInProcess ? this.pace.aside(piece) : piece();
  }

  /**
   * Commits what the work began: `dialect.begin` is for the work to send, with its first
   * statements. Repeats the work when a rival transaction had it rolled back, a few times.
   */
  transaction<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    return this.#committed(async (connection) => {
      const value = await work(connection);
      await this.dialect.run(connection, [plain('COMMIT')]);
      return value;
    });
  }

  /**
   * The same of what may be lost with the power, where the database can: then with all that was committed so after it.
   * Nobody waits for the disk.
   */
  unflushedTransaction<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    const { setFlushed } = this.dialect;
    if (setFlushed === undefined) return this.transaction(work);
    return this.#committed(async (connection) => {
      setFlushed(connection, false);
      const value = await work(connection);
      await this.dialect.run(connection, [plain('COMMIT')]);
      setFlushed(connection, true);
      return value;
    });
  }

  async #committed<T>(once: (connection: Connection) => Promise<T>): Promise<T> {
    try {
      return await this.#connected(once);
    } catch (error) {
      if (!this.dialect.isPassing(error)) throw error;
    }
    return pRetry(() => this.#connected(once), {
      retries: REPEATS_MAX - 1,
      minTimeout: REPEAT_DELAY_MS,
      randomize: true,
      shouldRetry: ({ error }) => this.dialect.isPassing(error),
    });
  }

  /**
   * Runs statements that change the schema: all or none of them where the database can. Where it
   * commits after each, the process may end between any two: each must bear to be run again.
   */
  async changeSchema(statements: readonly string[]): Promise<void> {
    if (this.dialect.schemaInTransactions) {
      await this.transaction(async (connection) => {
        await this.dialect.run(connection, [this.dialect.begin, ...statements].map(plain));
      });
      return;
    }
    // One by one: each has all the time that a statement may take.
    await this.#connected(async (connection) => {
      for (const sql of statements) await this.dialect.run(connection, [plain(sql)]);
    });
  }

  /**
   * Nobody else migrates this database meanwhile. What changes the schema is to be done with the
   * `Database` that the work is given: on the connection that has the lock, which is so neither idle
   * while a step takes long, nor lost while the step goes on.
   */
  async exclusively<T>(work: (alone: Database) => Promise<T>): Promise<T> {
    const lock = this.dialect.schemaLock;
    if (lock === null) return work(this);
    return this.#connected(async (connection) => {
      const [outcome] = await this.dialect.run(connection, [plain(lock.take)]);
      if (outcome?.rows[0]?.['taken'] !== 1) throw new Error('another master is migrating');
      try {
        return await work(new Database(this.#pool, this.dialect, this.pace, connection));
      } finally {
        await this.dialect.run(connection, [plain(lock.release)]).catch(() => undefined);
      }
    });
  }

  async #connected<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    if (this.#connection !== null) return work(this.#connection);
    // The pool would let it wait for as long as for a connection.
    if (this.#isClosed) throw new Error('the database is closed');
    const connection = this.#takeAtHand() ?? (await this.#acquire());
    let isSound = true;
    try {
      return await work(connection);
    } catch (error) {
      isSound = false;
      await this.#restore(connection, error);
      throw error;
    } finally {
      this.#release(connection, isSound);
    }
  }

  #takeAtHand(): Connection | null {
    const connection = this.#atHand;
    this.#atHand = null;
    return connection;
  }

  /** To whoever waits for it, in the order in which they came; else it stays at hand. */
  #release(connection: Connection, isSound: boolean): void {
    const mayStay = isSound && this.dialect.isInProcess && !this.#isClosed;
    if (mayStay && this.#atHand === null && this.#pool.numPendingAcquires() === 0) {
      this.#atHand = connection;
    } else this.#pool.release(connection);
  }

  async #acquire(): Promise<Connection> {
    try {
      return await this.#pool.acquire().promise;
    } catch (error) {
      if (!(error instanceof TimeoutError)) throw error;
      const message = 'no connection to the database became free in time';
      throw new Error(message, { cause: error });
    }
  }

  /** Resolves when those in use have come back, and all are closed. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const connection = this.#takeAtHand();
    if (connection !== null) this.#pool.release(connection);
    await this.#pool.destroy();
  }

  async #restore(connection: Connection, error: unknown): Promise<void> {
    const understood =
      error instanceof TermLost || error instanceof CommitConflict || this.dialect.isPassing(error);
    try {
      if (!understood) throw error;
      // A lock wait that timed out undoes one statement only.
      await this.dialect.run(connection, [plain('ROLLBACK')]);
      this.dialect.setFlushed?.(connection, true);
    } catch {
      this.dialect.discard(connection);
    }
  }
}

/** Spelled so that both planners begin reading the index at the position. */
export function isBeyond(column: string, after: Position | null): Read {
  if (after === null) return { sql: '', values: [] };
  return {
    sql: ` AND ${column} >= ? AND (${column} > ? OR seq > ?)`,
    values: [after.time, after.time, after.seq],
  };
}

/** The same of one that is read from its end. */
export function isBefore(column: string, before: Position): Read {
  const { time, seq } = before;
  return {
    sql: ` AND ${column} <= ? AND (${column} < ? OR seq < ?)`,
    values: [time, time, seq],
  };
}

/** Whether the column has one of these, or this one. */
export function isAmong(column: string, values: string | readonly string[]): Read {
  const asked = padded([values].flat());
  if (asked.length === 0) return { sql: '1 = 0', values: [] };
  return { sql: `${column} IN ${placeholders(1, asked.length)}`, values: asked };
}

/** The same of `Types.name`, with its blanks. */
export function isNamed(column: string, names: string | readonly string[]): Read {
  const { sql, values } = isAmong(column, names);
  if (values.length === 0) return { sql, values };
  const bytes = values.map(() => 'HEX(?)').join(', ');
  return { sql: `${sql} AND HEX(${column}) IN (${bytes})`, values: [...values, ...values] };
}

/** The same database twice, by two pools. */
export interface Databases {
  /** Of the engine alone. */
  readonly engine: Database;
  /** Of whoever else asks: nothing that they ask for stands in front of a commit. */
  readonly readers: Database;
}
