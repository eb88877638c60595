/**
 * How many tasks long work is about, and some of them. The first so many rows are looked at one after the other, and as many of
 * all that follow, in pieces that are spread over it: what lies between two is taken to be as the one before. Changes nothing.
 */
import type { TaskSearch } from '../../../application/ports.ts';
import type { Database } from '../database.ts';
import type { Row } from '../rows.ts';
import {
  isLed,
  LED_PIECE_COUNT,
  PIECE_COUNT,
  rowsOf,
  type Source,
  sourcesOf,
  type Tables,
} from './sources.ts';

/** Tables whose ends are asked for at a time: about a millisecond of SQLite. */
const TABLE_COUNT = 64;

/** A table that has such rows, with the least and the greatest of their numbers. */
interface Span {
  readonly source: Source;
  readonly least: number;
  readonly most: number;
}

export interface CountLimits {
  /** Rows looked at one after the other, and of those that follow, but for a piece of each table. */
  readonly lookMax: number;
  /** After that each table that is left has one piece. */
  readonly msMax: number;
  readonly sampleCount: number;
}

/** `isExact`: none was left out. */
export async function countRows(
  database: Database,
  tables: Tables,
  search: TaskSearch,
  { lookMax, msMax, sampleCount }: CountLimits,
): Promise<{ readonly count: number; readonly isExact: boolean; readonly sample: readonly Row[] }> {
  const until = database.pace.now() + msMax;
  const spans = await spansOf(database, sourcesOf(database, tables, search));
  const sample: Row[] = [];
  let count = 0;
  let isExact = true;
  /** How many are still looked at one after the other. */
  let left = lookMax;
  /** Of the tables that follow. */
  let numberCount = spans.reduce((sum, span) => sum + sizeOf(span), 0);
  /** Numbers for each row that is looked at; 0: nothing is left out. */
  let stride = 0;
  for (const span of spans) {
    const { source, least, most } = span;
    numberCount -= sizeOf(span);
    const isOfRows = source.conditions.sql !== '' && isLed(source);
    const pieceCount = isOfRows ? LED_PIECE_COUNT : PIECE_COUNT;
    for (let from = least - 1, next = from; from < most; ) {
      const piece = await database.aside(() => countPiece(database, source, from, pieceCount));
      count += piece.foundCount;
      const wanted = sampleCount - sample.length;
      if (piece.foundCount > 0 && wanted > 0) {
        const range = [from + 1, piece.top] as const;
        const found = () => rowsOf(database, source, range, wanted, 'light');
        sample.push(...(await database.aside(found)));
      }
      if (piece.lookedCount < pieceCount) break;
      left -= piece.lookedCount;
      if (left <= 0 && stride === 0) {
        stride = (numberCount + most - piece.top) / lookMax;
        next = piece.top;
      }
      next += pieceCount * stride;
      const goal = database.pace.now() < until ? Math.min(Math.floor(next), most) : most;
      if (goal > piece.top) {
        isExact = false;
        count += (piece.foundCount * (goal - piece.top)) / (piece.top - from);
      }
      from = Math.max(goal, piece.top);
    }
  }
  return { count: Math.round(count), isExact, sample };
}

const sizeOf = ({ least, most }: Span): number => most - least + 1;

async function spansOf(database: Database, sources: readonly Source[]): Promise<Span[]> {
  const spans: Span[] = [];
  for (let at = 0; at < sources.length; at += TABLE_COUNT) {
    const some = sources.slice(at, at + TABLE_COUNT);
    const ends = await database.aside(() => database.rowsOfEach(some.map(endsOf)));
    for (const [index, [row]] of ends.entries()) {
      const source = some[index];
      const [least, most] = [row?.['least'] as number | null, row?.['most'] as number | null];
      if (source && least !== null && most !== null) spans.push({ source, least, most });
    }
  }
  return spans;
}

/** Asked for both in one go, SQLite would look at all rows in between. */
function endsOf({ reading, first, range }: Source) {
  const end = (which: string): string =>
    `(SELECT ${which}(seq) FROM ${reading} WHERE ${first.sql}seq > ? AND seq <= ?)`;
  const values = [...first.values, ...range];
  return {
    sql: `SELECT ${end('MIN')} AS least, ${end('MAX')} AS most`,
    values: [...values, ...values],
  };
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
