/**
 * Who may write: begins terms of namespaces, and lets nothing be written but under the newest of each.
 * Knows nothing of tasks.
 */
import type { Commit, Log } from '../../../application/ports.ts';
import {
  CommitConflict,
  DEFAULT_NAMESPACE_ID,
  StoreUnusable,
  TermLost,
} from '../../../application/ports.ts';
import type { Audit } from '../../../domain/changes.ts';
import type { Settings } from '../../../domain/state/state.ts';
import { appendAudit } from '../audit/append.ts';
import type { Database } from '../database.ts';
import type { Connection, Dialect, Outcome, Statement } from '../dialects/dialect.ts';
import { padded, placeholders, plain } from '../dialects/dialect.ts';
import type { Databases } from '../database.ts';
import type { Row } from '../rows.ts';
import { SETTINGS, settingsOf } from './settings.ts';

/** Under which term a namespace is written to, and what the commit says of it. */
export interface Heading extends Pick<Commit, 'term' | 'now' | 'lastSeq'> {
  readonly ns: number;
  /** How many numbers the feed takes by it; absent: none. */
  readonly eventCount?: number;
}

/** How often to look for what keeps a term from beginning. */
const WRITER_CHECK_MS = 500;

const DEPOSED = 'another master has begun a term';
const rowMissing = (ns: number): string =>
  `the table namespace has no row with id ${ns}, which says whose term it is: restore a backup`;

export class Terms {
  readonly #engine: Database;
  readonly #readers: Database;
  readonly #dialect: Dialect;
  readonly #log: Log;
  /** Of the newest term of the first namespace that was begun here: it is always led. */
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
  async begin(ns: number, owner: string, now: number, held?: number): Promise<Begun> {
    const stop = this.#endSilentWriters(ns);
    try {
      return await this.#raiseTerm(ns, owner, now, held);
    } finally {
      stop();
    }
  }

  /**
   * A master that stands still in a transaction keeps the row of the term, until the server ends
   * its connection or somebody else does. What it has not committed it cannot have promised.
   */
  #endSilentWriters(ns: number): () => void {
    const { endSilentWriter } = this.#dialect;
    if (endSilentWriter === null) return () => undefined;
    let isLooking = false;
    const look = async (): Promise<void> => {
      if (isLooking) return;
      isLooking = true;
      try {
        if (await endSilentWriter(this.#readers, ns)) {
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

  #raiseTerm(ns: number, owner: string, now: number, held: number | undefined): Promise<Begun> {
    // One whose deletion was given up may be deleted late: what comes in now is to be found again.
    const set = `is_deleted = 0, term = term + 1, owner = ?, started_at = ?, writer = ${this.#dialect.connectionId}`;
    const raise: Statement = {
      sql: `UPDATE namespace SET ${set} WHERE id = ?`,
      runs: [[owner, now, ns]],
      touches: 1,
    };
    return this.#engine.transaction(async (connection) => {
      const begin = [plain(this.#dialect.begin), this.#readTerm(ns)];
      const [, before] = await this.#dialect.run(connection, begin);
      // One that has served waits: the row may be put back.
      if (before?.rows.length === 0 && held === undefined) throw new StoreUnusable(rowMissing(ns));
      const { owner: newest, alive_at, unfinished } = present(before?.rows[0], ns);
      // A term of our own may have begun without our hearing of it.
      if (held !== undefined && newest !== owner) {
        throw new TermLost(`term ${held} is over: another master has begun one`);
      }
      const [, after] = await this.#dialect.run(connection, [raise, this.#readTerm(ns)]);
      const row = present(after?.rows[0], ns);
      if (ns === DEFAULT_NAMESPACE_ID) this.#owner = owner;
      return {
        term: row['term'] as number,
        lastSeq: (row['next_seq'] as number) - 1,
        lastEventSeq: (row['next_event_seq'] as number) - 1,
        aliveAt: alive_at as number | null,
        unfinished: unfinished as string | null,
        settings: settingsOf(row),
      };
    });
  }

  /**
   * The fence: it writes nothing where the term is over, and keeps a newer one from beginning until
   * this transaction has ended. Says who holds the row, when its master was alive, and which `seq`
   * comes next: never a lower one, since a commit that counted for lost may take place late. The numbers of the
   * feed grow by those that this commit takes.
   */
  #fence(headings: readonly Heading[]): Statement {
    const nextSeq = 'CASE WHEN next_seq > ? THEN next_seq ELSE ? END';
    const set = `writer = ${this.#dialect.connectionId}, alive_at = ?, next_seq = ${nextSeq},
      next_event_seq = next_event_seq + ?`;
    return {
      sql: `UPDATE namespace SET ${set} WHERE id = ? AND term = ?`,
      runs: headings.map(({ ns, term, now, lastSeq, eventCount = 0 }) => {
        return [now, lastSeq + 1, lastSeq + 1, eventCount, ns, term];
      }),
      touches: headings.length,
    };
  }

  /** Locks the row, so that no newer term begins before this transaction has ended. */
  #readTerm(ns: number): Statement {
    const columns = ['term', 'owner', 'alive_at', 'next_seq', 'next_event_seq', 'unfinished'];
    const list = [...columns, ...SETTINGS].join(', ');
    const sql = `SELECT ${list} FROM namespace WHERE id = ?${this.#dialect.lockRow}`;
    return { sql, runs: [[ns]], touches: null };
  }

  /**
   * Asks whether these terms still stand; writes and locks nothing.
   * @throws {TermLost} one of them is over.
   */
  async confirm(headings: readonly Heading[]): Promise<void> {
    const ids = padded(headings.map(({ ns }) => ns));
    const rows = await this.#engine.rows(
      `SELECT id, term, owner FROM namespace WHERE id IN ${placeholders(1, ids.length)}`,
      ids,
    );
    const byId = new Map(rows.map((row) => [row['id'], row]));
    for (const { ns, term } of headings) checkTerm(byId.get(ns), ns, term);
  }

  /**
   * For work beside the engines, which outlives a term of ours but not that of another.
   * @throws {TermLost} another owner has begun a term.
   */
  async confirmOwner(): Promise<void> {
    const sql = 'SELECT owner FROM namespace WHERE id = ?';
    const rows = await this.#readers.rows(sql, [DEFAULT_NAMESPACE_ID]);
    if (present(rows[0], DEFAULT_NAMESPACE_ID)['owner'] !== this.#owner) {
      throw new TermLost(DEPOSED);
    }
  }

  /**
   * The fence of a transaction of such work: no other owner begins a term before it has ended. What may take long
   * comes before it: until the end every commit of the namespace waits.
   * @throws {TermLost} another owner has begun a term.
   */
  async fenceAsOwner(connection: Connection): Promise<void> {
    const set = `writer = ${this.#dialect.connectionId}`;
    const sql = `UPDATE namespace SET ${set} WHERE id = ? AND owner = ?`;
    const fence = { sql, runs: [[DEFAULT_NAMESPACE_ID, this.#owner]], touches: 1 };
    const [fenced] = await this.#dialect.run(connection, [fence]);
    if (fenced?.touched !== 1) throw new TermLost(DEPOSED);
  }

  /**
   * One transaction, of these terms or none; with what people have changed by it.
   * @throws {TermLost} a newer term has begun; nothing was written.
   * @throws {CommitConflict} a statement has not touched the rows that it must, or, where there are
   *   several, one of these terms is over; nothing was written.
   */
  write(
    headings: readonly Heading[],
    statements: readonly Statement[],
    audit: readonly Audit[] = [],
  ): Promise<void> {
    // In one order, so that two masters do not wait for each other.
    const ordered = headings.toSorted((a, b) => a.ns - b.ns);
    return this.#engine.transaction(async (connection) => {
      await this.#run(connection, ordered, statements);
      if (audit.length === 0) return;
      const records = audit.map(({ record }) => record);
      await appendAudit(this.#dialect, connection, records);
    });
  }

  async #run(
    connection: Connection,
    headings: readonly Heading[],
    statements: readonly Statement[],
  ): Promise<void> {
    const fenced = [this.#fence(headings), ...statements];
    let outcomes: Outcome[];
    try {
      outcomes = await this.#dialect.run(connection, [plain(this.#dialect.begin), ...fenced]);
    } catch (error) {
      if (!this.#dialect.isDuplicate(error)) throw error;
      // A newer master may be why the row is there.
      await this.#checkTerm(connection, headings);
      throw new CommitConflict(String(error), { cause: error });
    }
    const written = outcomes.slice(1);
    if (written[0]?.touched !== headings.length) await this.#checkTerm(connection, headings);
    for (const [index, { sql, touches }] of fenced.entries()) {
      const touched = written[index]?.touched;
      if (touches !== null && touched !== touches) {
        throw new CommitConflict(`${headOf(sql)}: ${touched} rows instead of ${touches}`);
      }
    }
  }

  /** Of several, each is to be asked by itself. */
  async #checkTerm(connection: Connection, [only, ...others]: readonly Heading[]): Promise<void> {
    if (only === undefined || others.length > 0) return;
    const [read] = await this.#dialect.run(connection, [this.#readTerm(only.ns)]);
    checkTerm(read?.rows[0], only.ns, only.term);
  }
}

/** What a statement does to which table. It may hold rows as text, which are nobody's business: those come later. */
function headOf(sql: string): string {
  const [, verb, table] = /^(?=(\w+)).*?(?:INTO|FROM|UPDATE) (\w+)/s.exec(sql) ?? [];
  return `${verb} ${table}`;
}

export interface Begun {
  readonly term: number;
  /** When the newest commit before it was made; null where no commit has said so yet. */
  readonly aliveAt: number | null;
  /** The highest `seq` that it, or one before it, had given. */
  readonly lastSeq: number;
  /** The same of its feed. */
  readonly lastEventSeq: number;
  /** Of times that are to move: what a term before has left to be done. */
  readonly unfinished: string | null;
  readonly settings: Settings;
}

/** That it is not there does not say that another master has begun a term. */
function present(row: Row | undefined, ns: number): Row {
  if (row === undefined) throw new Error(rowMissing(ns));
  return row;
}

function checkTerm(row: Row | undefined, ns: number, term: number): void {
  const { term: newest, owner } = present(row, ns);
  if (newest === term) return;
  // Host and process; the rest is for machines.
  const [host, pid] = String(owner).split(':');
  const who = `another master (process ${pid} on ${host}) has begun term ${newest as number}`;
  throw new TermLost(`term ${term} is over: ${who} on this database, which takes one master`);
}
