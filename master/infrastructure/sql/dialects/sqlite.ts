/**
 * SQLite through libsql: one file, one connection, one master. The driver is synchronous: there
 * are no round trips to save, and a commit holds the event loop while the disk flushes; all else
 * is cut into pieces by `pace.ts`. The file stays locked as long as it is open; see
 * `docs/operations.md` for why that is wanted.
 */
import type Libsql from 'libsql';
import type {
  Alike,
  Asker,
  Columns,
  Connection,
  Connections,
  Dialect,
  Family,
  Index,
  Outcome,
  Statement,
  Types,
} from './dialect.ts';
import { STATEMENT_COUNT_MAX } from '../../../domain/bounds.ts';
import { namesByTable, placeholders } from './dialect.ts';
import type { Pace } from '../pace.ts';
import type { Row, Value } from '../rows.ts';
import { codeOf, SqliteFile, sqliteCodeOf } from './sqlite-file.ts';

/** Whoever has the connection lets others have it long before. */
const WAIT_MS = 60_000;
/** Of so many runs of statements, and rows that these read, before one it is asked whether the turn has had its share. */
const LOOK_EACH = 4;
/** Rows in one run: 2.6 µs each, alone 7; with 64 it would be 1.7, and the last run of each group mostly empty. */
const ALIKE_COUNT = 8;
/** SQLITE_ERROR, TOOBIG, CONSTRAINT and MISMATCH: of a statement, and of nothing else. */
const REFUSALS: readonly number[] = [1, 18, 19, 20];

const types: Types = {
  seq: 'INTEGER PRIMARY KEY',
  integer: 'INTEGER',
  instant: 'INTEGER',
  real: 'REAL',
  key: () => 'TEXT',
  name: () => 'TEXT',
  exactName: () => 'TEXT',
  text: 'TEXT',
};

interface Prepared {
  readonly statement: Libsql.Statement;
  /** Of the columns that it reads; null: it reads nothing. */
  readonly names: readonly string[] | null;
}

/** Preparing costs as much as a few runs. Segments come and go, so the cache is emptied at times. */
const prepared = new WeakMap<Libsql.Database, Map<string, Prepared>>();

function prepare(database: Libsql.Database, sql: string): Prepared {
  const statements = prepared.get(database) ?? new Map<string, Prepared>();
  prepared.set(database, statements);
  const known = statements.get(sql);
  if (known !== undefined) return known;
  if (statements.size >= STATEMENT_COUNT_MAX) statements.clear();
  const statement = database.prepare(sql);
  const names = statement.reader
    ? statement
        .raw()
        .columns()
        .map(({ name }) => name)
    : null;
  const made = { statement, names };
  statements.set(sql, made);
  return made;
}

/**
 * Whoever holds the connection is alone with it: rows may be read, and written, with pauses. A look at the clock takes
 * as long as a short run, and a promise for each statement would hold up a lone commit.
 */
async function execute(
  database: Libsql.Database,
  statements: readonly Statement[],
  pace: Pace,
): Promise<Outcome[]> {
  let count = 0;
  const isOver = (): boolean => count++ % LOOK_EACH === 0 && pace.isOver;
  const outcomes: Outcome[] = [];
  for (const { sql, runs } of statements) {
    const { statement, names } = prepare(database, sql);
    const rows: Row[] = [];
    let touched = 0;
    for (const values of runs) {
      if (isOver()) await pace.pause();
      if (names === null) {
        touched += statement.run(values).changes;
        continue;
      }
      for (const row of statement.iterate(values)) {
        rows.push(rowOf(names, row as readonly unknown[]));
        if (isOver()) await pace.pause();
      }
    }
    outcomes.push({ rows, touched });
  }
  return outcomes;
}

/** The driver takes half as long again to make it by names. */
function rowOf(names: readonly string[], values: readonly unknown[]): Row {
  const row: Record<string, unknown> = {};
  for (let index = 0; index < names.length; index++) row[names[index] as string] = values[index];
  return row;
}

/** `seq = ?1 AND version = ?2`: values are bound by position, so that rows need no reordering. */
function bound(columns: Columns, first: number, separator: string): string {
  return columns.map(({ name }, index) => `${name} = ?${first + index}`).join(separator);
}

function into(table: string, columns: Columns): string {
  const names = columns.map(({ name }) => name).join(', ');
  return `INTO ${table} (${names}) VALUES ${placeholders(1, columns.length)}`;
}

/** `(?8, ?9, ?1, ?2)` for each row: what they have in common is bound once, before what each has for itself. */
function intoAlike({ table, own, common }: Family, rowCount: number): string {
  const names = [...own, ...common].map(({ name }) => name).join(', ');
  const marks = (first: number, { length }: Columns): string[] =>
    Array.from({ length }, (_, at) => `?${first + at}`);
  const rows = Array.from({ length: rowCount }, (_, at) => {
    const ofRow = marks(1 + common.length + at * own.length, own);
    return `(${[...ofRow, ...marks(1, common)].join(', ')})`;
  });
  const values = `VALUES ${rows.join(', ')}`;
  const written = rowCount === 1 ? values : `SELECT * FROM (${values}) WHERE column1 IS NOT NULL`;
  return `INSERT INTO ${table} (${names}) ${written}`;
}

/** To write such a statement costs more than to run it. */
const alikeStatements = new WeakMap<Family, Map<number, string>>();

function alikeStatement(family: Family, rowCount: number): string {
  const made = alikeStatements.get(family) ?? new Map<number, string>();
  alikeStatements.set(family, made);
  let sql = made.get(rowCount);
  if (sql === undefined) made.set(rowCount, (sql = intoAlike(family, rowCount)));
  return sql;
}

/** One statement for all of them: where a group has too few rows for its last run, the others have no key, and are none. */
function insertAlike(family: Family, groups: readonly Alike[]): Statement[] {
  const size = groups.some(({ rows }) => rows.length >= ALIKE_COUNT) ? ALIKE_COUNT : 1;
  const runs: Value[][] = [];
  let rowCount = 0;
  for (const { common, rows } of groups) {
    rowCount += rows.length;
    for (let at = 0; at < rows.length; at += size) {
      const values = [...common];
      for (let row = at; row < at + size; row++) values.push(...(rows[row] ?? noneOf(family)));
      runs.push(values);
    }
  }
  return [{ sql: alikeStatement(family, size), runs, touches: rowCount }];
}

const noneOf = ({ own }: Family): readonly Value[] => own.map(() => null);

function add(
  table: string,
  key: Columns,
  added: Columns,
  rows: readonly Value[][],
  peaks: Columns = [],
): Statement[] {
  const names = key.map(({ name }) => name).join(', ');
  const sets = [
    ...added.map(({ name }) => `${name} = ${name} + excluded.${name}`),
    ...peaks.map(({ name }) => `${name} = MAX(${name}, excluded.${name})`),
  ];
  const insert = `INSERT ${into(table, [...key, ...added, ...peaks])}`;
  const sql = `${insert} ON CONFLICT (${names}) DO UPDATE SET ${sets.join(', ')}`;
  return [{ sql, runs: rows, touches: null }];
}

async function listTables(asker: Asker, prefix: string): Promise<string[]> {
  return [...(await listNames(asker, prefix)).keys()];
}

/** Compares names only: years of history are a thousand tables, and their indexes. */
async function listNames(asker: Asker, prefix: string): Promise<Map<string, Set<string>>> {
  const rows = await asker.rows(
    `SELECT tbl_name AS table_name, name FROM sqlite_master
     WHERE type IN ('table', 'index') AND substr(tbl_name, 1, ?) = ?`,
    [prefix.length, prefix],
  );
  return namesByTable(rows);
}

function createIndex(table: string, { name, columns, unique, where }: Index): string {
  const some = where === undefined ? '' : ` WHERE ${where}`;
  return `CREATE ${unique ? 'UNIQUE ' : ''}INDEX IF NOT EXISTS ${table}_${name} ON ${table} (${columns})${some}`;
}

async function findWeakness(asker: Asker): Promise<string | null> {
  const [row] = await asker.rows('PRAGMA synchronous');
  return Number(row?.['synchronous']) >= 2 ? null : 'PRAGMA synchronous is below FULL';
}

/**
 * Without, what is committed is in the log of the file, and on the disk with the next commit that is flushed. Not by a
 * prepared statement: this one acts when it is prepared, and never again.
 */
function setFlushed(connection: Connection, isWanted: boolean): void {
  (connection as Libsql.Database).exec(`PRAGMA synchronous=${isWanted ? 'FULL' : 'NORMAL'}`);
}

/** Could not even roll back. */
const spoiled = new WeakSet<Connection>();

/** One, for as long as the master runs: whoever closes the file gives back its lock. */
function connectionsOf(file: SqliteFile): Connections {
  return {
    min: 1,
    max: 1,
    idleMs: WAIT_MS,
    waitMs: WAIT_MS,
    open: async () => file.open(),
    close: async (connection) => file.close(connection as Libsql.Database),
    isSound: (connection) => !spoiled.has(connection),
  };
}

export function sqliteDialect(path: string, pace: Pace): Dialect {
  const file = new SqliteFile(path);
  return {
    connections: connectionsOf(file),
    readers: null,
    isInProcess: true,
    // When anybody can ask, it waits for its turn of this thread.
    owedMs: () => 0,
    types,
    begin: 'BEGIN IMMEDIATE',
    clockSeconds: 'unixepoch()',
    lockRow: '',
    connectionId: 'NULL',
    // Whoever has the file open is alone with it.
    endSilentWriter: null,

    run: (connection, statements) => execute(connection as Libsql.Database, statements, pace),
    setFlushed,
    // What this connection did is known: it is here. One that cannot even roll back is replaced.
    discard(connection) {
      const database = connection as Libsql.Database;
      try {
        if (database.inTransaction) database.exec('ROLLBACK');
        setFlushed(database, true);
      } catch {
        spoiled.add(database);
      }
    },

    createTable: (table, columns, indexes, how) => [
      `CREATE TABLE IF NOT EXISTS ${table} (${columns}\n) STRICT${how?.isByKey ? ', WITHOUT ROWID' : ''}`,
      ...indexes.map((index) => createIndex(table, index)),
    ],
    createIndex,
    dropIndex: (table, name) => `DROP INDEX IF EXISTS ${table}_${name}`,
    readBy: (table, index) => `${table} INDEXED BY ${index}`,
    readByKey: (table) => `${table} NOT INDEXED`,
    // To SQLite that is an index as others: without it all rows are read, and sorted.
    readByLongKey: (table) => `${table} INDEXED BY sqlite_autoindex_${table}_1`,
    insert: (table, columns, rows) => [
      { sql: `INSERT ${into(table, columns)}`, runs: rows, touches: rows.length },
    ],
    insertAlike,
    replace: (table, columns, rows) => [
      { sql: `REPLACE ${into(table, columns)}`, runs: rows, touches: null },
    ],
    add,
    update(table, matched, set, rows) {
      const match = bound(matched, 1, ' AND ');
      const sql = `UPDATE ${table} SET ${bound(set, matched.length + 1, ', ')} WHERE ${match}`;
      return [{ sql, runs: rows, touches: rows.length }];
    },
    remove(table, matched, rows) {
      const sql = `DELETE FROM ${table} WHERE ${bound(matched, 1, ' AND ')}`;
      return [{ sql, runs: rows, touches: rows.length }];
    },

    // Whoever has the file open is alone with it.
    schemaLock: null,
    schemaInTransactions: true,
    listTables,
    selectNames: `SELECT made.name AS table_name, info.name
      FROM sqlite_master AS made JOIN pragma_table_info(made.name) AS info WHERE made.type = 'table'
      UNION ALL SELECT tbl_name, name FROM sqlite_master WHERE type = 'index'`,
    listNames,
    findWeakness,
    findFault: async () => null,
    findLoss: () => file.findLoss(),

    refusalOf: (error) => file.damageIn(error),
    isPassing: (error) => codeOf(error).startsWith('SQLITE_BUSY'),
    isRefused: (error) => REFUSALS.includes(sqliteCodeOf(error) ?? 0),
    isMissingTable: (error) =>
      ((error as Error | null)?.message ?? '').startsWith('no such table: '),
    isDuplicate: (error) => /^SQLITE_CONSTRAINT_(UNIQUE|PRIMARYKEY)$/.test(codeOf(error)),
  };
}
