/** Statements of MySQL and MariaDB that are about many rows, as text. Knows no connection. */
import type { Alike, Columns, Family, Statement } from './dialect.ts';
import type { Value } from '../rows.ts';

/** Rows in one statement: more gain nothing. */
const ROW_COUNT_MAX = 500;
/** In one packet, unless a single row has more: the largest row has less than this again. */
export const CHARACTERS_MAX = 1_000_000;
const jsonTypes = {
  integer: 'BIGINT',
  real: 'DOUBLE',
  text: 'MEDIUMTEXT CHARACTER SET utf8mb4',
  bytes: 'MEDIUMTEXT CHARACTER SET utf8mb4',
} as const;
/** The same of what rows are matched by, where text is of `types.key`: an index finds only what has its character set. */
const jsonKeyTypes = { ...jsonTypes, text: 'MEDIUMTEXT CHARACTER SET ascii' } as const;

function into(table: string, columns: Columns, rows: readonly string[]): string {
  return `INTO ${table} (${columns.map(({ name }) => name).join(', ')}) VALUES ${rows.join(', ')}`;
}

/** Cuts rows, each written as text, into groups that fit one statement each. */
function fitting(rows: readonly string[]): string[][] {
  const groups: string[][] = [];
  let group: string[] = [];
  let room = 0;
  for (const row of rows) {
    if (row.length > room || group.length === ROW_COUNT_MAX) {
      group = [];
      groups.push(group);
      room = CHARACTERS_MAX;
    }
    group.push(row);
    room -= row.length;
  }
  return groups;
}

/**
 * A value as it stands in a statement. Within these quotes only two characters mean something else under the `sql_mode`
 * of our connections, and in UTF-8 no other character has their bytes. The driver also escapes what is only hard to read,
 * which costs ten times as much for a text of JSON, for its quotes.
 */
export function literal(value: Value): string {
  if (typeof value !== 'string') return value === null ? 'NULL' : String(value);
  const isPlain = !value.includes('\\') && !value.includes("'");
  return `'${isPlain ? value : value.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}

/** As they stand in `VALUES`. */
const listed = (values: readonly Value[]): string => values.map(literal).join(', ');
const tuple = (row: readonly Value[]): string => `(${listed(row)})`;

function inserted(table: string, columns: Columns, rows: readonly string[]): Statement[] {
  return fitting(rows).map((group) => ({
    sql: `INSERT ${into(table, columns, group)}`,
    runs: [[]],
    touches: group.length,
  }));
}

export function insert(table: string, columns: Columns, rows: readonly Value[][]): Statement[] {
  return inserted(table, columns, rows.map(tuple));
}

export function insertAlike({ table, own, common }: Family, groups: readonly Alike[]): Statement[] {
  const texts = groups.flatMap((alike) => {
    const same = listed(alike.common);
    return alike.rows.map((row) => `(${listed(row)}, ${same})`);
  });
  return inserted(table, [...own, ...common], texts);
}

export function replace(table: string, columns: Columns, rows: readonly Value[][]): Statement[] {
  return fitting(rows.map(tuple)).map((group) => ({
    sql: `REPLACE ${into(table, columns, group)}`,
    runs: [[]],
    touches: null,
  }));
}

export function add(
  table: string,
  key: Columns,
  added: Columns,
  rows: readonly Value[][],
  peaks: Columns = [],
): Statement[] {
  const sets = [
    ...added.map(({ name }) => `${name} = ${name} + VALUES(${name})`),
    ...peaks.map(({ name }) => `${name} = GREATEST(${name}, VALUES(${name}))`),
  ].join(', ');
  const columns = [...key, ...added, ...peaks];
  return fitting(rows.map(tuple)).map((group) => ({
    sql: `INSERT ${into(table, columns, group)} ON DUPLICATE KEY UPDATE ${sets}`,
    runs: [[]],
    touches: null,
  }));
}

/** Rows hold the matched columns first, then those to be set. */
export function update(
  table: string,
  matched: Columns,
  set: Columns,
  rows: readonly Value[][],
): Statement[] {
  return matching(table, matched, [...matched, ...set], rows, (tables, where, valueAt) => {
    const assign = set.map(({ name }, at) => `${name} = ${valueAt(matched.length + at)}`);
    return `UPDATE ${tables} SET ${assign.join(', ')} WHERE ${where}`;
  });
}

export function remove(table: string, matched: Columns, rows: readonly Value[][]): Statement[] {
  return matching(table, matched, matched, rows, (tables, where) => {
    return `DELETE ${tables === table ? '' : `${table} `}FROM ${tables} WHERE ${where}`;
  });
}

/**
 * Of what rows differ in, the values travel as one text of JSON and are joined to the table, as columns `v0`, `v1` and so
 * on: with each of them in a `UNION ALL`, both ends spend their time on building and parsing text. What they have alike
 * is said once, since each of those columns is looked for in each row of JSON from its beginning. One row differs from
 * no other, and is found six times as fast as by a join. All values are bound: they are put in packet by packet, and
 * not for all rows of a commit in one piece.
 */
function matching(
  table: string,
  matched: Columns,
  columns: Columns,
  rows: readonly Value[][],
  textOf: (tables: string, where: string, valueAt: (at: number) => string) => string,
): Statement[] {
  const [first] = rows;
  if (first === undefined) return [];
  const isOwn = columns.map((_, at) => rows.some((row) => row[at] !== first[at]));
  const own = [...columns.keys()].filter((at) => isOwn[at]);
  const alike = [...columns.keys()].filter((at) => !isOwn[at]);
  // As they come in the text: what is set, then what rows are matched by.
  const isSet = (at: number): boolean => at >= matched.length;
  const bound = [...alike.filter(isSet), ...alike.filter((at) => !isSet(at))];
  const values = bound.map((at) => first[at] ?? null);
  const valueAt = (at: number): string => (isOwn[at] ? `v${at}` : '?');
  const where = matched
    .map(({ name, kind }, at) => `${name} = ${isOwn[at] ? asKey(`v${at}`, kind) : '?'}`)
    .join(' AND ');
  if (own.length === 0) {
    return [{ sql: textOf(table, where, valueAt), runs: [values], touches: rows.length }];
  }
  const list = own.map((at, place) => {
    const types = isSet(at) ? jsonTypes : jsonKeyTypes;
    return `v${at} ${types[(columns[at] as Columns[number]).kind]} PATH '$[${place}]'`;
  });
  const joined = `JSON_TABLE(?, '$[*]' COLUMNS (${list.join(', ')})) AS v STRAIGHT_JOIN ${table}`;
  const sql = textOf(joined, where, valueAt);
  return fitting(rows.map((row) => jsonOf(own.map((at) => row[at] ?? null)))).map((group) => {
    return { sql, runs: [[`[${group.join(',')}]`, ...values]], touches: group.length };
  });
}

/** Servers refuse half a surrogate pair, which JSON can write: such a text is stored as `literal` stores it. */
function jsonOf(values: readonly Value[]): string {
  const json = JSON.stringify(values);
  if (!json.includes('\\ud')) return json;
  return JSON.stringify(values, (_, value) =>
    typeof value === 'string' ? Buffer.from(value).toString() : value,
  );
}

function asKey(value: string, kind: Columns[number]['kind']): string {
  if (kind === 'bytes') return `CAST(${value} AS BINARY)`;
  // Else texts of JSON are compared as people read them, without regard to case.
  return kind === 'text' ? `${value} COLLATE ascii_bin` : value;
}
