/**
 * Goes through the tasks that long work is about, upwards: the live table, where it is asked for downwards, or the segments of
 * history one after the other, the oldest first, each by `seq`. So a place in it stays what it is, whatever moves elsewhere
 * meanwhile. Each statement looks at so many rows only. Changes nothing.
 */
import { inNamespace, type TaskSearch } from '../../../application/ports.ts';
import { WORK_LOOK_COUNT_MAX } from '../../../domain/bounds.ts';
import { isTerminal } from '../../../domain/model/task.ts';
import { type Database, isAmong, type Read } from '../database.ts';
import { conditionsOf, includesDay } from '../listing/conditions.ts';
import type { Row } from '../rows.ts';
import { hasEndedBefore, type ListedSegment, segmentAt } from '../segments.ts';
import { bytesOf, selectList } from '../tables/history.ts';

/** Rows that one statement looks at: about a millisecond of SQLite. */
const PIECE_COUNT = 1_000;
/** The same where an index leads to each of them: the next one is somewhere else. */
const LED_PIECE_COUNT = 250;
/** What a piece costs at least, in rows. */
const PIECE_COST = 50;

/** The part of a database that a search asks. */
export type Asked = Pick<Database, 'dialect' | 'rows'>;

/** What there is to look at. */
interface Tables {
  readonly segments: readonly ListedSegment[];
  readonly ns: number;
}

/** One table, with what is asked of its rows. */
interface Source {
  readonly table: string;
  /** The table in the order of `seq`, or of those in one state. */
  readonly reading: string;
  /** What `reading` asks for first. */
  readonly first: Read;
  readonly conditions: Read;
  readonly columns: { readonly whole: string; readonly light: string; readonly bytes: string };
  /** Its rows are above the first and not above the second. */
  readonly range: readonly [number, number];
  readonly isBackwards: boolean;
}

interface Place {
  readonly table: string;
  readonly seq: number;
}

/** The next rows, all of one table; `cursor`: null where there are no others. */
export async function searchRows(
  database: Asked,
  tables: Tables,
  search: TaskSearch,
  { cursor, limit, bytesMax }: { cursor: string | null; limit: number; bytesMax: number },
): Promise<{ readonly rows: readonly Row[]; readonly cursor: string | null }> {
  let left = WORK_LOOK_COUNT_MAX;
  for (const [source, from, next] of placesFrom(sourcesOf(database, tables, search), cursor)) {
    const found: number[] = [];
    const pieceCount = isLed(source) ? LED_PIECE_COUNT : PIECE_COUNT;
    let seq = from;
    let bytes = 0;
    let isEnd = false;
    let isFull = false;
    while (!isEnd && !isFull && left > 0 && found.length < limit) {
      const piece = await look(database, source, seq, pieceCount);
      left -= Math.max(piece.length, PIECE_COST);
      for (const row of piece) {
        const isFound = row['bytes'] !== null;
        const sum = bytes + Number(row['bytes'] ?? 0);
        isFull = isFound && (found.length === limit || (found.length > 0 && sum > bytesMax));
        if (isFull) break;
        seq = row['seq'] as number;
        bytes = sum;
        if (isFound) found.push(seq);
      }
      isEnd = !isFull && piece.length < pieceCount;
    }
    const after = isEnd ? next : placeText({ table: source.table, seq });
    if (found.length > 0) {
      const range = [Math.min(...found), Math.max(...found)] as const;
      const rows = await rowsOf(database, source, range, limit);
      return { rows: source.isBackwards ? rows.toReversed() : rows, cursor: after };
    }
    if (left <= 0) return { rows: [], cursor: after };
  }
  return { rows: [], cursor: null };
}

/** One by one, up to so many and for so long; then as if the rest were like that. */
export async function countRows(
  database: Database,
  tables: Tables,
  search: TaskSearch,
  limits: { readonly countMax: number; readonly msMax: number; readonly sampleCount: number },
): Promise<{ readonly count: number; readonly isExact: boolean; readonly sample: readonly Row[] }> {
  const until = database.pace.now() + limits.msMax;
  const sources = sourcesOf(database, tables, search);
  const sample: Row[] = [];
  let count = 0;
  for (const [place, source] of sources.entries()) {
    const [bottom] = source.range;
    const isOfRows = source.conditions.sql !== '' && isLed(source);
    const pieceCount = isOfRows ? LED_PIECE_COUNT : PIECE_COUNT;
    for (let seq = bottom; ; ) {
      const piece = await database.aside(() => countPiece(database, source, seq, pieceCount));
      count += piece.foundCount;
      const wanted = limits.sampleCount - sample.length;
      if (piece.foundCount > 0 && wanted > 0) {
        const range = [seq + 1, piece.top] as const;
        const found = () => rowsOf(database, source, range, wanted, 'light');
        sample.push(...(await database.aside(found)));
      }
      if (piece.lookedCount < pieceCount) break;
      seq = piece.top;
      if (count <= limits.countMax && database.pace.now() < until) continue;
      const looked = await database.aside(() => shareOf(database, source, seq));
      const share = (place + looked) / sources.length;
      return { count: Math.round(count / share), isExact: false, sample };
    }
  }
  return { count, isExact: true, sample };
}

const isLed = ({ first }: Source): boolean => first.sql !== '';

/** In the order in which they are gone through. */
function sourcesOf({ dialect }: Asked, { segments, ns }: Tables, search: TaskSearch): Source[] {
  const { filter, states, seqMax, endedBefore, isBackwards } = search;
  const range = [inNamespace(ns, 0), Math.min(seqMax, inNamespace(ns + 1, 0) - 1)] as const;
  const [state, ...others] = states;
  if (state === undefined) return [];
  const nothing = { sql: '', values: [] };
  if (!isTerminal(state)) {
    const conditions = joined(amongOf(states), conditionsOf(filter, null));
    const reading = dialect.readByKey('task');
    const live = { reading, first: nothing, conditions, range, isBackwards };
    return [{ table: 'task', columns: columnsOf('live'), ...live }];
  }
  const isOne = others.length === 0;
  const before = { sql: ' AND finished_at < ?', values: [endedBefore] };
  const newest = segmentAt('normal', endedBefore).day;
  return segments
    .filter((segment) => segment.day <= newest && includesDay(filter, segment))
    .toSorted((a, b) => (isBefore(a.table, b.table) ? -1 : 1))
    .map((segment): Source => {
      const { table, retention } = segment;
      // Of a day that was over nothing has to be asked but the index, where that says all.
      const isBeforeAll = hasEndedBefore(segment, endedBefore);
      const asked = joined(isBeforeAll ? nothing : before, conditionsOf(filter, segment));
      const byState = dialect.readBy(table, `${table}_state`);
      return {
        table,
        reading: isOne ? byState : dialect.readByKey(table),
        first: isOne ? { sql: 'state = ? AND ', values: [state] } : nothing,
        conditions: isOne ? asked : joined(amongOf(states), asked),
        columns: columnsOf(retention),
        range,
        isBackwards: false,
      };
    });
}

function amongOf(states: TaskSearch['states']): Read {
  const { sql, values } = isAmong('state', states);
  return { sql: ` AND ${sql}`, values };
}

/** Each begins with ` AND `. */
function joined(...reads: readonly Read[]): Read {
  return {
    sql: reads.map(({ sql }) => sql).join(''),
    values: reads.flatMap(({ values }) => values),
  };
}

function columnsOf(source: Parameters<typeof selectList>[0]): Source['columns'] {
  return {
    whole: selectList(source, 'whole'),
    light: selectList(source, 'light'),
    bytes: bytesOf(source),
  };
}

/** From the cursor on: each table, from where in it, and where the next one begins. */
function* placesFrom(
  sources: readonly Source[],
  cursor: string | null,
): Generator<readonly [Source, number, string | null]> {
  const place = cursor === null ? null : placeOf(cursor);
  // Its table may have gone since: it goes on with the one after that.
  const at = place === null ? 0 : sources.findIndex(({ table }) => !isBefore(table, place.table));
  for (let index = at; index >= 0 && index < sources.length; index++) {
    const source = sources[index] as Source;
    const next = sources[index + 1];
    const [bottom, top] = source.range;
    const begin = source.isBackwards ? top + 1 : bottom;
    const from = source.table === place?.table ? place.seq : begin;
    yield [source, from, next ? placeText({ table: next.table, seq: next.range[0] }) : null];
  }
}

/** As segments are gone through: by day, and then by name. */
function isBefore(table: string, other: string): boolean {
  const [day, otherDay] = [table.slice(-8), other.slice(-8)];
  return day < otherDay || (day === otherDay && table < other);
}

const placeText = ({ table, seq }: Place): string => `${table}:${seq}`;

function placeOf(cursor: string): Place {
  const [table = '', seq = '0'] = cursor.split(':');
  return { table, seq: Number(seq) };
}

/** The next rows, whether asked for or not: `bytes` is null of those that are not. */
function look(
  database: Asked,
  source: Source,
  after: number,
  count: number,
): Promise<readonly Row[]> {
  const { reading, first, conditions, columns, range, isBackwards } = source;
  const onwards = isBackwards
    ? 'seq < ? AND seq > ? ORDER BY seq DESC'
    : 'seq > ? AND seq <= ? ORDER BY seq';
  return database.rows(
    `SELECT seq, CASE WHEN seq > 0${conditions.sql} THEN ${columns.bytes} END AS bytes FROM ${reading}
     WHERE ${first.sql}${onwards} LIMIT ?`,
    [...conditions.values, ...first.values, after, range[isBackwards ? 0 : 1], count],
  );
}

async function countPiece(
  database: Database,
  { reading, first, conditions, range }: Source,
  after: number,
  count: number,
): Promise<{ readonly lookedCount: number; readonly foundCount: number; readonly top: number }> {
  const [row] = await database.rows(
    `SELECT COUNT(*) AS looked_count, COUNT(is_found) AS found_count, MAX(seq) AS top FROM
     (SELECT seq, CASE WHEN seq > 0${conditions.sql} THEN 1 END AS is_found FROM ${reading}
      WHERE ${first.sql}seq > ? AND seq <= ? ORDER BY seq LIMIT ?) AS piece`,
    [...conditions.values, ...first.values, after, range[1], count],
  );
  const get = (name: string): number => Number(row?.[name] ?? 0);
  return { lookedCount: get('looked_count'), foundCount: get('found_count'), top: get('top') };
}

/** Those asked for from the first `seq` up to the second. */
function rowsOf(
  database: Asked,
  { reading, first, conditions, columns }: Source,
  [least, most]: readonly [number, number],
  limit: number,
  size: 'whole' | 'light' = 'whole',
): Promise<readonly Row[]> {
  return database.rows(
    `SELECT ${columns[size]} FROM ${reading}
     WHERE ${first.sql}seq BETWEEN ? AND ?${conditions.sql} ORDER BY seq LIMIT ?`,
    [...first.values, least, most, ...conditions.values, limit],
  );
}

/** How much of the table was looked at, about: above 0. */
async function shareOf(database: Database, source: Source, seq: number): Promise<number> {
  const { reading, first, range } = source;
  const values = [...first.values, ...range];
  const end = (which: string): string =>
    `(SELECT ${which}(seq) FROM ${reading} WHERE ${first.sql}seq > ? AND seq <= ?)`;
  // Asked for both in one go, SQLite would look at all rows in between.
  const [row] = await database.rows(`SELECT ${end('MIN')} AS least, ${end('MAX')} AS most`, [
    ...values,
    ...values,
  ]);
  const least = Number(row?.['least'] ?? 0) - 1;
  const most = Number(row?.['most'] ?? seq);
  return most <= least ? 1 : (seq - least) / (most - least);
}
