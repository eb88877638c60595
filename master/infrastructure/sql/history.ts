/**
 * The tables of history in the database: finds them, makes them, drops them, and keeps who reads
 * all of them from one that is gone. Knows no column of theirs but `seq`, and whether callbacks are still tried.
 */
import {
  type Archive,
  DEFAULT_NAMESPACE_ID,
  type EndedSegment,
  inNamespace,
} from '../../application/ports.ts';
import type { Retention } from '../../domain/model/task.ts';
import type { Database } from './database.ts';
import { plain, type Statement } from './dialects/dialect.ts';
import { SegmentIds } from './ids/segment-ids.ts';
import { pagesOf } from './listing/segment-pages.ts';
import { LogRemoval } from './logs/log-removal.ts';
import { LOG_TABLE } from './logs/log-table.ts';
import { makeSegment } from './migrations.ts';
import type { ListedSegment, Segment } from './segments.ts';
import {
  dateOf,
  DROPPED_PREFIX,
  droppedName,
  droppedNamed,
  endedBefore,
  nextSegmentAt,
  SEGMENT_PREFIX,
  segmentAt,
  segmentNamed,
  Segments,
} from './segments.ts';
import { historyIndexes, oldHistoryIndexes, outboxOf } from './tables/history.ts';

/** Tasks whose attempts and logs are deleted at once when a segment is dropped: other commits go in between. */
const PRUNE_COUNT = 200;

/** What dropping takes beside the database. */
export interface Dropping {
  /** Asked before each piece; throws where this master may not go on. */
  readonly confirm: () => Promise<void>;
  /** Resolves once no commit is under way that was begun before. */
  readonly settled: () => Promise<void>;
  /** Null: nothing is kept. */
  readonly archive: Archive | null;
}

export class History {
  readonly segments = new Segments();
  readonly ids: SegmentIds;
  readonly #database: Database;
  readonly #logs: LogRemoval;

  /** @param database not the engine's: dropping a segment takes long. */
  constructor(database: Database) {
    this.#database = database;
    this.#logs = new LogRemoval(database);
    this.ids = new SegmentIds(database);
  }

  /** Those that lack an index are completed: reads name the index they go by. */
  async find(): Promise<void> {
    const { dialect } = this.#database;
    for (const [table, names] of await dialect.listNames(this.#database, SEGMENT_PREFIX)) {
      const segment = segmentNamed(table);
      if (segment !== null && !isWhole(table, names)) await this.make(this.#database, segment);
    }
    await this.segments.refresh(() => this.#list());
  }

  /**
   * Those of today and tomorrow, by UTC, of the classes that namespaces have. Returns how many were
   * made.
   */
  async prepare(now: number): Promise<number> {
    const rows = await this.#database.rows(
      'SELECT DISTINCT retention FROM namespace WHERE is_deleted = 0',
    );
    const retentions = new Set([
      'normal',
      ...rows.map((row) => row['retention']),
    ]) as Set<Retention>;
    let madeCount = 0;
    for (const retention of retentions) {
      for (const segment of [segmentAt(retention, now), nextSegmentAt(retention, now)]) {
        if (this.segments.serves(segment)) continue;
        await this.make(this.#database, segment);
        madeCount += 1;
      }
    }
    return madeCount;
  }

  /** As it is to be, whatever of it is there. */
  async make(database: Database, segment: Segment): Promise<void> {
    const { dialect } = this.#database;
    const made = await dialect.listNames(this.#database, segment.table);
    await database.changeSchema(makeSegment(dialect, segment.table, made.get(segment.table)));
    this.segments.add(segment);
  }

  /**
   * Returns how many have gone; what was left of others goes first. One day that cannot go does not keep the others:
   * rejects once all were tried, with what failed first.
   */
  async drop(
    retention: Retention,
    { before, servedCount }: { readonly before: number; readonly servedCount: number },
    dropping: Dropping,
  ): Promise<number> {
    const { dialect } = this.#database;
    const left = await dialect.listTables(this.#database, DROPPED_PREFIX);
    let count = 0;
    const failures: unknown[] = [];
    const attempt = (work: () => Promise<boolean>): Promise<void> =>
      work().then(
        (hasGone) => void (count += hasGone ? 1 : 0),
        (error: unknown) => void failures.push(error),
      );
    const bury = (segment: Segment) => this.#bury(segment, dropping);
    for (const segment of left.map(droppedNamed)) {
      if (segment?.retention === retention) await attempt(() => bury(segment));
    }
    const listed = await this.#list();
    for (const segment of endedBefore(listed, retention, before, servedCount)) {
      // Else all that follow would fail too.
      await dropping.confirm();
      await attempt(async () => (await this.#retire(segment, dropping)) && bury(segment));
    }
    if (failures.length > 0) throw failures[0];
    return count;
  }

  /**
   * Gives it the name of those that are as good as gone: what counts from then on is the archive. False: a callback
   * of it is still tried, so that it stays. Comparing it takes long, and its tasks are known as ever meanwhile; it
   * leaves the list only for as long as it takes to be sure that nothing was written to it since.
   */
  async #retire(segment: ListedSegment, dropping: Dropping): Promise<boolean> {
    const { confirm, settled, archive } = dropping;
    const ended = this.#ended(segment);
    if (await this.#hasPending(segment)) return false;
    const prepared = await archive?.prepare(ended);
    const changed = () => new Error(`${segment.table} has changed while it was archived`);
    this.segments.watch(segment);
    if (prepared !== undefined) {
      // What was planned before it was watched is there then.
      await settled();
      if (await this.#hasPending(segment)) return false;
      if (!(await archive?.isStill(ended, prepared))) throw changed();
    }
    await confirm();
    this.segments.beginDrop(segment);
    let isRetired = false;
    try {
      // What was planned before may still come to it.
      await settled();
      if (await this.#hasPending(segment)) return false;
      await confirm();
      if (prepared !== undefined && !this.segments.isUntouched(segment)) throw changed();
      await this.#database.changeSchema([renamed(segment)]);
      isRetired = true;
    } finally {
      if (isRetired) this.ids.forget(segment);
      else this.segments.cancelDrop(segment);
    }
    return true;
  }

  #ended(segment: Segment): EndedSegment {
    const { retention } = segment;
    const pages = () => pagesOf(this.#database, segment);
    return { retention, day: dateOf(segment), pages };
  }

  async #hasPending(segment: ListedSegment): Promise<boolean> {
    const { dialect } = this.#database;
    const { from, where } = outboxOf(dialect, segment, DEFAULT_NAMESPACE_ID, 'namespace.id');
    const [row] = await this.#database.rows(
      `SELECT id FROM namespace
       WHERE EXISTS (SELECT 1 FROM ${from} WHERE ${where}notify_state = 'pending') LIMIT 1`,
    );
    return row !== undefined;
  }

  /**
   * Whoever is interrupted goes on here. False: the archive has lost what it had of it, or of one namespace, with the directory or the disk;
   * so it is a day of history again, and archived anew.
   */
  async #bury(segment: Segment, { confirm, archive }: Dropping): Promise<boolean> {
    const table = droppedName(segment);
    const day = { retention: segment.retention, day: dateOf(segment) };
    await confirm();
    if (archive !== null && !(await archive.holds(day, await this.#namespacesIn(table)))) {
      await this.#database.changeSchema([`ALTER TABLE ${table} RENAME TO ${segment.table}`]);
      const listed = (await this.#list()).find((one) => one.table === segment.table);
      if (listed !== undefined && !this.segments.has(segment)) this.segments.cancelDrop(listed);
      return false;
    }
    await archive?.finish(day);
    await this.#empty(table, confirm);
    await confirm();
    await this.#database.rows(`DROP TABLE IF EXISTS ${table}`);
    this.segments.endDrop(segment);
    return true;
  }

  /** Of which it has rows; none, where it is not there any more. */
  async #namespacesIn(table: string): Promise<readonly string[]> {
    const database = this.#database;
    const tables = await database.dialect.listTables(database, table);
    if (!tables.includes(table)) return [];
    const from = database.dialect.readByKey(table);
    const first = `SELECT seq FROM ${from} WHERE seq > ? AND seq < ? ORDER BY seq LIMIT 1`;
    const found: string[] = [];
    for (const row of await database.rows('SELECT id, name FROM namespace')) {
      const id = row['id'] as number;
      const rows = await database.rows(first, [inNamespace(id, 0), inNamespace(id + 1, 0)]);
      if (rows.length > 0) found.push(String(row['name']));
    }
    return found;
  }

  /**
   * Does what reads all segments on the list. Where one of them was dropped meanwhile, here or by
   * another master, does it again with the rest.
   */
  async reading<T>(read: () => Promise<T>): Promise<T> {
    for (;;) {
      const listed = this.segments.newestFirst;
      try {
        return await read();
      } catch (error) {
        if (!this.#database.dialect.isMissingTable(error)) throw error;
        await this.segments.refresh(() => this.#list());
        // Each repetition has lost one at least; else it is not a segment that is missing.
        if (listed.every((segment) => this.segments.has(segment))) throw error;
      }
    }
  }

  async #list(): Promise<ListedSegment[]> {
    const { dialect } = this.#database;
    const listed: ListedSegment[] = [];
    for (const [table, names] of await dialect.listNames(this.#database, SEGMENT_PREFIX)) {
      const segment = segmentNamed(table);
      if (segment !== null) listed.push({ ...segment, isOld: !isNew(table, names) });
    }
    return listed;
  }

  /**
   * Attempts first: were the segment gone, nothing would tell whose they are. Whoever is
   * interrupted begins again, and finds less to do.
   */
  async #empty(table: string, confirm: () => Promise<void>): Promise<void> {
    const { dialect } = this.#database;
    for (let after = 0; ; ) {
      const page: Statement = {
        sql: `SELECT seq FROM ${dialect.readByKey(table)} WHERE seq > ? ORDER BY seq LIMIT ?`,
        runs: [[after, PRUNE_COUNT]],
        touches: null,
      };
      const seqs = await this.#prunePage(table, page).catch((error: unknown) => {
        // Another master has been faster.
        if (dialect.isMissingTable(error)) return [];
        throw error;
      });
      if (seqs.length < PRUNE_COUNT) return;
      after = seqs.at(-1) ?? after;
      await confirm();
    }
  }

  async #prunePage(table: string, page: Statement): Promise<number[]> {
    const { dialect } = this.#database;
    if (dialect.isInProcess) {
      // First: with their logs, they would be one transaction that takes as long as all these logs are.
      const [values = []] = page.runs;
      const rows = await this.#database.rows(page.sql, values);
      await this.#logs.ofTasks(rows.map((row) => row['seq'] as number));
    }
    return this.#prune(table, page);
  }

  #prune(table: string, page: Statement): Promise<number[]> {
    const { dialect } = this.#database;
    const bySeq = [{ name: 'seq', kind: 'integer' }] as const;
    const byTask = [{ name: 'task_seq', kind: 'integer' }] as const;
    return this.#database.transaction(async (connection) => {
      const [, read] = await dialect.run(connection, [plain(dialect.begin), page]);
      const found = (read?.rows ?? []).map((row) => row['seq'] as number);
      const rows = found.map((seq) => [seq]);
      await dialect.run(connection, [
        ...(found.length === 0 ? [] : dialect.remove('task_attempt', byTask, rows)),
        ...(found.length === 0 ? [] : dialect.remove(LOG_TABLE, byTask, rows)),
        // Dropped whole, a table is read from end to end.
        ...(found.length === 0 || !dialect.isInProcess ? [] : dialect.remove(table, bySeq, rows)),
      ]);
      return found;
    });
  }
}

const renamed = (segment: Segment): string =>
  `ALTER TABLE ${segment.table} RENAME TO ${droppedName(segment)}`;

const isNew = (table: string, names: ReadonlySet<string>): boolean =>
  historyIndexes.every(({ name }) => names.has(`${table}_${name}`));

const isWhole = (table: string, names: ReadonlySet<string>): boolean =>
  isNew(table, names) || oldHistoryIndexes.every((name) => names.has(`${table}_${name}`));
