/** Statements of MySQL and MariaDB that are about many rows, as text. Knows no connection. */
import type { Alike, Columns, Family, Statement } from './dialect.ts';
import type { Value } from '../rows.ts';

/** Rows in one statement: more gain nothing. */
const ROW_COUNT_MAX = 500;
/** In one packet, unless a single row has more: the largest row has less than this again. */
export const CHARACTERS_MAX = 1_000_000;
/** Of rows that differ in more than what they are found by: for each, the server goes through the values of all. */
const CHOICE_COUNT_MAX = 100;

function into(table: string, columns: Columns, rows: readonly string[]): string {
  return `INTO ${table} (${columns.map(({ name }) => name).join(', ')}) VALUES ${rows.join(', ')}`;
}

/** Cuts rows into groups that fit one statement each. */
function fitting<R>(rows: readonly R[], lengthOf: (row: R) => number, countMax: number): R[][] {
  const groups: R[][] = [];
  let group: R[] = [];
  let room = 0;
  for (const row of rows) {
    const length = lengthOf(row);
    if (length > room || group.length === countMax) {
      group = [];
      groups.push(group);
      room = CHARACTERS_MAX;
    }
    group.push(row);
    room -= length;
  }
  return groups;
}

/** The same of rows that stand in `VALUES`, each as its text. */
const fittingTexts = (rows: readonly string[]): string[][] =>
  fitting(rows, ({ length }) => length, ROW_COUNT_MAX);

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
  return fittingTexts(rows).map((group) => ({
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
  return fittingTexts(rows.map(tuple)).map((group) => ({
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
  return fittingTexts(rows.map(tuple)).map((group) => ({
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
  return matching(matched, [...matched, ...set], rows, (where, valueAt) => {
    const assign = set.map(({ name }, at) => `${name} = ${valueAt(matched.length + at)}`);
    return `UPDATE ${table} SET ${assign.join(', ')} WHERE ${where()}`;
  });
}

export function remove(table: string, matched: Columns, rows: readonly Value[][]): Statement[] {
  return matching(matched, matched, rows, (where) => `DELETE FROM ${table} WHERE ${where()}`);
}

/**
 * Rows are found by their keys, and what they are set to differently is chosen by a column that no two of them have alike:
 * `executor_id = CASE seq WHEN 1 THEN 'a' WHEN 2 THEN 'b' END`. To join the table to a list of them costs half as much again: a
 * server then notes all that it has found before it changes any. What no such column tells apart is set one by one. All values
 * are bound: they are put in packet by packet, and not for all rows of a commit in one piece.
 *
 * @param textOf asks for what it is made of in the order in which that stands there.
 */
function matching(
  matched: Columns,
  columns: Columns,
  rows: readonly Value[][],
  textOf: (where: () => string, valueAt: (at: number) => string) => string,
): Statement[] {
  const counts = columns.map((_, at) => new Set(rows.map((row) => row[at])).size);
  const isAlike = (at: number): boolean => (counts[at] ?? 0) <= 1;
  // Not one that is set as well, as versions are: what is set behind it would be chosen by what it has become.
  const isSet = ({ name }: Columns[number]): boolean =>
    columns.slice(matched.length).some((column) => column.name === name);
  const key = matched.findIndex((column, at) => counts[at] === rows.length && !isSet(column));
  const isChosen = columns.some((_, at) => at >= matched.length && !isAlike(at));
  if (isChosen && key < 0) {
    return rows.flatMap((row) => matching(matched, columns, [row], textOf));
  }
  return fitting(rows, sizeOf, isChosen ? CHOICE_COUNT_MAX : ROW_COUNT_MAX).map((group) => {
    const values: Value[] = [];
    const bind = (row: readonly Value[] | undefined, at: number): string => {
      values.push(row?.[at] ?? null);
      return '?';
    };
    const valueAt = (at: number): string => {
      if (isAlike(at)) return bind(group[0], at);
      const choices = group.map((row) => `WHEN ${bind(row, key)} THEN ${bind(row, at)}`);
      return `CASE ${matched[key]?.name} ${choices.join(' ')} END`;
    };
    const sql = textOf(() => whereOf(matched, group, isAlike, bind), valueAt);
    return { sql, runs: [values], touches: group.length };
  });
}

/** Spelled so that the index finds each of them by the whole of its key. */
function whereOf(
  matched: Columns,
  rows: readonly Value[][],
  isAlike: (at: number) => boolean,
  bind: (row: readonly Value[] | undefined, at: number) => string,
): string {
  const places = matched.map(({ name }, at) => ({ name, at }));
  const own = places.filter(({ at }) => !isAlike(at));
  const equal = (some: typeof places, row: readonly Value[] | undefined): string[] =>
    some.map(({ name, at }) => `${name} = ${bind(row, at)}`);
  const same = equal(
    places.filter(({ at }) => isAlike(at)),
    rows[0],
  );
  const [only, ...others] = own;
  if (only === undefined) return same.join(' AND ');
  const found =
    others.length === 0
      ? `${only.name} IN (${rows.map((row) => bind(row, only.at)).join(', ')})`
      : `(${rows.map((row) => equal(own, row).join(' AND ')).join(' OR ')})`;
  return [...same, found].join(' AND ');
}

/**
 * By index, as all that looks at every value here: arrays of numbers and of texts both come by, and
 * `for...of` then makes an object for each value.
 */
export function sizeOf(values: readonly Value[]): number {
  let size = 0;
  for (let at = 0; at < values.length; at++) {
    const value = values[at];
    size += typeof value === 'string' ? value.length : 8;
  }
  return size;
}
