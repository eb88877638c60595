/**
 * Who may write: begins terms, and lets nothing be written but under the newest. Knows nothing of
 * tasks.
 */
import type { Log } from '../../application/ports.ts';
import { CommitConflict, TermLost } from '../../application/ports.ts';
import type { Database } from './database.ts';
import type { Connection, Dialect, Outcome, Statement } from './dialects/dialect.ts';
import { plain } from './dialects/dialect.ts';
import type { Databases } from './queries.ts';
import type { Row } from './rows.ts';

/** How often to look for what keeps a term from beginning. */
const WRITER_CHECK_MS = 500;

export class Terms {
  readonly #engine: Database;
  readonly #readers: Database;
  readonly #dialect: Dialect;
  readonly #log: Log;

  constructor({ engine, readers }: Databases, log: Log) {
    this.#engine = engine;
    this.#readers = readers;
    this.#dialect = engine.dialect;
    this.#log = log;
  }

  /**
   * @param held the term that this owner had until now; absent at its start.
   * @throws {TermLost} another owner has begun a term since `held`.
   */
  async begin(owner: string, now: number, held?: number): Promise<Begun> {
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
  async confirm(term: number): Promise<void> {
    checkTerm(await this.#engine.rows('SELECT term FROM master WHERE id = 1'), term);
  }

  /**
   * One transaction, of this term or none.
   * @throws {TermLost} a newer term has begun; nothing was written.
   * @throws {CommitConflict} a statement has not touched the rows that it must; nothing was written.
   */
  write(term: number, now: number, statements: readonly Statement[]): Promise<void> {
    return this.#engine.transaction((connection) => this.#run(connection, term, now, statements));
  }

  async #run(
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

export interface Begun {
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
