/**
 * Lists tasks of a namespace newest first, over the live table and every segment of history. What no index serves
 * (`sources.ts`) is looked for: whoever asks by it has rows looked at, piece by piece and only so many, and is told
 * where to go on. Knows nothing of rows but their `seq`.
 */
import type { TaskQuery } from '../../../application/ports.ts';
import { inNamespace } from '../../../application/ports.ts';
import type { Database } from '../database.ts';
import type { Row } from '../rows.ts';
import type { ListedSegment } from '../segments.ts';
import { selectList } from '../tables/history.ts';
import {
  type ColumnsOf,
  findSources,
  findTops,
  isSearch,
  type Rows,
  type Source,
} from './sources.ts';

interface PieceBounds {
  /** Rows that one statement looks at while it searches, and what that is to take at most. */
  readonly least: number;
  readonly most: number;
  readonly ms: number;
  /** Rows that one statement brings. */
  readonly found: number;
}

/** At most about a millisecond of SQLite, where rows are small. */
const IN_PROCESS: PieceBounds = { least: 64, most: 1_000, ms: 4, found: 64 };
/** Nothing else waits for a server, and to ask it costs as much as some hundred rows. */
const ON_SERVER: PieceBounds = { least: 1_000, most: 16_000, ms: 20, found: 256 };
/** What a piece costs before it has looked at a row, in rows. */
const PIECE_COST = 50;
/** What a row costs that an index leads to, by what was measured: the next one is somewhere else. */
const LED_COST = 6;
/** No page makes anybody wait for longer, but for its last piece: what is looked for is on the next ones. */
export const SEARCH_MS_MAX = 30;
/** What is looked at however long it takes: a list of a few is not cut off since the machine is busy. */
const SURE_COST = 500;

/** What is brought of each row, and how many times as many rows one statement may bring as of whole ones. */
interface Brought {
  readonly columnsOf: ColumnsOf;
  readonly factor: number;
}

const LISTED: Brought = { columnsOf: (source) => selectList(source, 'light'), factor: 1 };

/** What the next piece may cost, in rows: the columns of some lie behind params of hundreds of kilobytes. */
class PieceSize {
  readonly bounds: PieceBounds;
  readonly #now: () => number;
  cost: number;

  constructor({ dialect, pace }: Database) {
    this.#now = pace.now;
    this.bounds = dialect.isInProcess ? IN_PROCESS : ON_SERVER;
    this.cost = this.bounds.least;
  }

  async time(look: () => Promise<Looked>): Promise<Looked> {
    const begun = this.#now();
    const looked = await look();
    const tookMs = this.#now() - begun;
    const { least, most, ms } = this.bounds;
    // One that brings all that it may was large enough.
    const cost = tookMs > ms ? (this.cost * ms) / tookMs : (looked.isFull ? 1 : 2) * this.cost;
    this.cost = Math.ceil(Math.min(most, Math.max(least, cost)));
    return looked;
  }
}

/** What a look has brought. */
interface Looked {
  readonly rows: readonly Row[];
  readonly lookedCount: number;
  /** As many rows as it may bring: there may be others in the same piece. */
  readonly isFull: boolean;
}

export interface ListedRows {
  readonly rows: readonly Row[];
  /** Every row from here on was looked at; null: there are no others. */
  readonly beforeSeq: number | null;
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
  { columnsOf, factor }: Brought = LISTED,
): Promise<ListedRows> {
  const until = database.pace.now() + SEARCH_MS_MAX;
  const rowsAside: Rows = (sql, values) => database.aside(() => database.rows(sql, values));
  const sources = await findSources(database.dialect, rowsAside, segments, ns, query, columnsOf);
  const end = inNamespace(ns + 1, 0);
  const top = Math.min(query.beforeSeq ?? end, end) - 1;
  await findTops(rowsAside, sources, top);
  const found = new Map<number, Row>();
  // One more than asked for tells whether there is another page.
  const wanted = query.limit + 1;
  const size = new PieceSize(database);
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
    const isSure = query.lookCount - left < SURE_COST;
    const isSpent = left <= 0 || (!isSure && database.pace.now() >= until);
    if (isSpent) return { rows, beforeSeq: frontier + 1 };
    const live = source.isLive ? undefined : sources.find(({ isLive }) => isLive);
    const floor = Math.max(live?.top ?? 0, source.bottom) + 1;
    const limit = Math.min(factor * size.bounds.found, wanted - rows.length);
    const cost = isSearch(source) && source.where !== '' ? LED_COST : 1;
    const count = Math.ceil(Math.min(size.cost, left) / cost);
    const step = { floor, limit, count };
    const piece = await database.aside(() => size.time(() => look(database, source, step)));
    // A task that ended meanwhile is found twice; the later look is right.
    for (const row of piece.rows) found.set(seqOf(row), row);
    left -= cost * piece.lookedCount + PIECE_COST;
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

/** Looks at the next rows of one table, not below `floor`, and moves it on. */
async function look(
  database: Database,
  source: Source,
  { floor, limit, count }: { floor: number; limit: number; count: number },
): Promise<Looked> {
  const { table, reading, where, columns, conditions, isFew, top } = source;
  const piece = isSearch(source)
    ? await cutPiece(database, source, floor, count)
    : { bottom: floor, lookedCount: limit, foundCount: limit, isLast: true };
  const found = `${reading} WHERE ${where}seq BETWEEN ? AND ?${conditions.sql} ORDER BY seq DESC LIMIT ?`;
  // What is to be sorted is told apart by the index alone; only then are the rows read.
  const select = isFew
    ? `SELECT ${columns} FROM (SELECT seq FROM ${found}) AS few
       CROSS JOIN ${table} USING (seq) ORDER BY seq DESC`
    : `SELECT ${columns} FROM ${found}`;
  const bound = [...source.values, piece.bottom, top, ...conditions.values, limit];
  const rows = piece.foundCount === 0 ? [] : await database.rows(select, bound);
  const isFull = rows.length === limit;
  const next = (isFull ? seqOf(rows.at(-1)) : piece.bottom) - 1;
  // The next look is for what comes there; only where that is far away it would look in vain.
  if (isFull || !piece.isLast) source.top = next > source.bottom ? next : 0;
  else await findTops((sql, values) => database.rows(sql, values), [source], next);
  return { rows, lookedCount: piece.lookedCount, isFull };
}

interface Piece {
  readonly bottom: number;
  readonly lookedCount: number;
  readonly foundCount: number;
  /** It goes down to where it was to end. */
  readonly isLast: boolean;
}

/** By rows, not by `seq`: a table may have few rows that are far apart. Also tells how many of them are asked for. */
async function cutPiece(
  database: Database,
  { reading, where, values, conditions, top }: Source,
  floor: number,
  count: number,
): Promise<Piece> {
  const [row] = await database.rows(
    `SELECT COUNT(*) AS row_count, MIN(seq) AS bottom, COUNT(is_found) AS found_count FROM
     (SELECT seq, CASE WHEN seq > 0${conditions.sql} THEN 1 END AS is_found FROM ${reading}
      WHERE ${where}seq BETWEEN ? AND ? ORDER BY seq DESC LIMIT ?) AS piece`,
    [...conditions.values, ...values, floor, top, count],
  );
  const lookedCount = (row?.['row_count'] as number | undefined) ?? 0;
  const foundCount = (row?.['found_count'] as number | undefined) ?? 0;
  const isLast = lookedCount < count;
  return { bottom: isLast ? floor : (row?.['bottom'] as number), lookedCount, foundCount, isLast };
}

const seqOf = (row: Row | undefined): number => (row?.['seq'] as number | undefined) ?? 0;
