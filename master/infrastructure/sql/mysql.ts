/**
 * MySQL 8 and MariaDB 10.6 or newer through mysql2. A round trip costs more than the work it
 * carries, so the statements of a transaction travel together. Values are always bound: the
 * driver escapes them, which is only sound under the `sql_mode` set here.
 */
import type { Knex } from 'knex';
import type { Connection as MysqlConnection, ResultSetHeader, RowDataPacket } from 'mysql2';
import type { Connection, Dialect, Outcome, Statement, Types } from './dialect.ts';
import { CHARACTERS_MAX, placeholders, sizeOf } from './dialect.ts';
import type { Row, Value } from './rows.ts';

const CONNECT_TIMEOUT_MS = 10_000;
/** A frozen server gives no error: a statement that takes longer has failed. */
const STATEMENT_TIMEOUT_MS = 30_000;
const LOCK_WAIT_SECONDS = 10;
const MIGRATION_LOCK = 'soda_scheduler_migration';
const MIGRATION_WAIT_SECONDS = 60;
/** What the largest batch of statements may need: see `CHARACTERS_MAX`. */
const PACKET_BYTES_MIN = 8 * 1024 * 1024;

const types: Types = {
  seq: 'BIGINT NOT NULL PRIMARY KEY',
  integer: 'INT',
  instant: 'BIGINT',
  real: 'DOUBLE',
  key: (length) => `VARCHAR(${length}) CHARACTER SET ascii COLLATE ascii_bin`,
  name: (length) => `VARCHAR(${length})`,
  text: 'MEDIUMTEXT',
};

const TABLE_OPTIONS =
  ' ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin';

const jsonTypes = {
  integer: 'BIGINT',
  real: 'DOUBLE',
  text: 'MEDIUMTEXT CHARACTER SET utf8mb4',
} as const;

type Result = ResultSetHeader | RowDataPacket[];

function query(connection: Connection, sql: string, values: readonly Value[]): Promise<unknown> {
  return new Promise((resolve, reject) => {
    (connection as MysqlConnection).query(
      { sql, values: [...values], timeout: STATEMENT_TIMEOUT_MS },
      (error, result) => (error === null ? resolve(result) : reject(error)),
    );
  });
}

/** Neighbours that fit one packet together. */
function packets(statements: readonly Statement[]): Statement[][] {
  const result: Statement[][] = [];
  let room = 0;
  for (const statement of statements) {
    const size = statement.sql.length + sizeOf(statement.values);
    if (size > room) {
      result.push([]);
      room = CHARACTERS_MAX;
    }
    result.at(-1)?.push(statement);
    room -= size;
  }
  return result;
}

function outcomeOf(result: Result): Outcome {
  return Array.isArray(result)
    ? { rows: result, touched: 0 }
    : { rows: [], touched: result.affectedRows };
}

async function run(connection: Connection, statements: readonly Statement[]): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const packet of packets(statements)) {
    const sql = packet.map((statement) => statement.sql).join('; ');
    const result = await query(
      connection,
      sql,
      packet.flatMap(({ values }) => values),
    );
    const results = packet.length === 1 ? [result as Result] : (result as Result[]);
    outcomes.push(...results.map(outcomeOf));
  }
  return outcomes;
}

/**
 * The rows as a table `v` with columns `v0`, `v1` and so on, from one bound value. With a value
 * bound for each cell in a `UNION ALL`, the server spends its time on parsing.
 */
function jsonTable(columns: readonly { readonly kind: keyof typeof jsonTypes }[]): string {
  const list = columns.map(({ kind }, at) => `v${at} ${jsonTypes[kind]} PATH '$[${at}]'`);
  return `JSON_TABLE(?, '$[*]' COLUMNS (${list.join(', ')})) AS v`;
}

function codeOf(error: unknown): number {
  const code = (error as { errno?: unknown } | null)?.errno;
  return typeof code === 'number' ? code : 0;
}

async function variables(knex: Knex, names: readonly string[]): Promise<Map<string, string>> {
  const [rows] = (await knex.raw(
    `SHOW GLOBAL VARIABLES WHERE Variable_name IN ${placeholders(1, names.length)}`,
    [...names],
  )) as [{ Variable_name: string; Value: string }[]];
  return new Map(rows.map((row) => [row.Variable_name.toLowerCase(), row.Value]));
}

async function findWeakness(knex: Knex): Promise<string | null> {
  const value = await variables(knex, ['innodb_flush_log_at_trx_commit', 'sync_binlog', 'log_bin']);
  const wanted: string[] = [];
  if (value.get('innodb_flush_log_at_trx_commit') !== '1') {
    wanted.push('innodb_flush_log_at_trx_commit=1');
  }
  if (value.get('log_bin') === 'ON' && value.get('sync_binlog') !== '1') {
    wanted.push('sync_binlog=1');
  }
  return wanted.length === 0 ? null : `the server must run with ${wanted.join(' and ')}`;
}

async function findFault(knex: Knex): Promise<string | null> {
  const value = await variables(knex, ['max_allowed_packet']);
  return Number(value.get('max_allowed_packet')) >= PACKET_BYTES_MIN
    ? null
    : `max_allowed_packet must be at least ${PACKET_BYTES_MIN}`;
}

/** The lock belongs to its own connection and goes with it, however the master ends. */
async function exclusively<T>(knex: Knex, work: () => Promise<T>): Promise<T> {
  const connection = await (knex.client as Knex.Client).acquireConnection();
  try {
    const [outcome] = await run(connection, [
      {
        sql: `SELECT GET_LOCK(CONCAT('${MIGRATION_LOCK}:', DATABASE()), ${MIGRATION_WAIT_SECONDS}) AS taken`,
        values: [],
        touches: null,
      },
    ]);
    if (outcome?.rows[0]?.['taken'] !== 1) throw new Error('another master is migrating');
    return await work();
  } finally {
    await run(connection, [
      {
        sql: `DO RELEASE_LOCK(CONCAT('${MIGRATION_LOCK}:', DATABASE()))`,
        values: [],
        touches: null,
      },
    ]).catch(() => undefined);
    await (knex.client as Knex.Client).releaseConnection(connection);
  }
}

/** Settings that the store depends on, on every new connection. */
const sessionSql = [
  `SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'`,
  `SET SESSION innodb_lock_wait_timeout = ${LOCK_WAIT_SECONDS}`,
  // Rows are matched by key and version: gaps need no locks, and fewer locks mean fewer deadlocks.
  'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED',
].join('; ');

export function mysqlDialect(url: URL): Dialect {
  return {
    knex: {
      client: 'mysql2',
      connection: {
        host: url.hostname,
        port: url.port === '' ? 3306 : Number(url.port),
        user: decodeURIComponent(url.username),
        password: decodeURIComponent(url.password),
        database: decodeURIComponent(url.pathname.slice(1)),
        charset: 'utf8mb4_bin',
        connectTimeout: CONNECT_TIMEOUT_MS,
        multipleStatements: true,
      },
      acquireConnectionTimeout: STATEMENT_TIMEOUT_MS,
      pool: {
        min: 0,
        max: 4,
        afterCreate: (connection: Connection, done: (error: unknown, c: Connection) => void) => {
          query(connection, sessionSql, []).then(
            () => done(null, connection),
            (error: unknown) => done(error, connection),
          );
        },
      },
    },
    types,
    begin: 'START TRANSACTION',
    lockRow: ' FOR UPDATE',

    run,
    discard(connection, error) {
      (connection as { __knex__disposed?: Error }).__knex__disposed = error;
      (connection as MysqlConnection).destroy();
    },
    rowsOf: (response) => (response as [Row[]])[0],

    createTable(table, columns, indexes) {
      const keys = indexes.map(
        (index) =>
          `,\n  ${index.unique ? 'UNIQUE ' : ''}KEY ${table}_${index.name} (${index.columns})`,
      );
      return [`CREATE TABLE IF NOT EXISTS ${table} (${columns}${keys.join('')}\n)${TABLE_OPTIONS}`];
    },
    readBy: (table, index) => `${table} FORCE INDEX (${index})`,
    update(table, matched, set, rows) {
      const match = matched.map(({ name }, at) => `t.${name} = v.v${at}`);
      const assign = set.map(({ name }, at) => `t.${name} = v.v${matched.length + at}`);
      return {
        sql: `UPDATE ${jsonTable([...matched, ...set])} STRAIGHT_JOIN ${table} AS t ON ${match.join(' AND ')} SET ${assign.join(', ')}`,
        values: [JSON.stringify(rows)],
        touches: rows.length,
      };
    },
    remove(table, matched, rows) {
      const match = matched.map(({ name }, at) => `t.${name} = v.v${at}`);
      return {
        sql: `DELETE t FROM ${jsonTable(matched)} STRAIGHT_JOIN ${table} AS t ON ${match.join(' AND ')}`,
        values: [JSON.stringify(rows)],
        touches: rows.length,
      };
    },

    exclusively,
    async listTables(knex, prefix) {
      const [rows] = (await knex.raw(
        'SELECT TABLE_NAME AS name FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND LEFT(TABLE_NAME, ?) = ?',
        [prefix.length, prefix],
      )) as [{ name: string }[]];
      return rows.map(({ name }) => name);
    },
    findWeakness,
    findFault,

    // 1213: deadlock, also Galera's way to refuse a transaction at its end. 1205: lock wait.
    isPassing: (error) => codeOf(error) === 1213 || codeOf(error) === 1205,
    isDuplicate: (error) => codeOf(error) === 1062,
  };
}
