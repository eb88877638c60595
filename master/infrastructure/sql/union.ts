/** Many selects by few statements. Knows no table. */
import type { Database, Read } from './database.ts';
import type { Row } from './rows.ts';

/** Tables and values of one statement: SQLite takes 500 and 32,766, but does nothing else meanwhile. */
const TABLE_COUNT = 100;
const VALUE_COUNT = 8_192;

/** @param page what each statement gives of its rows. */
export async function union(
  database: Database,
  selects: readonly Read[],
  page: Read,
): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (let from = 0, some = selects; from < selects.length; from += some.length) {
    some = selects.slice(from, from + countOf(selects.slice(from)));
    const { sql, values } = unionOf(some, page);
    rows.push(...(await database.rows(sql, values)));
  }
  return rows;
}

/** All of them by one statement. */
export function unionOf(selects: readonly Read[], page: Read): Read {
  const all = selects.map(({ sql }) => `SELECT * FROM (${sql}) AS part`).join(' UNION ALL ');
  const values = [...selects.flatMap((select) => select.values), ...page.values];
  return { sql: `${all} ${page.sql}`, values };
}

/** How many of them one statement takes. */
function countOf(selects: readonly Read[]): number {
  let valueCount = 0;
  const end = selects.findIndex(({ values }) => (valueCount += values.length) > VALUE_COUNT);
  return Math.min(end < 0 ? selects.length : Math.max(end, 1), TABLE_COUNT);
}
