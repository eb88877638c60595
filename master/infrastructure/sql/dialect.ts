/**
 * What differs between the two SQL dialects, and nothing else: the store speaks to databases only
 * through this. A dialect never decides anything about tasks.
 */
import type { Knex } from 'knex';
import type { Column, Row, Value } from './rows.ts';

export interface Statement {
  readonly sql: string;
  readonly values: readonly Value[];
  /** The rows it must touch, for the transaction to stand; null where any number will do. */
  readonly touches: number | null;
}

export interface Outcome {
  readonly rows: readonly Row[];
  /** Rows inserted, deleted or matched by an update (changed or not). */
  readonly touched: number;
}

/** One of the pool's connections; what it is only its dialect knows. */
export type Connection = object;

/** Column types, as each dialect spells them in `CREATE TABLE`. */
export interface Types {
  readonly seq: string;
  readonly integer: string;
  readonly instant: string;
  readonly real: string;
  /** Text of a plain ASCII alphabet, compared byte by byte. */
  readonly key: (length: number) => string;
  /** Text of any alphabet, compared byte by byte. */
  readonly name: (length: number) => string;
  readonly text: string;
}

export interface Index {
  /** The index is called `<table>_<name>`. */
  readonly name: string;
  readonly columns: string;
  readonly unique?: true;
}

export interface Dialect {
  readonly knex: Knex.Config;
  readonly types: Types;
  readonly begin: string;
  /** Ends a `SELECT` that locks the row it reads. */
  readonly lockRow: string;

  /** Runs the statements in order and stops at the first that fails. */
  run(connection: Connection, statements: readonly Statement[]): Promise<Outcome[]>;
  /** The connection is in an unknown state: it must not be used again. */
  discard(connection: Connection, error: Error): void;
  rowsOf(response: unknown): Row[];

  /** Makes a table with its indexes where it is not there; can be run again. */
  createTable(table: string, columns: string, indexes: readonly Index[]): string[];
  /** One table whose rows are read by that index, whatever the planner thinks of it. */
  readBy(table: string, index: string): string;
  /** `rows` hold the matched columns first, then those to be set. */
  update(table: string, matched: Columns, set: Columns, rows: readonly Value[][]): Statement;
  remove(table: string, matched: Columns, rows: readonly Value[][]): Statement;

  /** Nobody else migrates this database meanwhile. */
  exclusively<T>(knex: Knex, work: () => Promise<T>): Promise<T>;
  listTables(knex: Knex, prefix: string): Promise<string[]>;
  /** What must be changed for a commit to survive a power cut; null where nothing must. */
  findWeakness(knex: Knex): Promise<string | null>;
  /** What makes the database unusable as it is; null where nothing does. */
  findFault(knex: Knex): Promise<string | null>;

  /** The transaction was rolled back by a rival; the same transaction may well succeed now. */
  isPassing(error: unknown): boolean;
  /** A row with that key is there already. */
  isDuplicate(error: unknown): boolean;
}

type Columns = readonly Pick<Column<never>, 'name' | 'kind'>[];

/** Below what one statement may bind (SQLite: 32,766 values; MySQL: `max_allowed_packet`). */
const VALUES_MAX = 30_000;
export const CHARACTERS_MAX = 1_000_000;

export function sizeOf(values: readonly Value[]): number {
  let size = 0;
  for (const value of values) size += typeof value === 'string' ? value.length : 8;
  return size;
}

/** Cuts rows into groups that fit one statement each. */
export function fitting(rows: readonly Value[][]): Value[][][] {
  const groups: Value[][][] = [];
  let group: Value[][] = [];
  let valueCount = 0;
  let size = 0;
  for (const row of rows) {
    const rowSize = sizeOf(row);
    const full = valueCount + row.length > VALUES_MAX || size + rowSize > CHARACTERS_MAX;
    if (group.length > 0 && full) {
      groups.push(group);
      group = [];
      valueCount = 0;
      size = 0;
    }
    group.push(row);
    valueCount += row.length;
    size += rowSize;
  }
  if (group.length > 0) groups.push(group);
  return groups;
}

/** `(?, ?), (?, ?)` */
export function placeholders(rowCount: number, columnCount: number): string {
  const row = `(${Array(columnCount).fill('?').join(', ')})`;
  return Array(rowCount).fill(row).join(', ');
}
