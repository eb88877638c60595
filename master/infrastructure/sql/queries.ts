/**
 * What the store reads. No query here sorts the backlog: each page comes in the order of an index
 * that is named, so that no planner can choose otherwise.
 */
import type {
  Position,
  StoredLane,
  StoredTask,
  TaskQuery,
  TaskStore,
} from '../../application/ports.ts';
import { ATTEMPT_COUNT_MAX } from '../../application/ports.ts';
import type { Notification, Task } from '../../domain/task.ts';
import type { Database } from './database.ts';
import type { Dialect } from './dialect.ts';
import { placeholders } from './dialect.ts';
import { listTasks } from './listing.ts';
import type { Row, Value } from './rows.ts';
import { attemptOf, notificationOf, selectList, taskOf } from './rows.ts';
import type { Segments } from './segments.ts';

/** Ids looked up by one statement, in many segments at once. */
const ID_COUNT = 256;
/** Tables read by one statement: SQLite takes 500, with 32,766 values in all. */
const TABLE_COUNT = 100;

const wholeLive = selectList('live', { withLarge: true });
const wholeHistory = selectList('history', { withLarge: true });

type Reads = Pick<
  TaskStore,
  | 'loadActive'
  | 'countLanes'
  | 'loadLane'
  | 'loadDelayed'
  | 'loadOverdue'
  | 'loadNotifications'
  | 'findTask'
  | 'findIds'
  | 'listTasks'
>;

export class Queries implements Reads {
  readonly #database: Database;
  readonly #dialect: Dialect;
  readonly #segments: Segments;

  constructor(database: Database, segments: Segments) {
    this.#database = database;
    this.#dialect = database.dialect;
    this.#segments = segments;
  }

  async loadActive(): Promise<Task[]> {
    const rows = await this.#database.rows(
      `SELECT ${wholeLive} FROM ${this.#dialect.readBy('task', 'task_lane')}
       WHERE state IN ('offered', 'running')`,
      [],
    );
    return rows.map(taskOf);
  }

  async countLanes(): Promise<StoredLane[]> {
    // The index alone gives lane, count and one task to read the rest from.
    const rows = await this.#database.rows(
      `SELECT g.lane AS lane, g.task_count AS task_count, t.type AS type, t.requires AS requires,
         t.labels AS labels
       FROM (SELECT lane, COUNT(*) AS task_count, MIN(seq) AS seq
             FROM ${this.#dialect.readBy('task', 'task_lane')}
             WHERE state = 'waiting' GROUP BY lane) AS g
       JOIN task AS t ON t.seq = g.seq`,
      [],
    );
    return rows.map((row) => ({
      lane: row['lane'] as string,
      type: row['type'] as string,
      requires: JSON.parse(row['requires'] as string) as string[],
      labels: JSON.parse(row['labels'] as string) as string[],
      count: row['task_count'] as number,
    }));
  }

  async loadLane(
    lane: string,
    after: Position | null,
    now: number,
    limit: number,
  ): Promise<Task[]> {
    const [beyond, position] = isBeyond('order_time', after);
    const rows = await this.#database.rows(
      `SELECT ${wholeLive} FROM ${this.#dialect.readBy('task', 'task_lane')}
       WHERE state = 'waiting' AND lane = ? AND due_at <= ?${beyond}
       ORDER BY order_time, seq LIMIT ?`,
      [lane, now, ...position, limit],
    );
    return rows.map(taskOf);
  }

  async loadDelayed(after: Position | null, limit: number): Promise<Task[]> {
    const [beyond, position] = isBeyond('due_at', after);
    const rows = await this.#database.rows(
      `SELECT ${wholeLive} FROM ${this.#dialect.readBy('task', 'task_due')}
       WHERE state = 'waiting'${beyond}
       ORDER BY due_at, seq LIMIT ?`,
      [...position, limit],
    );
    return rows.map(taskOf);
  }

  async loadOverdue(now: number, limit: number): Promise<Task[]> {
    const rows = await this.#database.rows(
      `SELECT ${wholeLive} FROM ${this.#dialect.readBy('task', 'task_deadline')}
       WHERE deadline_at <= ? AND state = 'waiting' LIMIT ?`,
      [now, limit],
    );
    return rows.map(taskOf);
  }

  async loadNotifications(after: Position | null, limit: number): Promise<Notification[]> {
    const [beyond, position] = isBeyond('notify_next_at', after);
    const columns =
      'seq, id, notify_url, finished_at, notify_state, notify_tries, notify_next_at, notify_status, notify_error, delivered_at';
    const rows = await this.#rowsOfAll(
      this.#segments.newestFirst.map(({ table }) => ({
        sql: `SELECT ${columns} FROM ${this.#dialect.readBy(table, `${table}_notify`)}
              WHERE notify_state = 'pending'${beyond}
              ORDER BY notify_next_at, seq LIMIT ?`,
        values: [...position, limit],
      })),
      { sql: 'ORDER BY notify_next_at, seq LIMIT ?', values: [limit] },
    );
    return rows
      .map(notificationOf)
      .filter((notification) => notification !== null)
      .sort((a, b) => a.nextTryAt - b.nextTryAt || a.taskSeq - b.taskSeq)
      .slice(0, limit);
  }

  async findTask(id: string): Promise<StoredTask | null> {
    const where = { sql: 'WHERE id = ?', values: [id] };
    const [row] = await this.#rowsOfAll([
      { sql: `SELECT ${wholeLive} FROM task ${where.sql}`, values: where.values },
      ...this.#segments.newestFirst.map(({ table }) => ({
        sql: `SELECT ${wholeHistory} FROM ${table} ${where.sql}`,
        values: where.values,
      })),
    ]);
    if (row === undefined) return null;
    const task = taskOf(row);
    const attempts = await this.#database.rows(
      'SELECT * FROM task_attempt WHERE task_seq = ? ORDER BY attempt DESC LIMIT ?',
      [task.seq, ATTEMPT_COUNT_MAX],
    );
    return { task, notification: notificationOf(row), attempts: attempts.map(attemptOf).reverse() };
  }

  async findIds(ids: readonly string[]): Promise<Map<string, string>> {
    const found = new Map<string, string>();
    for (let from = 0; from < ids.length; from += ID_COUNT) {
      const some = padded(ids.slice(from, from + ID_COUNT));
      const where = `WHERE id IN ${placeholders(1, some.length)}`;
      const tables = ['task', ...this.#segments.newestFirst.map(({ table }) => table)];
      const rows = await this.#rowsOfAll(
        tables.map((table) => ({
          sql: `SELECT id, request_hash FROM ${table} ${where}`,
          values: some,
        })),
      );
      for (const row of rows) found.set(row['id'] as string, row['request_hash'] as string);
    }
    return found;
  }

  listTasks(query: TaskQuery): Promise<Task[]> {
    return listTasks(this.#database, this.#segments, query);
  }

  protected async lastSeq(): Promise<number> {
    const tables = ['task', ...this.#segments.newestFirst.map(({ table }) => table)];
    const rows = await this.#rowsOfAll(
      tables.map((table) => ({ sql: `SELECT MAX(seq) AS seq FROM ${table}`, values: [] })),
    );
    return Math.max(0, ...rows.map((row) => (row['seq'] as number | null) ?? 0));
  }

  /** One statement over many tables; `page` is what each statement gives of its rows. */
  async #rowsOfAll(
    selects: readonly { readonly sql: string; readonly values: readonly Value[] }[],
    page: { readonly sql: string; readonly values: readonly Value[] } = { sql: '', values: [] },
  ): Promise<readonly Row[]> {
    const rows: Row[] = [];
    for (let from = 0; from < selects.length; from += TABLE_COUNT) {
      const some = selects.slice(from, from + TABLE_COUNT);
      const union = some.map(({ sql }) => `SELECT * FROM (${sql}) AS part`).join(' UNION ALL ');
      const values = [...some.flatMap((select) => select.values), ...page.values];
      rows.push(...(await this.#database.rows(`${union} ${page.sql}`, values)));
    }
    return rows;
  }
}

/** Up to a power of two, by repetition: few different statements are prepared again and again. */
function padded(ids: readonly string[]): string[] {
  const size = 2 ** Math.ceil(Math.log2(ids.length));
  return Array.from({ length: size }, (_, index) => ids[Math.min(index, ids.length - 1)] ?? '');
}

/** Spelled so that both planners begin reading the index at the position. */
function isBeyond(column: string, after: Position | null): [sql: string, values: Value[]] {
  if (after === null) return ['', []];
  return [
    ` AND ${column} >= ? AND (${column} > ? OR seq > ?)`,
    [after.time, after.time, after.seq],
  ];
}
