/** Counts ended tasks by an index alone, up to a bound: nobody keeps count of them. */
import type { TerminalState } from '../../../domain/model/task.ts';
import type { Database } from '../database.ts';
import type { Row, Value } from '../rows.ts';
import type { ListedSegment } from '../segments.ts';

/** Entries of an index that one statement counts. */
const COUNTED_COUNT = 5_000;

export async function countEnded(
  database: Database,
  segments: readonly ListedSegment[],
  [least, most]: readonly [number, number],
  { state, max }: { readonly state: TerminalState; readonly max: number },
): Promise<number> {
  let total = 0;
  for (const { table } of segments) {
    for (let upTo: number | null = most; upTo !== null && total < max; ) {
      const limit = Math.min(COUNTED_COUNT, max - total);
      const from = database.dialect.readBy(table, `${table}_state`);
      const sql: string = `SELECT COUNT(*) AS row_count, MIN(seq) AS bottom FROM
        (SELECT seq FROM ${from} WHERE state = ? AND seq BETWEEN ? AND ?
         ORDER BY seq DESC LIMIT ?) AS part`;
      const values: Value[] = [state, least, upTo, limit];
      const [row]: readonly Row[] = await database.aside(() => database.rows(sql, values));
      const count = (row?.['row_count'] as number | undefined) ?? 0;
      total += count;
      upTo = count < limit ? null : (row?.['bottom'] as number) - 1;
    }
  }
  return total;
}
