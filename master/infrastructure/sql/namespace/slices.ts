/**
 * Moves times of rows in the order of an index, a slice at a time: there may be millions, and others commit in
 * between. A time that is moved twice would be wrong: so how far this has come is written together with each
 * slice, and whoever takes over goes on there.
 */
import type { Position } from '../../../application/ports.ts';
import { type Database, isBefore, isBeyond } from '../database.ts';
import type { Statement } from '../dialects/dialect.ts';
import type { Row, Value } from '../rows.ts';
import type { Heading, Terms } from './terms.ts';

/** Rows that are looked at, and written, at once. */
const SLICE_COUNT = 1_000;

const bySeq = [{ name: 'seq', kind: 'integer' }] as const;

/** A table with times, in the order of an index by `column` and `seq`. */
export interface Place {
  readonly table: string;
  readonly column: 'due_at' | 'end_by' | 'notify_next_at';
  /** What of a row `to` needs; the rest of the statement says which rows and in which order. */
  readonly sql: string;
  readonly values: readonly Value[];
}

/** What is left to be done, of whatever kind; in the row of the namespace. */
export type Unfinished = object;

/**
 * So that no row is met again where it has moved to: `up` begins at the last row, since times move up,
 * and `down` at the first.
 * @param to where the time of a row is to be.
 * @param left what is left to be done once all up to there is.
 */
export async function moveInSlices(
  database: Database,
  terms: Terms,
  heading: Heading,
  place: Place,
  move: {
    readonly direction: 'up' | 'down';
    readonly after: Position;
    readonly to: (row: Row) => number;
    readonly left: (after: Position) => Unfinished;
  },
): Promise<void> {
  const { table, column, sql, values } = place;
  const isUp = move.direction === 'up';
  const order = isUp ? `${column} DESC, seq DESC` : `${column}, seq`;
  for (let { after } = move; ; ) {
    const rest = isUp ? isBefore(column, after) : isBeyond(column, after);
    const rows = await database.rows(`${sql}${rest.sql} ORDER BY ${order} LIMIT ?`, [
      ...values,
      ...rest.values,
      SLICE_COUNT,
    ]);
    const last = rows.at(-1);
    if (last === undefined) return;
    after = { time: last[column] as number, seq: last['seq'] as number };
    const moved = rows.flatMap((row) => {
      const to = move.to(row);
      return to === row[column] ? [] : [[row['seq'] as number, to]];
    });
    if (moved.length > 0) {
      const set = [{ name: column, kind: 'integer' }] as const;
      const statements = database.dialect.update(table, bySeq, set, moved);
      await terms.write([heading], [...statements, remember(heading.ns, move.left(after))]);
    }
    if (rows.length < SLICE_COUNT) return;
  }
}

/** With the commit of what it follows from, or of a slice; null: nothing is left. */
export function remember(ns: number, left: Unfinished | null): Statement {
  const value = left === null ? null : JSON.stringify(left);
  const sql = 'UPDATE namespace SET unfinished = ? WHERE id = ?';
  return { sql, runs: [[value, ns]], touches: 1 };
}
