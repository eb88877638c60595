/** Segments of history that tests need many of. */
import Libsql from 'libsql';
import { segmentAt } from '../../../master/infrastructure/sql/segments.ts';

const DAY_MS = 86_400_000;

/**
 * Makes in a file of SQLite what there is of that day for so many days before it, all at once: a store that makes them
 * one by one reads the whole schema again for each.
 */
export function copySegments(file: string, at: number, count: number): void {
  const { table: source } = segmentAt('normal', at);
  const database = new Libsql(file);
  const made = database
    .prepare('SELECT sql FROM sqlite_master WHERE tbl_name = ? AND sql IS NOT NULL ORDER BY rowid')
    .all([source]) as { sql: string }[];
  database.exec('BEGIN');
  for (let day = 1; day <= count; day++) {
    const { table } = segmentAt('normal', at - day * DAY_MS);
    for (const { sql } of made) database.exec(sql.replaceAll(source, table));
  }
  database.exec('COMMIT');
  database.close();
}
