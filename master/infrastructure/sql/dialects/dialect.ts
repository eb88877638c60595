/**
 * What differs between the two SQL dialects, and nothing else: the store speaks to databases only
 * through this. A dialect never decides anything about tasks.
 */
import type { Column, Row, Value } from '../rows.ts';

export interface Statement {
  readonly sql: string;
  /** What it binds; it is run once for each. */
  readonly runs: readonly (readonly Value[])[];
  /** The rows all runs together must touch for the transaction to stand; null for any number. */
  readonly touches: number | null;
}

export interface Outcome {
  readonly rows: readonly Row[];
  /** Rows inserted, deleted or matched by an update (changed or not). */
  readonly touched: number;
}

/** One of the pool's connections; what it is only its dialect knows. */
export type Connection = object;

/** How the connections of a pool are made and kept. */
export interface Connections {
  /** As many are kept, however long nobody needs them. */
  readonly min: number;
  readonly max: number;
  /** For so long the others are kept. */
  readonly idleMs: number;
  /** For so long a free one is waited for. */
  readonly waitMs: number;
  open(): Promise<Connection>;
  close(connection: Connection): Promise<void>;
  /** Nothing has happened to it that speaks against its next use. */
  isSound(connection: Connection): boolean;
}

/** Of a server: connections in all, for how long an idle one is kept, and for how long a free one is waited for. */
export interface PoolSettings {
  readonly max: number;
  /** Less than the server waits (20 s), so that no connection of a pool is one that it has ended. */
  readonly idleMs: number;
  readonly waitMs: number;
}

/** What `docs/configuration.md` gives as defaults; a test compares them. */
export const DEFAULT_POOL: PoolSettings = { max: 4, idleMs: 10_000, waitMs: 30_000 };

/** Whoever asks the database what a dialect wants to know of it. */
export interface Asker {
  rows(sql: string, values?: readonly Value[]): Promise<readonly Row[]>;
  /** Of several statements, on one connection. */
  rowsOfEach(
    reads: readonly { readonly sql: string; readonly values: readonly Value[] }[],
  ): Promise<readonly (readonly Row[])[]>;
}

/** Column types, as each dialect spells them in `CREATE TABLE`. */
export interface Types {
  readonly seq: string;
  readonly integer: string;
  readonly instant: string;
  readonly real: string;
  /** Text of a plain ASCII alphabet, compared byte by byte. */
  readonly key: (length: number) => string;
  /** Text of any alphabet, compared byte by byte; but blanks at its end may count for nothing. */
  readonly name: (length: number) => string;
  /** The same, with its blanks: for keys. It comes as text or as its bytes: `String` makes it text. */
  readonly exactName: (length: number) => string;
  readonly text: string;
}

export interface Index {
  /** The index is called `<table>_<name>`. */
  readonly name: string;
  readonly columns: string;
  readonly unique?: true;
  /** Rows that are of use to it: a database that can leaves out the others. */
  readonly where?: string;
}

/** Rows of one table of which many have the same in some columns. One for each table: statements are kept by it. */
export interface Family {
  readonly table: string;
  /** That rows differ in; first the key, which no row is without. */
  readonly own: Columns;
  readonly common: Columns;
}

/** Rows of a family with the same values in its common columns. */
export interface Alike {
  readonly common: readonly Value[];
  /** Of the others. */
  readonly rows: readonly (readonly Value[])[];
}

export interface Dialect {
  /** The pool of whoever commits and loads: one at a time, so that it never waits for others. */
  readonly connections: Connections;
  /** The pool for all other reads, and for retention; null where there is but one connection. */
  readonly readers: Connections | null;
  /** The database works in this very thread: while a statement runs, nothing else does. */
  readonly isInProcess: boolean;
  /** @see Answering.owedMs */
  readonly owedMs: () => number;
  readonly types: Types;
  readonly begin: string;
  /** What the clock of the database says: epoch seconds, a value. */
  readonly clockSeconds: string;
  /** Ends a `SELECT` that locks the row it reads. */
  readonly lockRow: string;
  /** What the server calls this connection: a value. */
  readonly connectionId: string;
  /**
   * Ends the connection of the `writer` in the row of that namespace if it has said nothing for seconds:
   * in the middle of a transaction, it would keep the row. Answers whether it did; needs no right
   * beyond those over one's own connections. Null where nobody else can hold the row.
   */
  readonly endSilentWriter: ((asker: Asker, namespaceId: number) => Promise<boolean>) | null;

  /** Runs the statements in order and stops at the first that fails. */
  run(connection: Connection, statements: readonly Statement[]): Promise<Outcome[]>;
  /**
   * Whether what this connection commits from now on is on the disk when it is answered. Not to be changed within a
   * transaction. Absent where that is not a connection's to say.
   */
  readonly setFlushed?: (connection: Connection, isWanted: boolean) => void;
  /** The transaction on it failed in an unknown way: it must not reach the next user. */
  discard(connection: Connection): void;

  /**
   * Makes a table with its indexes, what of them is not there; can be run again. `isByKey`: its rows are small, and lie
   * in the order of a key of several columns; otherwise such a key may be an index beside them, to be written as well.
   */
  createTable(
    table: string,
    columns: string,
    indexes: readonly Index[],
    how?: { readonly isByKey: boolean },
  ): string[];
  createIndex(table: string, index: Index): string;
  dropIndex(table: string, name: string): string;
  /** One table whose rows are read by that index, whatever the planner thinks of it. */
  readBy(table: string, index: string): string;
  /** The same in the order of its primary key. */
  readByKey(table: string): string;
  /** The same, where that key is of several columns. */
  readByLongKey(table: string): string;
  insert(table: string, columns: Columns, rows: readonly Value[][]): Statement[];
  /** As `insert`, of rows that have much in common: that is bound once for many of them. */
  insertAlike(family: Family, groups: readonly Alike[]): Statement[];
  /** As `insert`; rows that have their primary keys go. */
  replace(table: string, columns: Columns, rows: readonly Value[][]): Statement[];
  /**
   * Rows that are there already have those columns raised by as much, or of `peaks` to as much; `rows` hold the key
   * first, then what is added, then the peaks.
   */
  add(
    table: string,
    key: Columns,
    added: Columns,
    rows: readonly Value[][],
    peaks?: Columns,
  ): Statement[];
  /** `rows` hold the matched columns first, then those to be set. */
  update(table: string, matched: Columns, set: Columns, rows: readonly Value[][]): Statement[];
  remove(table: string, matched: Columns, rows: readonly Value[][]): Statement[];

  /**
   * The lock of whoever migrates this database: it belongs to the connection that takes it, and goes
   * with it. `take` answers 1 as `taken`. Null where nobody else can be there.
   */
  readonly schemaLock: { readonly take: string; readonly release: string } | null;
  /** Whether a transaction holds changes of the schema too; where not, each commits by itself. */
  readonly schemaInTransactions: boolean;
  listTables(asker: Asker, prefix: string): Promise<string[]>;
  /** Gives the `table_name` and `name` of every column and of every index. */
  readonly selectNames: string;
  /** Tables whose names begin so, each with the names of its indexes. */
  listNames(asker: Asker, prefix: string): Promise<Map<string, Set<string>>>;
  /** What must be changed for a commit to survive a power cut; null where nothing must. */
  findWeakness(asker: Asker): Promise<string | null>;
  /** What makes the database unusable as it is; null where nothing does. */
  findFault(asker: Asker): Promise<string | null>;

  /** Why what was committed would be lost all the same; null where it would not. */
  findLoss(): string | null;

  /** Why the database lets us not in, or do something, and no try will help; null for other errors. */
  refusalOf(error: unknown): string | null;
  /** The transaction was rolled back by a rival; the same transaction may well succeed now. */
  isPassing(error: unknown): boolean;
  /** A statement was refused for what it says: nothing of its transaction was written. */
  isRefused(error: unknown): boolean;
  /** A statement names a table that is not there. */
  isMissingTable(error: unknown): boolean;
  /** A row with that key is there already. */
  isDuplicate(error: unknown): boolean;
}

export type Columns = readonly Pick<Column<never>, 'name' | 'kind'>[];

/** A statement without values, such as `COMMIT`. */
export const plain = (sql: string): Statement => ({ sql, runs: [[]], touches: null });

/** `(?, ?), (?, ?)` */
export function placeholders(rowCount: number, columnCount: number): string {
  const row = `(${Array(columnCount).fill('?').join(', ')})`;
  return Array(rowCount).fill(row).join(', ');
}

/** Up to a power of two, by repetition of the last: few different statements are prepared again and again. */
export function padded<T>(values: readonly T[]): T[] {
  const size = 2 ** Math.ceil(Math.log2(values.length));
  return Array.from({ length: size }, (_, index) => values[index] ?? (values.at(-1) as T));
}

/** By table; rows have a `table_name` and a `name`. */
export function namesByTable(rows: readonly Row[]): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  for (const row of rows) {
    const table = row['table_name'] as string;
    const names = found.get(table) ?? new Set<string>();
    found.set(table, names.add(row['name'] as string));
  }
  return found;
}
