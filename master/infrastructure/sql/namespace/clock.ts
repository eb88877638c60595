/**
 * What becomes of due times when the wall clock was set back between two terms: what was due stays
 * due, and a wait that had begun lasts as long as was planned. A `run_at` that has not come is left
 * alone: it is meant by the wall clock. Nothing else is bound to it.
 */
import type { Log, Position } from '../../../application/ports.ts';
import type { Database } from '../database.ts';
import type { Dialect, Statement } from '../dialects/dialect.ts';
import type { History } from '../history.ts';
import type { Row } from '../rows.ts';
import type { ListedSegment } from '../segments.ts';
import { outboxOf } from '../tables/history.ts';
import { moveInSlices, type Place, remember } from './slices.ts';
import type { Heading, Terms } from './terms.ts';

/** Clocks of different machines differ by less. */
const CLOCK_SKEW_MS = 1_000;
/** A retry that waits no longer than this was to follow at once. */
const SOON_MS = 1_000;

/** Stands before all names of tables: by when tasks are to begin, of those that are due. */
const LIMITS = ' limits';

/** The clock went from `aliveAt` back to `now`. In the row of the namespace, as JSON. */
export interface Following {
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
  began: Heading & { readonly aliveAt: number; readonly left: Following | null },
): Promise<number> {
  const { ns, now, aliveAt, left } = began;
  const follow = async (following: Following): Promise<void> => {
    const heading = { ...began, now: following.now };
    const places = placesOf(database.dialect, history.segments.of(ns), ns);
    let at = following;
    if (at.table === LIMITS) await followLimits(database, terms, heading, at);
    for (const place of places.filter(({ table }) => table >= following.table)) {
      const { table, column } = place;
      if (table !== at.table) at = { ...at, table, after: start(at.now) };
      const here = at;
      try {
        await moveInSlices(database, terms, heading, place, {
          direction: 'down',
          after: here.after,
          to: (row) => (table === 'task' ? dueAt(row, here) : movedTo(row[column] as number, here)),
          left: (after): Following => ({ ...here, after }),
        });
      } catch (error) {
        // A segment that another master has dropped.
        if (!database.dialect.isMissingTable(error)) throw error;
      }
    }
    await terms.write([heading], [remember(ns, null)]);
  };
  if (left !== null) await follow(left);
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
    { sql: `UPDATE pause ${set} ns = ?`, runs, touches: null },
  ];
}

/** Before due times move: they tell which of these tasks were due. */
async function followLimits(
  database: Database,
  terms: Terms,
  heading: Heading,
  following: Following,
): Promise<void> {
  const { now, aliveAt } = following;
  const limits: Place = {
    table: 'task',
    column: 'end_by',
    sql: `SELECT seq, end_by, due_at, deadline_at
      FROM ${database.dialect.readBy('task', 'task_ns_end')} WHERE ns = ?`,
    values: [heading.ns],
  };
  await moveInSlices(database, terms, heading, limits, {
    direction: 'down',
    after: following.after,
    to: (row) => {
      const endBy = row['end_by'] as number;
      const wasDue = (row['due_at'] as number) <= aliveAt;
      return wasDue && endBy !== row['deadline_at'] ? endBy - (aliveAt - now) : endBy;
    },
    left: (after): Following => ({ ...following, after }),
  });
}

/** What is due now is due: only later times move. */
const start = (now: number): Position => ({ time: now, seq: Number.MAX_SAFE_INTEGER });

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
    (row['state'] === 'waiting' || row['state'] === 'suspended') &&
    (due === row['order_time'] || due <= aliveAt + SOON_MS) &&
    (row['last_outcome'] === 'failed' || row['last_outcome'] === 'timed_out');
  return isRetry ? movedTo(due, following) : due;
}
