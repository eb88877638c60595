/**
 * The store of tasks in SQL: terms, commits and segments. What it reads is in `queries.ts`, what
 * a commit writes in `commit.ts`, what differs between databases behind `dialect.ts`. It decides
 * nothing about tasks.
 */
import type { Commit, Log, TaskStore } from '../../application/ports.ts';
import { CommitConflict, StoreUnusable, TermLost } from '../../application/ports.ts';
import { planCommit } from './commit.ts';
import type { Database } from './database.ts';
import type { Connection, Dialect, Outcome, Statement } from './dialects/dialect.ts';
import { plain } from './dialects/dialect.ts';
import { History } from './history.ts';
import { keepSecrets } from './installation.ts';
import { migrate } from './migrations.ts';
import { type Databases, Queries } from './queries.ts';
import type { Row } from './rows.ts';

/** Clocks of different machines differ by less. */
const CLOCK_SKEW_MS = 1_000;
/** A retry that waits no longer than this was to follow at once. */
const SOON_MS = 1_000;
/** Tasks whose due time is set at once. */
const DUE_COUNT = 5_000;
/** How often to look for what keeps a term from beginning. */
const WRITER_CHECK_MS = 500;

export class SqlStore extends Queries implements TaskStore {
  readonly #engine: Database;
  readonly #readers: Database;
  readonly #dialect: Dialect;
  readonly #history: History;
  readonly #allowWeakDurability: boolean;
  readonly #log: Log;

  constructor(
    databases: Databases,
    options: { readonly allowWeakDurability: boolean; readonly log: Log },
  ) {
    const history = new History(databases.readers);
    super(databases, history, options.log);
    this.#engine = databases.engine;
    this.#readers = databases.readers;
    this.#dialect = databases.engine.dialect;
    this.#history = history;
    this.#allowWeakDurability = options.allowWeakDurability;
    this.#log = options.log;
  }

  async takeTerm(owner: string, now: number, held?: number): ReturnType<TaskStore['takeTerm']> {
    const askedAt = performance.now();
    try {
      await this.#checkServer();
      await migrate(this.#readers);
      await this.#history.find();
      await this.#history.prepare(now);
      const { term, aliveAt } = await this.#beginTerm(owner, now, held);
      // Until the row was free another master may have gone on writing, by the same clock.
      const waitedMs = Math.ceil(performance.now() - askedAt);
      await this.#followClock(term, now + waitedMs, aliveAt ?? (await this.#newestSubmit()));
      const secrets = await keepSecrets(this.#readers);
      return { term, lastSeq: await this.lastSeq(), secrets, aliveAt };
    } catch (error) {
      const refusal = this.#dialect.refusalOf(error);
      // One that has served before keeps its executors, and waits to be let in again.
      if (refusal === null || held !== undefined) throw error;
      throw new StoreUnusable(`the database server refuses: ${refusal}`, { cause: error });
    }
  }

  async commit(commit: Commit): Promise<void> {
    const { statements, missing } = planCommit(this.#dialect, this.#history.segments, commit);
    const saysAlive = statements.length > 0 || commit.saysAlive;
    if (!saysAlive) return this.#confirm(commit.term);
    // Making a table would end the transaction, so it comes before.
    for (const segment of missing) await this.#history.make(this.#engine, segment);
    await this.#engine.transaction((connection) =>
      this.#write(connection, commit.term, commit.now, statements),
    );
  }

  prepareSegments(now: number): Promise<void> {
    return this.#history.prepare(now);
  }

  dropSegments(before: number): Promise<number> {
    return this.#history.drop(before);
  }

  async close(): Promise<void> {
    await Promise.all(
      [...new Set([this.#engine, this.#readers])].map(({ knex }) => knex.destroy()),
    );
  }

  async #checkServer(): Promise<void> {
    const fault = await this.#dialect.findFault(this.#readers.knex);
    if (fault !== null) throw new StoreUnusable(fault);
    const weakness = await this.#dialect.findWeakness(this.#readers.knex);
    if (weakness === null) return;
    const message = `a power cut could lose accepted tasks: ${weakness}`;
    if (!this.#allowWeakDurability) throw new StoreUnusable(message);
    this.#log.warn(message);
  }

  async #beginTerm(owner: string, now: number, held: number | undefined): Promise<Begun> {
    const stop = this.#endSilentWriters();
    try {
      return await this.#raiseTerm(owner, now, held);
    } finally {
      stop();
    }
  }

  /**
   * A master that stands still in a transaction keeps the row of the term, until the server ends
   * its connection or somebody else does. What it has not committed it cannot have promised.
   */
  #endSilentWriters(): () => void {
    const { endSilentWriter } = this.#dialect;
    if (endSilentWriter === null) return () => undefined;
    let isLooking = false;
    const look = async (): Promise<void> => {
      if (isLooking) return;
      isLooking = true;
      try {
        if (await endSilentWriter(this.#readers.knex)) {
          this.#log.warn('the connection of a master that stands still was ended', {
            event: 'term',
          });
        }
      } catch (error) {
        // Then the server ends it, later.
        this.#log.debug('a connection was not ended', { event: 'term', error: String(error) });
      }
      isLooking = false;
    };
    const timer = setInterval(() => void look(), WRITER_CHECK_MS);
    return () => clearInterval(timer);
  }

  #raiseTerm(owner: string, now: number, held: number | undefined): Promise<Begun> {
    const set = `term = term + 1, owner = ?, started_at = ?, writer = ${this.#dialect.connectionId}`;
    const raise: Statement = {
      sql: `UPDATE master SET ${set} WHERE id = 1`,
      runs: [[owner, now]],
      touches: 1,
    };
    return this.#engine.transaction(async (connection) => {
      const begin = [plain(this.#dialect.begin), this.#readTerm()];
      const [, before] = await this.#dialect.run(connection, begin);
      // A term of our own may have begun without our hearing of it.
      if (held !== undefined && before?.rows[0]?.['owner'] !== owner) {
        throw new TermLost(`term ${held} is over: another master has begun one`);
      }
      const [, after] = await this.#dialect.run(connection, [raise, this.#readTerm()]);
      const aliveAt = (before?.rows[0]?.['alive_at'] ?? null) as number | null;
      return { term: termIn(after?.rows ?? []), aliveAt };
    });
  }

  /** A store of 2.0.0 does not say when its master was last alive: this late at least. */
  async #newestSubmit(): Promise<number> {
    const newest = `SELECT submitted_at FROM ${this.#dialect.readByKey('task')}`;
    const [row] = await this.#engine.rows(`${newest} ORDER BY seq DESC LIMIT 1`);
    return (row?.['submitted_at'] as number | undefined) ?? 0;
  }

  /**
   * The wall clock may have been set back since the newest commit. Whatever was due then stays
   * due; a wait that had begun lasts as long as was planned. A `run_at` that has not come is left
   * alone: it is meant by the wall clock. Nothing else is bound to it.
   */
  async #followClock(term: number, now: number, aliveAt: number): Promise<void> {
    const backMs = aliveAt - now;
    if (backMs < CLOCK_SKEW_MS) return;
    this.#log.warn('the clock was set back: due times follow it', { event: 'clock', ms: backMs });
    await this.#keepDue(now, aliveAt);
    const once = (sql: string, values: number[]): Statement => {
      return { sql, runs: [values], touches: null };
    };
    const changes = this.#history.segments.newestFirst.flatMap(({ table }) => {
      const pending = `UPDATE ${table} SET notify_next_at = %s WHERE notify_state = 'pending'`;
      return [
        once(`${pending.replace('%s', '?')} AND notify_next_at > ? AND notify_next_at <= ?`, [
          now,
          now,
          aliveAt,
        ]),
        once(`${pending.replace('%s', 'notify_next_at - ?')} AND notify_next_at > ?`, [
          backMs,
          aliveAt,
        ]),
      ];
    });
    // A retry: nothing else sets both alike after an attempt that failed. One that follows at once
    // keeps its head start, and is due within the second.
    const retries = once(
      `UPDATE task SET due_at = due_at - ? WHERE state = 'waiting' AND due_at > ?
       AND (due_at = order_time OR due_at <= ?) AND last_outcome IN ('failed', 'timed_out')`,
      [backMs, aliveAt, aliveAt + SOON_MS],
    );
    // All or none: a wait that is shortened twice would be over at once.
    await this.#engine.transaction((connection) =>
      this.#write(connection, term, now, [retries, ...changes]),
    );
  }

  /** Can be interrupted and begun again. Some at a time: there may be millions. */
  async #keepDue(now: number, aliveAt: number): Promise<void> {
    const rows = this.#dialect.readBy('task', 'task_due');
    const within = 'WHERE due_at > ? AND due_at <= ?';
    for (;;) {
      const [bound] = await this.#engine.rows(
        `SELECT due_at FROM ${rows} ${within} ORDER BY due_at, seq LIMIT 1 OFFSET ${DUE_COUNT}`,
        [now, aliveAt],
      );
      const upTo = (bound?.['due_at'] as number | undefined) ?? aliveAt;
      await this.#engine.rows(`UPDATE task SET due_at = ? ${within}`, [now, now, upTo]);
      if (bound === undefined) return;
    }
  }

  /**
   * The fence: it writes nothing where the term is over, and keeps a newer one from beginning until
   * this transaction has ended. Says who holds the row, and when its master was alive.
   */
  #fence(term: number, now: number): Statement {
    const set = `writer = ${this.#dialect.connectionId}, alive_at = ?`;
    return {
      sql: `UPDATE master SET ${set} WHERE id = 1 AND term = ?`,
      runs: [[now, term]],
      touches: 1,
    };
  }

  /** Locks the row, so that no newer term begins before this transaction has ended. */
  #readTerm(): Statement {
    return plain(`SELECT term, owner, alive_at FROM master WHERE id = 1${this.#dialect.lockRow}`);
  }

  /** One that only asks whether its term still stands writes and locks nothing. */
  async #confirm(term: number): Promise<void> {
    checkTerm(await this.#engine.rows('SELECT term FROM master WHERE id = 1'), term);
  }

  async #write(
    connection: Connection,
    term: number,
    now: number,
    statements: readonly Statement[],
  ): Promise<void> {
    const fenced = [this.#fence(term, now), ...statements];
    let outcomes: Outcome[];
    try {
      outcomes = await this.#dialect.run(connection, [plain(this.#dialect.begin), ...fenced]);
    } catch (error) {
      if (!this.#dialect.isDuplicate(error)) throw error;
      // A newer master may be why the row is there.
      await this.#checkTerm(connection, term);
      throw new CommitConflict(String(error), { cause: error });
    }
    const written = outcomes.slice(1);
    if (written[0]?.touched !== 1) await this.#checkTerm(connection, term);
    for (const [index, { sql, touches }] of fenced.entries()) {
      const touched = written[index]?.touched;
      if (touches !== null && touched !== touches) {
        const head = sql.slice(0, sql.indexOf(' ', 12));
        throw new CommitConflict(`${head}: ${touched} rows instead of ${touches}`);
      }
    }
  }

  async #checkTerm(connection: Connection, term: number): Promise<void> {
    const [read] = await this.#dialect.run(connection, [this.#readTerm()]);
    checkTerm(read?.rows ?? [], term);
  }
}

interface Begun {
  readonly term: number;
  /** When the newest commit before it was made; null where no commit has said so yet. */
  readonly aliveAt: number | null;
}

function termIn([row]: readonly Row[]): number {
  return row?.['term'] as number;
}

function checkTerm(rows: readonly Row[], term: number): void {
  const newest = termIn(rows);
  if (newest !== term) throw new TermLost(`term ${term} is over: the newest is ${newest}`);
}
