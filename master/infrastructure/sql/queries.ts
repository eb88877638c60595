/**
 * What the store reads. No query here sorts the backlog: each page comes in the order of an index
 * that is named, so that no planner can choose otherwise.
 */
import type {
  Log,
  Position,
  StoredLane,
  StoredTask,
  ShownTask,
  TaskPage,
  TaskQuery,
  TaskStore,
} from '../../application/ports.ts';
import { ATTEMPT_COUNT_MAX } from '../../domain/bounds.ts';
import type { StoredRow, WholeName, WholeRows } from '../../domain/changes.ts';
import { WHOLE_TABLES } from '../../domain/changes.ts';
import type { Notification, Task } from '../../domain/task.ts';
import { kindOf } from '../../domain/task.ts';
import type { Database } from './database.ts';
import type { Dialect } from './dialects/dialect.ts';
import { placeholders } from './dialects/dialect.ts';
import type { History } from './history.ts';
import { listRows } from './listing.ts';
import type { Row, Value } from './rows.ts';
import type { Segments } from './segments.ts';
import { attemptList, attemptOf } from './tables/attempt.ts';
import { tables } from './tables/all.ts';
import { notificationOf, selectList } from './tables/history.ts';
import { taskOf } from './tables/task.ts';

/** Ids looked up by one statement, in many segments at once. */
const ID_COUNT = 256;
/** Tables read by one statement: SQLite takes 500, with 32,766 values in all. */
const TABLE_COUNT = 100;
/** Rows counted by one statement where it would hold up all else. */
const COUNTED_COUNT = 5_000;
/** Attempts read by one statement: their errors may be large. */
const ATTEMPT_COUNT = 50;

const wholeLive = selectList('live', 'whole');
const wholeHistory = selectList('history', 'whole');

type Reads = Pick<
  TaskStore,
  | 'loadActive'
  | 'loadWhole'
  | 'countLanes'
  | 'loadLane'
  | 'loadDelayed'
  | 'loadOverdue'
  | 'loadNotifications'
  | 'findTask'
  | 'readTask'
  | 'showTask'
  | 'findIds'
  | 'listTasks'
>;

/** Of a statement, with what it binds. */
interface Part {
  readonly sql: string;
  readonly values: readonly Value[];
}

/** The same database twice, by two pools. */
export interface Databases {
  /** Of the engine alone. */
  readonly engine: Database;
  /** Of whoever else asks: nothing that they ask for stands in front of a commit. */
  readonly readers: Database;
}

export class Queries implements Reads {
  readonly #engine: Database;
  readonly #readers: Database;
  readonly #dialect: Dialect;
  readonly #history: History;
  readonly #log: Log;

  constructor({ engine, readers }: Databases, history: History, log: Log) {
    this.#engine = engine;
    this.#readers = readers;
    this.#dialect = engine.dialect;
    this.#history = history;
    this.#log = log;
  }

  async loadActive(): Promise<Task[]> {
    const rows = await this.#engine.rows(
      `SELECT ${wholeLive} FROM ${this.#dialect.readBy('task', 'task_lane')}
       WHERE state IN ('offered', 'running')`,
      [],
    );
    return this.#readable(rows);
  }

  async loadWhole(): Promise<WholeRows> {
    const whole: [WholeName, readonly StoredRow[]][] = [];
    for (const name of WHOLE_TABLES) {
      const { place, columns, of } = tables[name];
      const list = columns.map((column) => column.name).join(', ');
      const rows = await this.#engine.rows(`SELECT ${list} FROM ${place}`);
      whole.push([name, rows.map((row): StoredRow => of(row))]);
    }
    return Object.fromEntries(whole) as WholeRows;
  }

  async countLanes(): Promise<StoredLane[]> {
    const counts = new Map<string, number>();
    const rows = this.#dialect.isInProcess ? this.#countInPieces() : this.#countAtOnce();
    for await (const row of rows) {
      const lane = row['lane'] as string;
      counts.set(lane, (counts.get(lane) ?? 0) + (row['task_count'] as number));
    }
    return [...counts].map(([lane, count]) => ({ lane, ...kindOf(lane), count }));
  }

  /** The index alone gives them. */
  #countWhere(beyond: string): string {
    return `SELECT lane, COUNT(*) AS task_count FROM ${this.#dialect.readBy('task', 'task_lane')}
      WHERE state = 'waiting'${beyond} GROUP BY lane`;
  }

  async *#countAtOnce(): AsyncGenerator<Row> {
    yield* await this.#engine.rows(this.#countWhere(''));
  }

  /** Comparing rows as wholes finds the place in the index with SQLite; with others it does not. */
  async *#countInPieces(): AsyncGenerator<Row> {
    const place = '(lane, order_time, seq)';
    for (let after: readonly Value[] = ['', 0, 0]; ; ) {
      const [end] = await this.#engine.rows(
        `SELECT lane, order_time, seq FROM ${this.#dialect.readBy('task', 'task_lane')}
         WHERE state = 'waiting' AND ${place} > (?, ?, ?)
         ORDER BY lane, order_time, seq LIMIT 1 OFFSET ?`,
        [...after, COUNTED_COUNT - 1],
      );
      const upTo = end && (['lane', 'order_time', 'seq'].map((name) => end[name]) as Value[]);
      const within = upTo === undefined ? '' : ` AND ${place} <= (?, ?, ?)`;
      yield* await this.#engine.rows(this.#countWhere(` AND ${place} > (?, ?, ?)${within}`), [
        ...after,
        ...(upTo ?? []),
      ]);
      if (upTo === undefined) return;
      after = upTo;
    }
  }

  loadLane(lane: string, after: Position | null, now: number, limit: number): Promise<Task[]> {
    const where = { sql: ' AND lane = ? AND due_at <= ?', values: [lane, now] };
    return this.#page('task_lane', 'order_time', where, after, limit);
  }

  loadDelayed(after: Position | null, limit: number): Promise<Task[]> {
    return this.#page('task_due', 'due_at', { sql: '', values: [] }, after, limit);
  }

  /** Waiting tasks in the order of an index: as many as asked for, unless there are no more. */
  async #page(
    index: 'task_lane' | 'task_due',
    order: 'order_time' | 'due_at',
    where: Part,
    after: Position | null,
    limit: number,
  ): Promise<Task[]> {
    const tasks: Task[] = [];
    const from = this.#dialect.readBy('task', index);
    for (let beyond = after; ; ) {
      const count = limit - tasks.length;
      const { sql, values } = isBeyond(order, beyond);
      const rows = await this.#engine.rows(
        `SELECT ${wholeLive} FROM ${from} WHERE state = 'waiting'${where.sql}${sql}
         ORDER BY ${order}, seq LIMIT ?`,
        [...where.values, ...values, count],
      );
      tasks.push(...(await this.#readable(rows)));
      const last = rows.at(-1);
      // Rows may have been left out: who asks takes a short page for the last one.
      if (last === undefined || rows.length < count || tasks.length === limit) return tasks;
      beyond = { time: last[order] as number, seq: last['seq'] as number };
    }
  }

  async loadOverdue(now: number, startClock: number, limit: number): Promise<Task[]> {
    const rows = await this.#engine.rows(
      `SELECT ${wholeLive} FROM ${this.#dialect.readBy('task', 'task_end')}
       WHERE end_by <= ? AND (end_by <= ? OR deadline_at <= ?) AND state = 'waiting' LIMIT ?`,
      [now, startClock, now, limit],
    );
    return this.#readable(rows);
  }

  async loadNotifications(after: Position | null, limit: number): Promise<Notification[]> {
    const beyond = isBeyond('notify_next_at', after);
    const columns =
      'seq, id, notify_url, finished_at, notify_state, notify_tries, notify_next_at, notify_status, notify_error, delivered_at, notify_since';
    const rows = await this.#rowsOfAll(
      this.#engine,
      ({ newestFirst }) =>
        newestFirst.map(({ table }) => ({
          sql: `SELECT ${columns} FROM ${this.#dialect.readBy(table, `${table}_notify`)}
              WHERE notify_state = 'pending'${beyond.sql}
              ORDER BY notify_next_at, seq LIMIT ?`,
          values: [...beyond.values, limit],
        })),
      { sql: 'ORDER BY notify_next_at, seq LIMIT ?', values: [limit] },
    );
    return rows
      .map(notificationOf)
      .filter((notification) => notification !== null)
      .sort((a, b) => a.nextTryAt - b.nextTryAt || a.taskSeq - b.taskSeq)
      .slice(0, limit);
  }

  findTask(id: string): Promise<StoredTask | null> {
    return this.#find(this.#engine, id);
  }

  readTask(id: string): Promise<StoredTask | null> {
    return this.#find(this.#readers, id);
  }

  async showTask(id: string, attempt: 'all' | number): Promise<ShownTask | null> {
    const stored = await this.#find(this.#readers, id);
    if (stored === null) return null;
    const { seq } = stored.task;
    const attempts =
      attempt === 'all'
        ? await this.#attempts(seq)
        : await this.#readers.rows(
            'SELECT * FROM task_attempt WHERE task_seq = ? AND attempt = ?',
            [seq, attempt],
          );
    return { ...stored, attempts: attempts.map(attemptOf) };
  }

  /** Oldest first. */
  async #attempts(seq: number): Promise<Row[]> {
    const rows: Row[] = [];
    while (rows.length < ATTEMPT_COUNT_MAX) {
      // Even what is cut off a large error is read.
      const some = await this.#readers.rows(
        `SELECT ${attemptList} FROM task_attempt WHERE task_seq = ? AND attempt < ?
         ORDER BY attempt DESC LIMIT ?`,
        [seq, (rows.at(-1)?.['attempt'] as number | undefined) ?? 2_147_483_647, ATTEMPT_COUNT],
      );
      rows.push(...some);
      if (some.length < ATTEMPT_COUNT) break;
    }
    return rows.slice(0, ATTEMPT_COUNT_MAX).reverse();
  }

  async #find(database: Database, id: string): Promise<StoredTask | null> {
    const where = { sql: 'WHERE id = ?', values: [id] };
    const rows = await this.#rowsOfAll(database, ({ newestFirst }) => [
      { sql: `SELECT ${wholeLive} FROM task ${where.sql}`, values: where.values },
      ...newestFirst.map(({ table }) => ({
        sql: `SELECT ${wholeHistory} FROM ${table} ${where.sql}`,
        values: where.values,
      })),
    ]);
    const [row] = rows;
    const [task] = await this.#readable(rows);
    if (row === undefined || task === undefined) return null;
    return { task, notification: notificationOf(row) };
  }

  async findIds(ids: readonly string[]): Promise<Map<string, string>> {
    const found = new Map<string, string>();
    for (let from = 0; from < ids.length; from += ID_COUNT) {
      const some = padded(ids.slice(from, from + ID_COUNT));
      const where = `WHERE id IN ${placeholders(1, some.length)}`;
      const rows = await this.#rowsOfAll(this.#readers, (segments) =>
        tablesOf(segments).map((table) => ({
          sql: `SELECT id, request_hash FROM ${table} ${where}`,
          values: some,
        })),
      );
      for (const row of rows) found.set(row['id'] as string, row['request_hash'] as string);
    }
    return found;
  }

  async listTasks(query: TaskQuery): Promise<TaskPage> {
    const { rows, beforeSeq } = await this.#history.reading(() =>
      listRows(this.#readers, this.#history.segments, query),
    );
    const tasks = await this.#readable(rows);
    const bySeq = new Map(rows.map((row) => [row['seq'], notificationOf(row)]));
    return {
      tasks: tasks.map((task) => ({ task, notification: bySeq.get(task.seq) ?? null })),
      beforeSeq,
    };
  }

  /** Of the tasks that are there. */
  protected async newestSeq(): Promise<number> {
    const rows = await this.#rowsOfAll(this.#engine, (segments) =>
      tablesOf(segments).map((table) => ({
        sql: `SELECT MAX(seq) AS seq FROM ${table}`,
        values: [],
      })),
    );
    return Math.max(0, ...rows.map((row) => (row['seq'] as number | null) ?? 0));
  }

  /** A row that someone has spoilt must not keep the master from reading all others. */
  async #readable(rows: readonly Row[]): Promise<Task[]> {
    const { pace } = this.#engine;
    const tasks: Task[] = [];
    for (const row of rows) {
      if (pace.isOver) await pace.pause();
      try {
        tasks.push(taskOf(row));
      } catch (error) {
        const about = { event: 'row', task_id: row['id'], error: String(error) };
        this.#log.error('the row of a task cannot be read', about);
      }
    }
    return tasks;
  }

  /** One statement over many tables; `page` is what each statement gives of its rows. */
  #rowsOfAll(
    database: Database,
    selects: (segments: Segments) => readonly Part[],
    page: Part = { sql: '', values: [] },
  ): Promise<readonly Row[]> {
    const { segments } = this.#history;
    return this.#history.reading(() => this.#union(database, selects(segments), page));
  }

  async #union(database: Database, selects: readonly Part[], page: Part): Promise<readonly Row[]> {
    const rows: Row[] = [];
    for (let from = 0; from < selects.length; from += TABLE_COUNT) {
      const some = selects.slice(from, from + TABLE_COUNT);
      const union = some.map(({ sql }) => `SELECT * FROM (${sql}) AS part`).join(' UNION ALL ');
      const values = [...some.flatMap((select) => select.values), ...page.values];
      rows.push(...(await database.rows(`${union} ${page.sql}`, values)));
    }
    return rows;
  }
}

/** All that have tasks. */
const tablesOf = ({ newestFirst }: Segments): string[] => [
  'task',
  ...newestFirst.map(({ table }) => table),
];

/** Up to a power of two, by repetition: few different statements are prepared again and again. */
function padded(ids: readonly string[]): string[] {
  const size = 2 ** Math.ceil(Math.log2(ids.length));
  return Array.from({ length: size }, (_, index) => ids[Math.min(index, ids.length - 1)] ?? '');
}

/** Spelled so that both planners begin reading the index at the position. */
export function isBeyond(column: string, after: Position | null): Part {
  if (after === null) return { sql: '', values: [] };
  return {
    sql: ` AND ${column} >= ? AND (${column} > ? OR seq > ?)`,
    values: [after.time, after.time, after.seq],
  };
}
