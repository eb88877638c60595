/**
 * What becomes of due times when the wall clock was set back between two terms: what was due stays
 * due, and a wait that had begun lasts as long as was planned. A `run_at` that has not come is left
 * alone: it is meant by the wall clock. Nothing else is bound to it.
 */
import type { Log, Position } from '../../../application/ports.ts';
import type { Database } from '../database.ts';
import type { Dialect, Statement } from '../dialects/dialect.ts';
import type { History } from '../history.ts';
import { isBeyond } from '../queries.ts';
import type { Row, Value } from '../rows.ts';
import type { ListedSegment } from '../segments.ts';
import { outboxOf } from '../tables/history.ts';
import type { Heading, Terms } from './terms.ts';

/** Clocks of different machines differ by less. */
const CLOCK_SKEW_MS = 1_000;
/** A retry that waits no longer than this was to follow at once. */
const SOON_MS = 1_000;
/** Rows that are looked at, and written, at once: there may be millions. */
const SLICE_COUNT = 1_000;

/** Stands before all names of tables: by when tasks are to begin, of those that are due. */
const LIMITS = ' limits';

const bySeq = [{ name: 'seq', kind: 'integer' }] as const;

/**
 * The clock went from `aliveAt` back to `now`. A wait that is shortened twice would be over at once:
 * so how far this has come is written together with each slice, and whoever takes over goes on there.
 */
interface Following {
  readonly now: number;
  readonly aliveAt: number;
  /** Tables before it are done, by name; or `LIMITS`. */
  readonly table: string;
  /** Rows up to here are done, by their time as it was. */
  readonly after: Position;
}

/**
 * To be done before anything is read for a new term but settings. Returns by how much pauses moved.
 * @param began.aliveAt when the newest commit was made, by the clock of its master.
 */
export async function followClock(
  database: Database,
  history: History,
  terms: Terms,
  log: Log,
  began: Heading & { readonly aliveAt: number; readonly clockBack: string | null },
): Promise<number> {
  const { ns, now, aliveAt, clockBack } = began;
  const follow = async (following: Following): Promise<void> => {
    const places = placesOf(database.dialect, history.segments.of(ns), ns);
    let at = following;
    if (at.table === LIMITS) await followLimits(database, terms, began, at);
    for (const place of places.filter(({ table }) => table >= following.table)) {
      const { table } = place;
      if (table !== at.table) at = { ...at, table, after: start(at.now) };
      try {
        await followIn(database, terms, began, place, at);
      } catch (error) {
        // A segment that another master has dropped.
        if (!database.dialect.isMissingTable(error)) throw error;
      }
    }
    await terms.write([{ ...began, now: following.now }], [remember(ns, null)]);
  };
  if (clockBack !== null) await follow(JSON.parse(clockBack) as Following);
  const backMs = aliveAt - now;
  if (backMs < CLOCK_SKEW_MS) return 0;
  log.warn('the clock was set back: due times follow it', { event: 'clock', ms: backMs });
  // Limits that were over may count in a pause; else they stay so.
  const following = { now, aliveAt, table: LIMITS, after: start(0) };
  // From here on nobody sees that the clock was set back: pauses must have moved.
  await terms.write([began], [...pausesMoved(ns, backMs), remember(ns, following)]);
  await follow(following);
  return backMs;
}

function pausesMoved(ns: number, backMs: number): Statement[] {
  const set = 'SET paused_at = paused_at - ? WHERE paused_at IS NOT NULL AND';
  const runs = [[backMs, ns]];
  return [
    { sql: `UPDATE namespace ${set} id = ?`, runs, touches: null },
    { sql: `UPDATE task_type ${set} ns = ?`, runs, touches: null },
  ];
}

/** Before due times move: they tell which of these tasks were due. A slice at a time, as below. */
async function followLimits(
  database: Database,
  terms: Terms,
  began: Heading,
  following: Following,
): Promise<void> {
  const { ns } = began;
  const { now, aliveAt } = following;
  const rows = database.dialect.readBy('task', 'task_ns_end');
  for (let after = following.after.time; ; ) {
    const [bound] = await database.rows(
      `SELECT end_by FROM ${rows} WHERE ns = ? AND end_by > ?
       ORDER BY end_by LIMIT 1 OFFSET ${SLICE_COUNT - 1}`,
      [ns, after],
    );
    const last = (bound?.['end_by'] ?? Number.MAX_SAFE_INTEGER) as number;
    const slice: Statement = {
      sql: `UPDATE ${rows} SET end_by = end_by - ?
        WHERE ns = ? AND end_by > ? AND end_by <= ? AND due_at <= ?
        AND (deadline_at IS NULL OR end_by < deadline_at)`,
      runs: [[aliveAt - now, ns, after, last, aliveAt]],
      touches: null,
    };
    after = last;
    const at = { ...following, after: { time: last, seq: 0 } };
    await terms.write([{ ...began, now }], [slice, remember(ns, at)]);
    if (bound === undefined) return;
  }
}

/** What is due now is due: only later times move. */
const start = (now: number): Position => ({ time: now, seq: Number.MAX_SAFE_INTEGER });

/** A table with times that follow, in the order of an index. */
interface Place {
  readonly table: string;
  readonly column: 'due_at' | 'notify_next_at';
  readonly sql: string;
  readonly values: readonly Value[];
}

/** By name. */
function placesOf(dialect: Dialect, segments: readonly ListedSegment[], ns: number): Place[] {
  const task: Place = {
    table: 'task',
    column: 'due_at',
    sql: `SELECT seq, due_at, order_time, state, last_outcome
      FROM ${dialect.readBy('task', 'task_ns_due')} WHERE ns = ?`,
    values: [ns],
  };
  const callbacks = segments.map((segment): Place => {
    const { from, where, values } = outboxOf(dialect, segment, ns);
    return {
      table: segment.table,
      column: 'notify_next_at',
      sql: `SELECT seq, notify_next_at FROM ${from} WHERE ${where}notify_state = 'pending'`,
      values,
    };
  });
  return [task, ...callbacks].sort((a, b) => (a.table < b.table ? -1 : 1));
}

/** In ascending order: what has moved lies before all that is still to be looked at. */
async function followIn(
  database: Database,
  terms: Terms,
  began: Heading,
  { table, column, sql, values }: Place,
  from: Following,
): Promise<void> {
  for (let at = from; ; ) {
    const beyond = isBeyond(column, at.after);
    const rows = await database.rows(`${sql}${beyond.sql} ORDER BY ${column}, seq LIMIT ?`, [
      ...values,
      ...beyond.values,
      SLICE_COUNT,
    ]);
    const last = rows.at(-1);
    if (last === undefined) return;
    at = { ...at, after: { time: last[column] as number, seq: last['seq'] as number } };
    const moved = rows.flatMap((row) => {
      const time = row[column] as number;
      const to = table === 'task' ? dueAt(row, at) : movedTo(time, at);
      return to === time ? [] : [[row['seq'] as number, to]];
    });
    if (moved.length > 0) {
      const set = [{ name: column, kind: 'integer' }] as const;
      const statements = database.dialect.update(table, bySeq, set, moved);
      await terms.write([{ ...began, now: at.now }], [...statements, remember(began.ns, at)]);
    }
    if (rows.length < SLICE_COUNT) return;
  }
}

function movedTo(time: number, { now, aliveAt }: Following): number {
  return Math.max(now, time - (aliveAt - now));
}

function dueAt(row: Row, following: Following): number {
  const due = row['due_at'] as number;
  const { aliveAt } = following;
  if (due <= aliveAt) return following.now;
  // A retry: nothing else sets both alike after an attempt that failed. One that follows at once
  // keeps its head start, and is due within the second.
  const isRetry =
    row['state'] === 'waiting' &&
    (due === row['order_time'] || due <= aliveAt + SOON_MS) &&
    (row['last_outcome'] === 'failed' || row['last_outcome'] === 'timed_out');
  return isRetry ? movedTo(due, following) : due;
}

function remember(ns: number, following: Following | null): Statement {
  const value = following === null ? null : JSON.stringify(following);
  const sql = 'UPDATE namespace SET clock_back = ? WHERE id = ?';
  return { sql, runs: [[value, ns]], touches: 1 };
}
