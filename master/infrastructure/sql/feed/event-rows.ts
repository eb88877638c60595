/** Reads what a feed has told, piece by piece, and removes what is old. */
import type { EventPage, EventQuery } from '../../../application/ports.ts';
import { inNamespace } from '../../../application/ports.ts';
import type { StoredEvent } from '../../../domain/feed/feed-event.ts';
import { type Database, isAmong, isNamed, type Read } from '../database.ts';
import type { Row, Value } from '../rows.ts';
import { BY_TASK, eventList } from './event-table.ts';

/** Numbers, or events of one task, that one statement looks at. */
const PIECE_COUNT = 1_000;
/** Rows that one statement removes. */
const DROP_COUNT = 1_000;

/** @see TaskStore.readEvents */
export async function readEvents(
  database: Database,
  ns: number,
  query: EventQuery,
): Promise<EventPage> {
  const [namespace] = await database.rows('SELECT next_event_seq FROM namespace WHERE id = ?', [
    ns,
  ]);
  const newest = ((namespace?.['next_event_seq'] as number | undefined) ?? 1) - 1;
  const after = query.after ?? (await oldestOf(database, ns, newest)) - 1;
  const asked = { ...query, after };
  const found =
    query.taskSeq === null
      ? await readRange(database, ns, asked, newest)
      : await readTask(database, ns, asked, newest);
  // Last: what has gone since was there to be read.
  const oldest = await oldestOf(database, ns, newest);
  return { ...found, oldest, newest };
}

type Asked = EventQuery & { readonly after: number };
type Found = Pick<EventPage, 'events' | 'next'>;

/** Numbers have no gaps: so many rows are looked at as there are numbers. */
async function readRange(
  database: Database,
  ns: number,
  query: Asked,
  newest: number,
): Promise<Found> {
  const events: StoredEvent[] = [];
  const end = Math.min(newest, query.after + query.lookCount);
  const { sql, values } = filterOf(query);
  for (let { after: next } = query; ; ) {
    const last = Math.min(end, next + PIECE_COUNT);
    const left = query.limit - events.length;
    if (last <= next) return { events, next };
    const range = [inNamespace(ns, next), inNamespace(ns, last)];
    const rows = await database.aside(() =>
      database.rows(
        `SELECT ${eventList} FROM feed_event WHERE seq > ? AND seq <= ?${sql} ORDER BY seq LIMIT ?`,
        [...range, ...values, left],
      ),
    );
    for (const row of rows) events.push(eventOf(row, ns));
    if (rows.length === left) return { events, next: events.at(-1)?.seq ?? last };
    next = last;
  }
}

/** Its numbers are far from each other: where a piece ends, its index says. */
async function readTask(
  database: Database,
  ns: number,
  query: Asked,
  newest: number,
): Promise<Found> {
  const events: StoredEvent[] = [];
  const { sql, values } = filterOf(query);
  const within = `${database.dialect.readBy('feed_event', BY_TASK)}
     WHERE task_seq = ? AND seq > ? AND seq <= ?`;
  const piece = async (next: number, lookCount: number) => {
    const range = [query.taskSeq, inNamespace(ns, next), inNamespace(ns, newest)];
    const [end] = await database.rows(`SELECT seq FROM ${within} ORDER BY seq LIMIT 1 OFFSET ?`, [
      ...range,
      lookCount - 1,
    ]);
    const last = end === undefined ? newest : numberOf(end, ns);
    const left = query.limit - events.length;
    const rows = await database.rows(
      `SELECT ${eventList} FROM ${within}${sql} ORDER BY seq LIMIT ?`,
      [...range.slice(0, 2), inNamespace(ns, last), ...values, left],
    );
    for (const row of rows) events.push(eventOf(row, ns));
    return rows.length === left ? (events.at(-1)?.seq ?? last) : last;
  };
  let { after: next } = query;
  for (let left = query.lookCount; next < newest && left > 0; left -= PIECE_COUNT) {
    if (events.length === query.limit) break;
    next = await database.aside(() => piece(next, Math.min(left, PIECE_COUNT)));
  }
  return { events, next };
}

async function oldestOf(database: Database, ns: number, newest: number): Promise<number> {
  const [row] = await database.rows(
    `SELECT seq FROM ${database.dialect.readByKey('feed_event')}
     WHERE seq BETWEEN ? AND ? ORDER BY seq LIMIT 1`,
    [inNamespace(ns, 1), inNamespace(ns + 1, 0)],
  );
  return row === undefined ? newest + 1 : numberOf(row, ns);
}

/**
 * The oldest of each feed, as far as they are older than that: a feed keeps all that follows the first one that is
 * not. Returns how many have gone.
 */
export async function dropEvents(database: Database, before: number): Promise<number> {
  const namespaces = await database.rows('SELECT id FROM namespace');
  let count = 0;
  for (const { id } of namespaces) {
    count += await database.aside(() => dropOldest(database, id as number, before));
  }
  return count;
}

async function dropOldest(database: Database, ns: number, before: number): Promise<number> {
  const oldest = (count: number): Promise<readonly Row[]> =>
    database.rows(
      `SELECT seq, told_at FROM ${database.dialect.readByKey('feed_event')}
       WHERE seq BETWEEN ? AND ? ORDER BY seq LIMIT ?`,
      [inNamespace(ns, 1), inNamespace(ns + 1, 0), count],
    );
  // While one feed has much that is old, each of the others is asked again and again: one row says that it has nothing.
  const [first] = await oldest(1);
  if (first === undefined || (first['told_at'] as number) >= before) return 0;
  const rows = await oldest(DROP_COUNT);
  const kept = rows.findIndex((row) => (row['told_at'] as number) >= before);
  const old = kept < 0 ? rows : rows.slice(0, kept);
  const last = old.at(-1)?.['seq'] as number | undefined;
  if (last === undefined) return 0;
  const range = [inNamespace(ns, 1), last];
  await database.rows('DELETE FROM feed_event WHERE seq BETWEEN ? AND ?', range);
  return old.length;
}

function filterOf({ type, group, kind, within }: EventQuery): Read {
  const parts: Read[] = [];
  if (type !== null) parts.push(isAmong('type', type));
  if (group !== null) parts.push(isNamed('user_group', group));
  if (kind !== null) {
    // All that begin so: `/` comes next to `.`, and is in none.
    const sql = '(kind = ? OR (kind > ? AND kind < ?))';
    parts.push({ sql, values: [kind, `${kind}.`, `${kind}/`] });
  }
  if (within !== null) {
    const { types, groups } = within;
    parts.push({ sql: '(type IS NOT NULL OR user_group IS NOT NULL)', values: [] });
    if (types !== null) parts.push(orNone('type', isAmong('type', types)));
    if (groups !== null) parts.push(orNone('user_group', isNamed('user_group', groups)));
  }
  return {
    sql: parts.map(({ sql }) => ` AND ${sql}`).join(''),
    values: parts.flatMap(({ values }) => [...values]),
  };
}

const orNone = (column: string, { sql, values }: Read): Read => ({
  sql: `(${column} IS NULL OR ${sql})`,
  values,
});

const numberOf = (row: Row, ns: number): number => (row['seq'] as number) - inNamespace(ns, 0);

function eventOf(row: Row, ns: number): StoredEvent {
  const get = <T extends Value>(name: string): T => row[name] as T;
  return {
    seq: numberOf(row, ns),
    at: get('told_at'),
    kind: get('kind'),
    taskSeq: get('task_seq'),
    taskId: get('task_id'),
    type: get('type'),
    group: get('user_group'),
    attempt: get('attempt'),
    executorId: get('executor_id'),
    actor: get('actor'),
    data: get('data'),
  };
}
