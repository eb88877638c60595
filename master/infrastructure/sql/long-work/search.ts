/**
 * Goes through the tasks that long work is about, upwards: the live table, where it is asked for downwards, or the segments of
 * history one after the other, the oldest first, each by `seq`. So a place in it stays what it is, whatever moves elsewhere
 * meanwhile. Each statement looks at so many rows only. Changes nothing.
 */
import type { TaskSearch } from '../../../application/ports.ts';
import { WORK_LOOK_COUNT_MAX } from '../../../domain/bounds.ts';
import type { Row } from '../rows.ts';
import {
  type Asked,
  isBefore,
  isLed,
  LED_PIECE_COUNT,
  PIECE_COUNT,
  rowsOf,
  type Source,
  sourcesOf,
  type Tables,
} from './sources.ts';

/** What a piece costs at least, in rows. */
const PIECE_COST = 50;

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
