/**
 * Who may write: begins terms, and lets nothing be written but under the newest. Knows nothing of
 * tasks.
 */
import type { Commit, Log } from '../../application/ports.ts';
import { CommitConflict, StoreUnusable, TermLost } from '../../application/ports.ts';
import type { Database } from './database.ts';
import type { Connection, Dialect, Outcome, Statement } from './dialects/dialect.ts';
import { plain } from './dialects/dialect.ts';
import type { Databases } from './queries.ts';
import type { Row } from './rows.ts';

/** Under which term a transaction is written, and what it says of it. */
export type Heading = Pick<Commit, 'term' | 'now' | 'lastSeq'>;

/** How often to look for what keeps a term from beginning. */
const WRITER_CHECK_MS = 500;

const ROW_MISSING =
  'the table master has no row with id 1, which says whose term it is: restore a backup';

export class Terms {
  readonly #engine: Database;
  readonly #readers: Database;
  readonly #dialect: Dialect;
  readonly #log: Log;
  /** Of the newest term that was begun here. */
  #owner = '';

  constructor({ engine, readers }: Databases, log: Log) {
    this.#engine = engine;
    this.#readers = readers;
    this.#dialect = engine.dialect;
    this.#log = log;
  }

  /**
   * @param held the term that this owner had until now; absent at its start.
   * @throws {TermLost} another owner has begun a term since `held`.
   * @throws {StoreUnusable} nothing says which term was the newest.
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
      // One that has served waits: the row may be put back.
      if (before?.rows.length === 0 && held === undefined) throw new StoreUnusable(ROW_MISSING);
      const { owner: newest } = rowOf(before?.rows ?? []);
      // A term of our own may have begun without our hearing of it.
      if (held !== undefined && newest !== owner) {
        throw new TermLost(`term ${held} is over: another master has begun one`);
      }
      const [, after] = await this.#dialect.run(connection, [raise, this.#readTerm()]);
      const aliveAt = (before?.rows[0]?.['alive_at'] ?? null) as number | null;
      const nextSeq = after?.rows[0]?.['next_seq'] as number;
      this.#owner = owner;
      return { term: termIn(after?.rows ?? []), aliveAt, lastSeq: nextSeq - 1 };
    });
  }

  /**
   * The fence: it writes nothing where the term is over, and keeps a newer one from beginning until
   * this transaction has ended. Says who holds the row, when its master was alive, and which `seq`
   * comes next: never a lower one, since a commit that counted for lost may take place late.
   */
  #fence({ term, now, lastSeq }: Heading): Statement {
    const nextSeq = 'CASE WHEN next_seq > ? THEN next_seq ELSE ? END';
    const set = `writer = ${this.#dialect.connectionId}, alive_at = ?, next_seq = ${nextSeq}`;
    return {
      sql: `UPDATE master SET ${set} WHERE id = 1 AND term = ?`,
      runs: [[now, lastSeq + 1, lastSeq + 1, term]],
      touches: 1,
    };
  }

  /** Locks the row, so that no newer term begins before this transaction has ended. */
  #readTerm(): Statement {
    const columns = 'term, owner, alive_at, next_seq';
    return plain(`SELECT ${columns} FROM master WHERE id = 1${this.#dialect.lockRow}`);
  }

  /** One that only asks whether its term still stands writes and locks nothing. */
  async confirm(term: number): Promise<void> {
    checkTerm(await this.#engine.rows('SELECT term, owner FROM master WHERE id = 1'), term);
  }

  /**
   * For work beside the engine, which outlives a term of ours but not that of another.
   * @throws {TermLost} another owner has begun a term.
   */
  async confirmOwner(): Promise<void> {
    const { owner } = rowOf(await this.#readers.rows('SELECT owner FROM master WHERE id = 1'));
    if (owner !== this.#owner) throw new TermLost('another master has begun a term');
  }

  /**
   * One transaction, of this term or none.
   * @throws {TermLost} a newer term has begun; nothing was written.
   * @throws {CommitConflict} a statement has not touched the rows that it must; nothing was written.
   */
  write(heading: Heading, statements: readonly Statement[]): Promise<void> {
    return this.#engine.transaction((connection) => this.#run(connection, heading, statements));
  }

  async #run(
    connection: Connection,
    heading: Heading,
    statements: readonly Statement[],
  ): Promise<void> {
    const { term } = heading;
    const fenced = [this.#fence(heading), ...statements];
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
  /** The highest `seq` that it, or one before it, had given. */
  readonly lastSeq: number;
}

/** That it is not there does not say that another master has begun a term. */
function rowOf([row]: readonly Row[]): Row {
  if (row === undefined) throw new Error(ROW_MISSING);
  return row;
}

function termIn(rows: readonly Row[]): number {
  return rowOf(rows)['term'] as number;
}

function checkTerm(rows: readonly Row[], term: number): void {
  const newest = termIn(rows);
  if (newest === term) return;
  // Host and process; the rest is for machines.
  const [host, pid] = String(rowOf(rows)['owner']).split(':');
  const who = `another master (process ${pid} on ${host}) has begun term ${newest}`;
  throw new TermLost(`term ${term} is over: ${who} on this database, which takes one master`);
}
