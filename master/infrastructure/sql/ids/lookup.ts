/** What to ask for rows by the ids of their tasks. Reads nothing. */
import type { Retention } from '../../../domain/model/task.ts';
import type { Read } from '../database.ts';
import { padded, placeholders } from '../dialects/dialect.ts';
import type { ListedSegment } from '../segments.ts';
import type { IdHash } from './id-filter.ts';
import type { SegmentIds } from './segment-ids.ts';

/** The live table, and of the segments those that may have such rows: each is asked for these only. */
export function lookups(
  ns: number,
  ids: readonly string[],
  segments: readonly ListedSegment[],
  known: SegmentIds,
  columnsOf: (source: 'live' | Retention) => string,
): Read[] {
  const hashes = ids.map((id) => known.hashOf(ns, id));
  const reads = [lookup('task', columnsOf('live'), ns, ids)];
  for (const segment of segments) {
    const some = ids.filter((_, at) => known.mayHave(segment, hashes[at] as IdHash));
    if (some.length > 0) reads.push(lookup(segment.table, columnsOf(segment.retention), ns, some));
  }
  return reads;
}

function lookup(table: string, columns: string, ns: number, ids: readonly string[]): Read {
  const wanted = padded(ids);
  const where = `WHERE ns = ? AND id IN ${placeholders(1, wanted.length)}`;
  return { sql: `SELECT ${columns} FROM ${table} ${where}`, values: [ns, ...wanted] };
}
