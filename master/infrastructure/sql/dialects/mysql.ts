/**
 * MySQL 8 and MariaDB 10.6 or newer through mysql2. A round trip costs more than the work it
 * carries, so the statements of a transaction travel together, with their values in them, which is
 * only sound under the `sql_mode` of these connections.
 */
import type { ResultSetHeader, RowDataPacket } from 'mysql2';
import type {
  Asker,
  Connection,
  Dialect,
  Index,
  Outcome,
  PoolSettings,
  Statement,
  Types,
} from './dialect.ts';
import { namesByTable, placeholders } from './dialect.ts';
import { abandon, connectionsOf, Handed, query, tlsRefusalOf } from './mysql-pool.ts';
import {
  add,
  CHARACTERS_MAX,
  insert,
  insertAlike,
  literal,
  remove,
  replace,
  sizeOf,
  update,
} from './mysql-rows.ts';
import type { Row, Value } from '../rows.ts';

/** One for each database of the server; at most 64 characters. */
const MIGRATION_LOCK = `CONCAT('soda_scheduler:', MD5(DATABASE()))`;
/** Less than a statement may take. */
const MIGRATION_WAIT_SECONDS = 20;
const schemaLock = {
  take: `SELECT GET_LOCK(${MIGRATION_LOCK}, ${MIGRATION_WAIT_SECONDS}) AS taken`,
  release: `DO RELEASE_LOCK(${MIGRATION_LOCK})`,
};
/** Three bytes a character at most, escaped or not, for twice that many. */
const PACKET_BYTES_MIN = 8 * 1024 * 1024;

/** Between the statements of a transaction a master that lives is silent for milliseconds. */
const SILENT_SECONDS = 2;

const DUPLICATE_KEY = 1062;
const SYNTAX_ERROR = 1064;
const NO_SUCH_TABLE = 1146;
const LOCK_WAIT_TIMEOUT = 1205;
/** Also Galera's way to refuse a transaction at its end. */
const DEADLOCK = 1213;
/** No such user, password or database; no right to the database, the table or the command. */
const REFUSALS: readonly number[] = [1044, 1045, 1049, 1130, 1142, 1227, 1698];

const types: Types = {
  seq: 'BIGINT NOT NULL PRIMARY KEY',
  integer: 'INT',
  instant: 'BIGINT',
  real: 'DOUBLE',
  key: (length) => `VARCHAR(${length}) CHARACTER SET ascii COLLATE ascii_bin`,
  name: (length) => `VARCHAR(${length})`,
  // No collation without padding has the same name in MySQL and in MariaDB.
  exactName: (length) => `VARBINARY(${4 * length})`,
  text: 'MEDIUMTEXT',
};

const TABLE_OPTIONS =
  ' ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin';

type Result = ResultSetHeader | RowDataPacket[];

interface Call {
  readonly statement: Statement;
  readonly values: readonly Value[];
}

/** Neighbours that fit one packet together. */
function packets(statements: readonly Statement[]): Call[][] {
  const result: Call[][] = [];
  let room = 0;
  for (const statement of statements) {
    for (const values of statement.runs) {
      const size = statement.sql.length + sizeOf(values);
      if (size > room) {
        result.push([]);
        room = CHARACTERS_MAX;
      }
      result.at(-1)?.push({ statement, values });
      room -= size;
    }
  }
  return result;
}

/** Each by itself: what one binds is never put where another has a `?` in a row written as text. */
function textOf({ statement: { sql }, values }: Call): string {
  if (values.length === 0) return sql;
  const parts = sql.split('?');
  if (parts.length !== values.length + 1) throw new Error(`${values.length} values for: ${sql}`);
  return parts.reduce((text, part, at) => text + literal(values[at - 1] ?? null) + part);
}

async function run(connection: Connection, statements: readonly Statement[]): Promise<Outcome[]> {
  const outcomes = new Map<Statement, { rows: Row[]; touched: number }>(
    statements.map((statement) => [statement, { rows: [], touched: 0 }]),
  );
  for (const packet of packets(statements)) {
    const result = await query(connection, packet.map(textOf).join('; '));
    const results = packet.length === 1 ? [result as Result] : (result as Result[]);
    for (const [index, { statement }] of packet.entries()) {
      const outcome = outcomes.get(statement);
      const one = results[index];
      if (outcome === undefined || one === undefined) continue;
      if (Array.isArray(one)) outcome.rows.push(...one);
      else outcome.touched += one.affectedRows;
    }
  }
  return [...outcomes.values()];
}

function codeOf(error: unknown): number {
  const code = (error as { errno?: unknown } | null)?.errno;
  return typeof code === 'number' ? code : 0;
}

async function variables(asker: Asker, names: readonly string[]): Promise<Map<string, string>> {
  const rows = await asker.rows(
    `SHOW GLOBAL VARIABLES WHERE Variable_name IN ${placeholders(1, names.length)}`,
    names,
  );
  return new Map(
    rows.map((row) => [String(row['Variable_name']).toLowerCase(), String(row['Value'])]),
  );
}

async function findWeakness(asker: Asker): Promise<string | null> {
  const value = await variables(asker, [
    'innodb_flush_log_at_trx_commit',
    'sync_binlog',
    'log_bin',
  ]);
  const wanted: string[] = [];
  if (value.get('innodb_flush_log_at_trx_commit') !== '1') {
    wanted.push('innodb_flush_log_at_trx_commit=1');
  }
  if (value.get('log_bin') === 'ON' && value.get('sync_binlog') !== '1') {
    wanted.push('sync_binlog=1');
  }
  return wanted.length === 0 ? null : `the server must run with ${wanted.join(' and ')}`;
}

async function findFault(asker: Asker): Promise<string | null> {
  const value = await variables(asker, ['max_allowed_packet', 'log_bin', 'binlog_format']);
  if (Number(value.get('max_allowed_packet')) < PACKET_BYTES_MIN) {
    return `max_allowed_packet must be at least ${PACKET_BYTES_MIN}`;
  }
  // InnoDB then refuses every write under READ COMMITTED.
  if (value.get('log_bin') === 'ON' && value.get('binlog_format') === 'STATEMENT') {
    return 'the server has binlog_format=STATEMENT: it must run with ROW or MIXED, or with log_bin off';
  }
  try {
    // Older ones have it not; nothing here is tried with them.
    await asker.rows(`SELECT 1 FROM JSON_TABLE('[]', '$[*]' COLUMNS (v INT PATH '$')) AS v`);
    return null;
  } catch (error) {
    if (codeOf(error) !== SYNTAX_ERROR) throw error;
    return 'the server is too old: MySQL 8.0 or MariaDB 10.6 is needed';
  }
}

/** A transaction that has not been committed has written who it is. */
async function endSilentWriter(asker: Asker, namespaceId: number): Promise<boolean> {
  const found = `SELECT process.ID AS id FROM namespace
    JOIN information_schema.PROCESSLIST AS process
    ON process.ID = namespace.writer AND process.DB = DATABASE()
    WHERE namespace.id = ? AND process.COMMAND = 'Sleep' AND process.TIME >= ${SILENT_SECONDS}`;
  const [, [writer] = []] = await asker.rowsOfEach([
    { sql: 'SET TRANSACTION ISOLATION LEVEL READ UNCOMMITTED', values: [] },
    { sql: found, values: [namespaceId] },
  ]);
  if (writer === undefined) return false;
  await asker.rows(`KILL CONNECTION ${String(writer['id'])}`);
  return true;
}

function createIndex(table: string, { name, columns, unique }: Index): string {
  return `CREATE ${unique ? 'UNIQUE ' : ''}INDEX ${table}_${name} ON ${table} (${columns})`;
}

const SELECT_NAMES = `SELECT TABLE_NAME AS table_name, COLUMN_NAME AS name
  FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE()
  UNION ALL SELECT TABLE_NAME, INDEX_NAME FROM information_schema.STATISTICS
  WHERE TABLE_SCHEMA = DATABASE()`;

async function listTables(asker: Asker, prefix: string): Promise<string[]> {
  const rows = await asker.rows(
    'SELECT TABLE_NAME AS name FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND LEFT(TABLE_NAME, ?) = ?',
    [prefix.length, prefix],
  );
  return rows.map((row) => String(row['name']));
}

async function listNames(asker: Asker, prefix: string): Promise<Map<string, Set<string>>> {
  const rows = await asker.rows(
    `SELECT DISTINCT TABLE_NAME AS table_name, INDEX_NAME AS name FROM information_schema.STATISTICS
     WHERE TABLE_SCHEMA = DATABASE() AND LEFT(TABLE_NAME, ?) = ?`,
    [prefix.length, prefix],
  );
  return namesByTable(rows);
}

function refusalOf(error: unknown): string | null {
  const refusal = REFUSALS.includes(codeOf(error))
    ? (error as { sqlMessage: string }).sqlMessage
    : tlsRefusalOf(error);
  return refusal === null ? null : `the database server refuses: ${refusal}`;
}

export function mysqlDialect(url: URL, pool: PoolSettings): Dialect {
  // Of those below alone: a list that takes its ten seconds is no silence.
  const handed = new Handed();
  return {
    // The engine does one thing at a time.
    connections: handed.watched(connectionsOf(url, { ...pool, max: 1 })),
    // For people, ids, callbacks and retention. Of three, lists leave one for reads that are short.
    readers: connectionsOf(url, { ...pool, max: pool.max - 1 }),
    isInProcess: false,
    owedMs: () => handed.owedMs,
    types,
    begin: 'START TRANSACTION',
    clockSeconds: 'UNIX_TIMESTAMP()',
    lockRow: ' FOR UPDATE',
    connectionId: 'CONNECTION_ID()',
    endSilentWriter,

    run: (connection, statements) => handed.during(connection, () => run(connection, statements)),
    discard: abandon,

    createTable(table, columns, indexes) {
      const keys = indexes.map(
        (index) =>
          `,\n  ${index.unique ? 'UNIQUE ' : ''}KEY ${table}_${index.name} (${index.columns})`,
      );
      return [`CREATE TABLE IF NOT EXISTS ${table} (${columns}${keys.join('')}\n)${TABLE_OPTIONS}`];
    },
    createIndex,
    dropIndex: (table, name) => `DROP INDEX ${table}_${name} ON ${table}`,
    readBy: (table, index) => `${table} FORCE INDEX (${index})`,
    readByKey: (table) => `${table} FORCE INDEX (PRIMARY)`,
    readByLongKey: (table) => `${table} FORCE INDEX (PRIMARY)`,
    insert,
    insertAlike,
    replace,
    add,
    update,
    remove,

    schemaLock,
    schemaInTransactions: false,
    listTables,
    listNames,
    selectNames: SELECT_NAMES,
    findWeakness,
    findFault,

    // It keeps its files to itself.
    findLoss: () => null,

    refusalOf,
    isPassing: (error) => codeOf(error) === DEADLOCK || codeOf(error) === LOCK_WAIT_TIMEOUT,
    isRefused: (error) => codeOf(error) > 0 && (error as { fatal?: unknown }).fatal !== true,
    isMissingTable: (error) => codeOf(error) === NO_SUCH_TABLE,
    isDuplicate: (error) => codeOf(error) === DUPLICATE_KEY,
  };
}
