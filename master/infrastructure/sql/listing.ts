/**
 * Lists tasks of a namespace newest first, over the live table and every segment of history. Type, group and
 * label have no index: whoever asks by them has rows looked at, piece by piece and only so many,
 * and is told where to go on. So has whoever asks by the state of the callback, where that is
 * common; where it is rare, the index of the outbox brings it. Knows nothing of rows but their
 * `seq`.
 */
import type { TaskQuery } from '../../application/ports.ts';
import { inNamespace } from '../../application/ports.ts';
import type { NotificationState, TaskState } from '../../domain/model/task.ts';
import { isTerminal } from '../../domain/model/task.ts';
import type { Database } from './database.ts';
import { type Dialect, padded, placeholders } from './dialects/dialect.ts';
import type { Row, Value } from './rows.ts';
import type { ListedSegment } from './segments.ts';
import { outboxOf, selectList } from './tables/history.ts';

/** Rows that one statement looks at while it searches: about a millisecond of SQLite. */
const PIECE_COUNT = 1_000;
/** Rows that one statement brings. */
const FOUND_COUNT = 64;
/** What a piece costs before it has looked at a row, in rows. */
const PIECE_COST = 50;
/** Tables asked by one statement. */
const TABLE_COUNT = 100;
/** The same, where a piece of each may have to be read. */
const FEW_TABLE_COUNT = 16;
/** A database whose disk is slow is not searched for longer by one request. */
const SEARCH_MS_MAX = 500;

export interface ListedRows {
  readonly rows: readonly Row[];
  /** Every row from here on was looked at; null: there are no others. */
  readonly beforeSeq: number | null;
}

/** One table on its way down. */
interface Source {
  readonly table: string;
  /** The table in the order that it is to be read in: by `seq` within what `state` asks for. */
  readonly reading: string;
  readonly columns: string;
  readonly isLive: boolean;
  /** Of all it has in the state of `notification`; `reading` brings these, though not by `seq`. */
  readonly isFew: boolean;
  /** What `reading` asks for first, with what it binds. */
  readonly where: string;
  readonly values: readonly Value[];
  /** Before the first `seq` of the namespace. */
  readonly bottom: number;
  /** The next row to look at; 0: there are no more. */
  top: number;
}

/**
 * Always goes on where the newest row is that was not looked at, so that what is above is complete
 * and in order. Live tasks come before history of the same age: whoever ends meanwhile is found.
 */
export async function listRows(
  database: Database,
  segments: readonly ListedSegment[],
  ns: number,
  query: TaskQuery,
): Promise<ListedRows> {
  const until = database.pace.now() + SEARCH_MS_MAX;
  const few = await aside(database, () => findFew(database, segments, ns, query.notification));
  const sources = sourcesOf(database.dialect, segments, ns, query, few);
  const end = inNamespace(ns + 1, 0);
  const top = Math.min(query.beforeSeq ?? end, end) - 1;
  await aside(database, () => findTops(database, sources, query, top));
  const found = new Map<number, Row>();
  // One more than asked for tells whether there is another page.
  const wanted = query.limit + 1;
  let left = query.lookCount;
  for (;;) {
    const source = highest(sources);
    const frontier = source?.top ?? 0;
    const rows = [...found.values()]
      .filter((row) => seqOf(row) > frontier)
      .sort((a, b) => seqOf(b) - seqOf(a));
    if (rows.length >= wanted) {
      const page = rows.slice(0, query.limit);
      return { rows: page, beforeSeq: seqOf(page.at(-1)) };
    }
    if (source === null) return { rows, beforeSeq: null };
    const spent = left <= 0 || (left < query.lookCount && database.pace.now() >= until);
    if (spent) return { rows, beforeSeq: frontier + 1 };
    const live = source.isLive ? undefined : sources.find(({ isLive }) => isLive);
    const floor = Math.max(live?.top ?? 0, source.bottom) + 1;
    const step = { floor, wanted: wanted - rows.length, left };
    const piece = await aside(database, () => look(database, source, query, step));
    // A task that ended meanwhile is found twice; the later look is right.
    for (const row of piece.rows) found.set(seqOf(row), row);
    left -= piece.lookedCount + PIECE_COST;
  }
}

/** The segments with no more than a piece of callbacks in this state: their index can be sorted. */
async function findFew(
  database: Database,
  segments: readonly ListedSegment[],
  ns: number,
  state: NotificationState | null,
): Promise<ReadonlySet<string>> {
  const few = new Set<string>();
  // Most callbacks are delivered: that is known without counting.
  if (state === null || state === 'delivered') return few;
  for (let at = 0; at < segments.length; at += FEW_TABLE_COUNT) {
    const some = segments.slice(at, at + FEW_TABLE_COUNT);
    const outboxes = some.map((segment) => outboxOf(database.dialect, segment, ns));
    const selects = outboxes.map(
      ({ from, where }, index) => `SELECT ${index} AS source, COUNT(*) AS row_count FROM
        (SELECT seq FROM ${from} WHERE ${where}notify_state = ? LIMIT ?) AS part`,
    );
    const values = outboxes.flatMap((outbox) => [...outbox.values, state, PIECE_COUNT + 1]);
    for (const row of await database.rows(selects.join(' UNION ALL '), values)) {
      const segment = some[row['source'] as number];
      const count = row['row_count'] as number;
      if (segment !== undefined && count <= PIECE_COUNT) few.add(segment.table);
    }
  }
  return few;
}

function sourcesOf(
  dialect: Dialect,
  segments: readonly ListedSegment[],
  ns: number,
  { state, notification }: TaskQuery,
  few: ReadonlySet<string>,
): Source[] {
  const sources: Source[] = [];
  const begin = { bottom: inNamespace(ns, 0), top: 0, where: '', values: [] };
  // A task has no callback before its end.
  if (notification === null && (state === null || !isTerminal(state))) {
    // Most live tasks wait; the index would bring them in the order of their lanes.
    const isRare = state !== null && !isCommon(state);
    const reading = isRare ? dialect.readBy('task', 'task_queue') : dialect.readByKey('task');
    const columns = selectList('live', 'light');
    sources.push({ ...begin, table: 'task', reading, columns, isLive: true, isFew: false });
  }
  if (state === null || isTerminal(state)) {
    for (const segment of segments) {
      const { table, retention } = segment;
      const columns = selectList(retention, 'light');
      const isFew = few.has(table);
      const byState = dialect.readBy(table, `${table}_state`);
      const reading = state === null ? dialect.readByKey(table) : byState;
      const source = { ...begin, table, reading, columns, isLive: false, isFew };
      const { from, where, values } = outboxOf(dialect, segment, ns);
      sources.push(isFew ? { ...source, reading: from, where, values } : source);
    }
  }
  return sources;
}

/** Moves each table to its newest row, from `top` down, that may be asked for. */
async function findTops(
  database: Database,
  sources: readonly Source[],
  { state, notification }: TaskQuery,
  top: number,
): Promise<void> {
  const tableCount = notification === null ? TABLE_COUNT : FEW_TABLE_COUNT;
  for (let from = 0; from < sources.length; from += tableCount) {
    const some = sources.slice(from, from + tableCount);
    const values: Value[] = [];
    const selects = some.map(({ table, reading, where, values: first, isLive, isFew }, index) => {
      const newest = `SELECT ${index} AS source, MAX(seq) AS top FROM`;
      values.push(...first, top);
      if (isFew) {
        values.push(notification);
        return `${newest} ${reading} WHERE ${where}seq <= ? AND notify_state = ?`;
      }
      // The live table has no index by state and age.
      if (state === null || isLive) return `${newest} ${table} WHERE seq <= ?`;
      values.push(state);
      return `${newest} ${table} WHERE seq <= ? AND state = ?`;
    });
    for (const row of await database.rows(selects.join(' UNION ALL '), values)) {
      const source = some[row['source'] as number];
      const top = (row['top'] as number | null) ?? 0;
      // Below are rows of other namespaces.
      if (source !== undefined) source.top = top > source.bottom ? top : 0;
    }
  }
}

/** The table whose next row is the newest of all; null when all are at their end. */
function highest(sources: readonly Source[]): Source | null {
  let best: Source | null = null;
  for (const source of sources) {
    // The live table stands first, so that it wins where both may have the row.
    if (source.top > (best?.top ?? 0)) best = source;
  }
  return best;
}

/** Where the database works in this thread, a commit would wait for whatever is looked at. */
function aside<T>({ dialect, pace }: Database, piece: () => Promise<T>): Promise<T> {
  return dialect.isInProcess ? pace.aside(piece) : piece();
}

/** Looks at the next rows of one table, not below `floor`, and moves it on. */
async function look(
  database: Database,
  source: Source,
  query: TaskQuery,
  { floor, wanted, left }: { floor: number; wanted: number; left: number },
): Promise<{ readonly rows: readonly Row[]; readonly lookedCount: number }> {
  const { table, reading, where, columns, isFew, top } = source;
  const limit = Math.min(FOUND_COUNT, wanted);
  const piece = isSearch(source, query)
    ? await cutPiece(database, source, query, floor, Math.min(PIECE_COUNT, left))
    : { bottom: floor, lookedCount: limit, foundCount: limit };
  const [sql, values] = conditionsOf(query);
  const found = `${reading} WHERE ${where}seq BETWEEN ? AND ?${sql} ORDER BY seq DESC LIMIT ?`;
  // What is to be sorted is told apart by the index alone; only then are the rows read.
  const select = isFew
    ? `SELECT ${columns} FROM (SELECT seq FROM ${found}) AS few
       CROSS JOIN ${table} USING (seq) ORDER BY seq DESC`
    : `SELECT ${columns} FROM ${found}`;
  const bound = [...source.values, piece.bottom, top, ...values, limit];
  const rows = piece.foundCount === 0 ? [] : await database.rows(select, bound);
  const bottom = rows.length < limit ? piece.bottom : seqOf(rows.at(-1));
  await findTops(database, [source], query, bottom - 1);
  return { rows, lookedCount: piece.lookedCount };
}

/** Whether rows are looked at that may not be asked for. */
function isSearch({ isLive, isFew }: Source, query: TaskQuery): boolean {
  // All of the few are no more than a piece.
  if (isFew) return false;
  const { state, type, group, label, notification, within } = query;
  const lists = [within?.types ?? null, within?.groups ?? null];
  const filters = [type, group, label, notification, ...lists];
  return filters.some((filter) => filter !== null) || (isLive && isCommon(state));
}

/** Of live tasks: so many may be in it that an index by state is of no use. */
function isCommon(state: TaskState | null): boolean {
  return state === 'waiting' || state === 'held';
}

/** By rows, not by `seq`: a table may have few rows that are far apart. Also tells how many of them are asked for. */
async function cutPiece(
  database: Database,
  { reading, isLive, top }: Source,
  query: TaskQuery,
  floor: number,
  count: number,
): Promise<{ readonly bottom: number; readonly lookedCount: number; readonly foundCount: number }> {
  const { state } = query;
  const inState = state === null || (isLive && isCommon(state)) ? null : state;
  const [sql, values] = conditionsOf(query);
  const [row] = await database.rows(
    `SELECT COUNT(*) AS row_count, MIN(seq) AS bottom, COUNT(is_found) AS found_count FROM
     (SELECT seq, CASE WHEN seq > 0${sql} THEN 1 END AS is_found FROM ${reading}
      WHERE seq BETWEEN ? AND ?${inState === null ? '' : ' AND state = ?'}
      ORDER BY seq DESC LIMIT ?) AS piece`,
    [...values, floor, top, ...(inState === null ? [] : [inState]), count],
  );
  const lookedCount = (row?.['row_count'] as number | undefined) ?? 0;
  const bottom = lookedCount < count ? floor : (row?.['bottom'] as number);
  return { bottom, lookedCount, foundCount: (row?.['found_count'] as number | undefined) ?? 0 };
}

function conditionsOf(query: TaskQuery): [sql: string, values: Value[]] {
  const conditions: [sql: string, value: Value | null][] = [
    [' AND state = ?', query.state],
    [' AND type = ?', query.type],
    [' AND user_group = ?', query.group],
    [' AND notify_state = ?', query.notification],
    // Labels are kept as a JSON array; their alphabet has no quote.
    [' AND INSTR(labels, ?) > 0', query.label === null ? null : `"${query.label}"`],
  ];
  const asked = conditions.filter(([, value]) => value !== null);
  const { types = null, groups = null } = query.within ?? {};
  const lists = [amongOf('type', types), amongOf('user_group', groups)];
  return [
    [...asked, ...lists].map(([sql]) => sql).join(''),
    [...asked.map(([, value]) => value), ...lists.flatMap(([, values]) => values)],
  ];
}

function amongOf(column: string, list: readonly string[] | null): [sql: string, values: Value[]] {
  if (list === null) return ['', []];
  const values = padded(list);
  return [` AND ${column} IN ${placeholders(1, values.length)}`, values];
}

const seqOf = (row: Row | undefined): number => (row?.['seq'] as number | undefined) ?? 0;
