/**
 * What the store reads of one namespace. No query here sorts the backlog: each page comes in the order of an index
 * that is named, so that no planner can choose otherwise.
 */
import type {
  Edges,
  FailurePage,
  HeldWanted,
  LaneEnd,
  Log,
  OverduePage,
  Position,
  StoredGate,
  StoredLane,
  StoredTask,
  ShownTask,
  TaskPage,
  TaskQuery,
  TaskStore,
  WaitingPage,
  WaitingQuery,
} from '../../application/ports.ts';
import { inNamespace } from '../../application/ports.ts';
import { WORK_SLICE_COUNT_MAX } from '../../domain/bounds.ts';
import type { StoredRow, WholeName, WholeRows } from '../../domain/changes.ts';
import { WHOLE_TABLES } from '../../domain/changes.ts';
import type { Notification, Retention, Task, TerminalState } from '../../domain/model/task.ts';
import { type Database, type Databases, isBeyond, type Read } from './database.ts';
import type { Dialect } from './dialects/dialect.ts';
import { count, countLanes } from './namespace/counts.ts';
import { findEdges } from './namespace/edges.ts';
import type { History } from './history.ts';
import { lookups } from './ids/lookup.ts';
import { attemptsOf } from './listing/attempts.ts';
import { countEnded } from './listing/ended.ts';
import { FAILURES, failureOf } from './listing/failures.ts';
import { type ListedRows, listRows } from './listing/newest.ts';
import { waitingRows } from './listing/waiting.ts';
import type { Row } from './rows.ts';
import type { ListedSegment } from './segments.ts';
import { attemptOf } from './tables/attempt.ts';
import { tables } from './tables/all.ts';
import { notPaused } from './tables/pause.ts';
import { notificationOf, outboxOf, selectBytes, selectList } from './tables/history.ts';
import { liveList, taskOf } from './tables/task.ts';
import { union } from './union.ts';

/** Ids looked up by one statement, in many tables at once: no turn asks for more. */
const ID_COUNT = WORK_SLICE_COUNT_MAX;
/** So few tasks are read without asking first how large they are. */
const FEW_COUNT = 8;
/** Rows that one statement looks at, in the index alone, where it would hold up all else. */
const COUNTED_COUNT = 5_000;
/** The same where groups or labels are paused, over how many: then it is not of the index alone. */
const READ_COUNT_MAX = 1_000;
const COMPARED_COUNT = 10_000;

type Reads = Pick<
  TaskStore,
  | 'loadActive'
  | 'loadWhole'
  | 'countLanes'
  | 'countGates'
  | 'loadHeld'
  | 'loadBooked'
  | 'findEdges'
  | 'loadLanes'
  | 'loadDelayed'
  | 'loadOverdue'
  | 'loadNotifications'
  | 'findTasks'
  | 'readTask'
  | 'showTask'
  | 'findIds'
  | 'listTasks'
  | 'listFailures'
  | 'listWaiting'
  | 'countEnded'
>;

/** Tasks of which so many are read, in the order of an index. */
interface Wanted {
  readonly where: Read;
  readonly after: Position | null;
  readonly limit: number;
}

export class Queries implements Reads {
  readonly #databases: Databases;
  readonly #engine: Database;
  readonly #readers: Database;
  readonly #dialect: Dialect;
  readonly #history: History;
  readonly #log: Log;
  readonly #ns: number;
  /** Where no index goes by namespace: the first and the last number of this one. */
  readonly #numbers: readonly [number, number];

  constructor(databases: Databases, history: History, log: Log, ns: number) {
    const { engine, readers } = databases;
    this.#databases = databases;
    this.#ns = ns;
    this.#numbers = [inNamespace(ns, 1), inNamespace(ns + 1, 0)];
    this.#engine = engine;
    this.#readers = readers;
    this.#dialect = engine.dialect;
    this.#history = history;
    this.#log = log;
  }

  async loadActive(): Promise<Task[]> {
    const rows = await this.#engine.rows(
      `SELECT ${liveList} FROM ${this.#dialect.readBy('task', 'task_queue')}
       WHERE state IN ('offered', 'running') AND seq BETWEEN ? AND ?`,
      this.#numbers,
    );
    return this.#readable(rows, taskOf);
  }

  async loadWhole(): Promise<WholeRows> {
    const whole: [WholeName, readonly StoredRow[]][] = [];
    for (const name of WHOLE_TABLES) {
      const { place, columns, of } = tables[name];
      const list = columns.map((column) => column.name).join(', ');
      const rows = await this.#engine.rows(`SELECT ${list} FROM ${place} WHERE ns = ?`, [this.#ns]);
      whole.push([name, rows.map((row): StoredRow => of(row))]);
    }
    return Object.fromEntries(whole) as WholeRows;
  }

  countLanes(): Promise<StoredLane[]> {
    return countLanes(this.#databases, this.#numbers);
  }

  async countGates(): Promise<StoredGate[]> {
    const where = { sql: 'ns = ? AND gate IS NOT NULL', values: [this.#ns] };
    const all = { least: 0, most: Number.MAX_SAFE_INTEGER };
    const counts = await count(this.#databases, {
      index: 'task_ns_gate',
      column: 'gate',
      where,
      ...all,
    });
    return [...counts].map(([gate, { count }]) => ({ gate, count }));
  }

  loadLanes(lanes: readonly LaneEnd[], now: number, limit: number): Promise<Task[][]> {
    const sql = "state = 'waiting' AND lane_seq = ? AND due_at <= ?";
    const wanted = lanes.map(({ lane, after }) => {
      return { where: { sql, values: [lane, now] }, after, limit };
    });
    return this.#pages('task_queue', 'queue_time', wanted);
  }

  loadHeld(wanted: readonly HeldWanted[]): Promise<Task[][]> {
    const sql = 'ns = ? AND gate = ?';
    const pages = wanted.map(({ gate, limit }) => {
      return { where: { sql, values: [this.#ns, gate] }, after: null, limit };
    });
    return this.#pages('task_ns_gate', 'queue_time', pages);
  }

  loadBooked(...[wanted, limit]: Parameters<TaskStore['loadBooked']>): Promise<Task[][]> {
    const sql = `ns = ? AND booking = ? AND due_at < ? AND state IN ('waiting', 'held', 'suspended')`;
    const asked = wanted.map(({ booking, before }) => {
      return { where: { sql, values: [this.#ns, booking, before] }, after: null, limit };
    });
    return this.#pages('task_ns_booking', 'due_at', asked);
  }

  findEdges(...wanted: Parameters<TaskStore['findEdges']>): Promise<Edges> {
    return findEdges(this.#engine, ...wanted);
  }

  async loadDelayed(after: Position | null, limit: number): Promise<Task[]> {
    const where = { sql: "state = 'waiting' AND ns = ?", values: [this.#ns] };
    const [page = []] = await this.#pages('task_ns_due', 'due_at', [{ where, after, limit }]);
    return page;
  }

  /** Of each: tasks in the order of an index, as many as asked for unless there are no more. */
  async #pages(
    index: 'task_queue' | 'task_ns_due' | 'task_ns_gate' | 'task_ns_booking',
    order: 'queue_time' | 'due_at',
    wanted: readonly Wanted[],
  ): Promise<Task[][]> {
    const select = `SELECT ${liveList} FROM ${this.#dialect.readBy('task', index)}`;
    const found = await this.#engine.rowsOfEach(
      wanted.map(({ where, after, limit }) => {
        const { sql, values } = isBeyond(order, after);
        return {
          sql: `${select} WHERE ${where.sql}${sql} ORDER BY ${order}, seq LIMIT ?`,
          values: [...where.values, ...values, limit],
        };
      }),
    );
    const pages: Task[][] = [];
    for (const [at, { where, limit }] of wanted.entries()) {
      const rows = found[at] ?? [];
      const tasks = await this.#readable(rows, taskOf);
      pages.push(tasks);
      const last = rows.at(-1);
      // Rows may have been left out: who asks takes a short page for the last one.
      if (last === undefined || rows.length < limit || tasks.length === limit) continue;
      const after = { time: last[order] as number, seq: last['seq'] as number };
      const further = { where, after, limit: limit - tasks.length };
      const [rest = []] = await this.#pages(index, order, [further]);
      tasks.push(...rest);
    }
    return pages;
  }

  async loadOverdue(
    now: number,
    startClock: number,
    limit: number,
    after: Position | null = null,
  ): Promise<OverduePage> {
    const from = `FROM ${this.#dialect.readBy('task', 'task_ns_end')} WHERE ns = ? AND end_by <= ?`;
    const beyond = isBeyond('end_by', after);
    const { place, of } = tables.pause;
    const pauses = await this.#engine.rows(`SELECT * FROM ${place} WHERE ns = ?`, [this.#ns]);
    const unpaused = notPaused(pauses.map(of));
    const readCount = Math.min(READ_COUNT_MAX, Math.ceil(COMPARED_COUNT / pauses.length));
    const [end] = await this.#engine.rows(
      `SELECT end_by, seq ${from}${beyond.sql} ORDER BY end_by, seq LIMIT 1 OFFSET ?`,
      [this.#ns, now, ...beyond.values, (unpaused.sql === '' ? COUNTED_COUNT : readCount) - 1],
    );
    const looked = end && { time: end['end_by'] as number, seq: end['seq'] as number };
    // Of the index alone, as the rest: most of what is overdue may be of types that are paused.
    const isCounting = `NOT EXISTS (SELECT 1 FROM task_type paused
        WHERE paused.ns = task.ns AND paused.type = task.type AND paused.paused_at < task.end_by)`;
    const upTo = looked === undefined ? '' : 'AND (end_by < ? OR seq <= ?)';
    const rows = await this.#engine.rows(
      `SELECT ${liveList} ${from}${beyond.sql} ${upTo}
       AND (end_by <= ? AND ${isCounting}${unpaused.sql} OR deadline_at <= ?)
       AND state IN ('waiting', 'held', 'suspended') ORDER BY end_by, seq LIMIT ?`,
      [
        this.#ns,
        looked?.time ?? now,
        ...beyond.values,
        ...(looked === undefined ? [] : [looked.time, looked.seq]),
        startClock,
        ...unpaused.values,
        now,
        limit,
      ],
    );
    const tasks = await this.#readable(rows, taskOf);
    const last = rows.length < limit ? undefined : rows.at(-1);
    const next = last && { time: last['end_by'] as number, seq: last['seq'] as number };
    return { tasks, next: next ?? looked ?? null };
  }

  async loadNotifications(after: Position | null, limit: number): Promise<Notification[]> {
    const beyond = isBeyond('notify_next_at', after);
    const columns =
      'seq, id, type, user_group, user_project, user_env, user_name, notify_url, finished_at, notify_state, notify_tries, notify_next_at, notify_status, notify_error, delivered_at, notify_since';
    const rows = await this.#rowsOfAll(
      this.#engine,
      (segments) =>
        segments.map((segment) => {
          const { from, where, values } = outboxOf(this.#dialect, segment, this.#ns);
          return {
            sql: `SELECT ${columns}, '${segment.retention}' AS retention FROM ${from}
              WHERE ${where}notify_state = 'pending'${beyond.sql}
              ORDER BY notify_next_at, seq LIMIT ?`,
            values: [...values, ...beyond.values, limit],
          };
        }),
      { sql: 'ORDER BY notify_next_at, seq LIMIT ?', values: [limit] },
    );
    return rows
      .map(notificationOf)
      .filter((notification) => notification !== null)
      .sort((a, b) => a.nextTryAt - b.nextTryAt || a.taskSeq - b.taskSeq)
      .slice(0, limit);
  }

  async findTasks(
    ids: readonly string[],
    bytesMax: number,
  ): Promise<ReadonlyMap<string, StoredTask | null>> {
    const some = ids.length <= FEW_COUNT ? ids : await this.#fitting(ids, bytesMax);
    const found = await this.#find(this.#engine, some);
    return new Map(some.map((id) => [id, found.get(id) ?? null]));
  }

  /** The first of them, as many as have no more than so many bytes together; one at least. */
  async #fitting(ids: readonly string[], bytesMax: number): Promise<readonly string[]> {
    const rows = await this.#rowsById(this.#engine, ids, selectBytes);
    const bytesOf = new Map(rows.map((row) => [row['id'], Number(row['bytes'])]));
    let bytes = 0;
    const end = ids.findIndex((id) => (bytes += bytesOf.get(id) ?? 0) > bytesMax);
    return end < 0 ? ids : ids.slice(0, Math.max(end, 1));
  }

  async readTask(id: string): Promise<StoredTask | null> {
    const found = await this.#find(this.#readers, [id]);
    return found.get(id) ?? null;
  }

  async showTask(id: string, attempt: 'all' | number): Promise<ShownTask | null> {
    const stored = await this.readTask(id);
    if (stored === null) return null;
    const { seq } = stored.task;
    if (attempt === 'all') return { ...stored, attempts: await attemptsOf(this.#readers, seq) };
    const one = 'SELECT * FROM task_attempt WHERE task_seq = ? AND attempt = ?';
    const rows = await this.#readers.rows(one, [seq, attempt]);
    return { ...stored, attempts: rows.map(attemptOf) };
  }

  async #find(database: Database, ids: readonly string[]): Promise<Map<string, StoredTask>> {
    const rows = await this.#rowsById(database, ids, (source) => selectList(source, 'whole'));
    return new Map((await this.stored(rows)).map((stored) => [stored.task.id, stored]));
  }

  async findIds(ids: readonly string[]): Promise<Map<string, string>> {
    const rows = await this.#rowsById(this.#readers, ids, () => 'id, request_hash');
    return new Map(rows.map((row) => [row['id'] as string, row['request_hash'] as string]));
  }

  async #rowsById(
    database: Database,
    ids: readonly string[],
    columnsOf: (source: 'live' | Retention) => string,
  ): Promise<readonly Row[]> {
    const rows: Row[] = [];
    for (let from = 0; from < ids.length; from += ID_COUNT) {
      const some = ids.slice(from, from + ID_COUNT);
      const found = await this.#rowsOfAll(database, (segments) =>
        lookups(this.#ns, some, segments, this.#history.ids, columnsOf),
      );
      rows.push(...found);
    }
    return rows;
  }

  async listTasks(query: TaskQuery): Promise<TaskPage> {
    const { rows, beforeSeq } = await this.#listRows(query);
    return { tasks: await this.stored(rows), beforeSeq };
  }

  async listFailures(query: TaskQuery): Promise<FailurePage> {
    const { rows, beforeSeq } = await this.#listRows({ ...query, state: 'failed' }, FAILURES);
    return { failures: await this.#readable(rows, failureOf), beforeSeq };
  }

  #listRows(...asked: [query: TaskQuery, brought?: typeof FAILURES]): Promise<ListedRows> {
    const { segments } = this.#history;
    return this.#history.reading(() =>
      listRows(this.#readers, segments.of(this.#ns), this.#ns, ...asked),
    );
  }

  async listWaiting(query: WaitingQuery): Promise<WaitingPage> {
    const { rows, after } = await waitingRows(this.#readers, query);
    return { tasks: await this.stored(rows), after };
  }

  countEnded(state: TerminalState, max: number): Promise<number> {
    const { segments } = this.#history;
    return this.#history.reading(() =>
      countEnded(this.#readers, segments.of(this.#ns), this.#numbers, { state, max }),
    );
  }

  /** Of live rows and those of history. */
  protected async stored(rows: readonly Row[]): Promise<StoredTask[]> {
    const tasks = await this.#readable(rows, taskOf);
    const bySeq = new Map(rows.map((row) => [row['seq'], notificationOf(row)]));
    return tasks.map((task) => ({ task, notification: bySeq.get(task.seq) ?? null }));
  }

  /** A row that someone has spoilt must not keep the master from reading all others. */
  async #readable<T>(rows: readonly Row[], of: (row: Row) => T): Promise<T[]> {
    const { pace } = this.#engine;
    const readable: T[] = [];
    for (const row of rows) {
      if (pace.isOver) await pace.pause();
      try {
        readable.push(of(row));
      } catch (error) {
        const about = { event: 'row', task_id: row['id'], error: String(error) };
        this.#log.error('the row of a task cannot be read', about);
      }
    }
    return readable;
  }

  /** One statement over many tables; `page` is what each statement gives of its rows. */
  #rowsOfAll(
    database: Database,
    selects: (segments: readonly ListedSegment[]) => readonly Read[],
    page: Read = { sql: '', values: [] },
  ): Promise<readonly Row[]> {
    const { segments } = this.#history;
    return this.#history.reading(() => union(database, selects(segments.of(this.#ns)), page));
  }
}
