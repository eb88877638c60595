/**
 * SQLite through libsql: one file, one connection, one master. The driver is synchronous, so a
 * commit holds the event loop while the disk flushes. The file stays locked as long as it is
 * open; see `docs/operations.md` for why that is wanted.
 */
import { createRequire } from 'node:module';
import type { Knex } from 'knex';
import Libsql from 'libsql';
import { StoreUnusable } from '../../application/ports.ts';
import type { Connection, Dialect, Outcome, Statement, Types } from './dialect.ts';
import { placeholders } from './dialect.ts';
import type { Row } from './rows.ts';

/** How long to wait for a predecessor that is just letting go of the file. */
const BUSY_TIMEOUT_MS = 5_000;

interface KnexClient {
  readonly connectionSettings: { readonly filename: string };
}

// Knex exposes its dialects only by this path; the version is pinned.
const BetterSqlite3Client = createRequire(import.meta.url)(
  'knex/lib/dialects/better-sqlite3/index.js',
) as new (
  config: Knex.Config,
) => KnexClient & Knex.Client;

/** Knex's better-sqlite3 dialect, which libsql fits, with libsql as the driver. */
class LibsqlClient extends BetterSqlite3Client {
  _driver(): typeof Libsql {
    return Libsql;
  }

  override async acquireRawConnection(): Promise<Libsql.Database> {
    return openFile(this.connectionSettings.filename);
  }
}

function openFile(file: string): Libsql.Database {
  let database: Libsql.Database | null = null;
  try {
    database = new Libsql(file, { timeout: BUSY_TIMEOUT_MS });
    // Exclusive before WAL: then the index of the log lives in memory and no other process, not
    // even a second master of this version, can open the file.
    for (const pragma of ['locking_mode=EXCLUSIVE', 'journal_mode=WAL', 'synchronous=FULL']) {
      database.prepare(`PRAGMA ${pragma}`).all();
    }
    database.exec('BEGIN IMMEDIATE; COMMIT');
    return database;
  } catch (error) {
    database?.close();
    if (codeOf(error).startsWith('SQLITE_BUSY')) {
      throw new StoreUnusable(`another master owns this file: ${file}`, { cause: error });
    }
    throw new StoreUnusable(`${file} cannot be opened: ${String(error)}`, { cause: error });
  }
}

function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : '';
}

const types: Types = {
  seq: 'INTEGER PRIMARY KEY',
  integer: 'INTEGER',
  instant: 'INTEGER',
  real: 'REAL',
  key: () => 'TEXT',
  name: () => 'TEXT',
  text: 'TEXT',
};

function execute(database: Libsql.Database, { sql, values }: Statement): Outcome {
  const statement = database.prepare(sql);
  // The driver's type says that `reader` is missing; it is there, as in better-sqlite3.
  if ((statement as unknown as { readonly reader: boolean }).reader) {
    return { rows: statement.all(values) as Row[], touched: 0 };
  }
  return { rows: [], touched: statement.run(values).changes };
}

export function sqliteDialect(file: string): Dialect {
  return {
    knex: {
      client: LibsqlClient as unknown as typeof Knex.Client,
      connection: { filename: file },
      useNullAsDefault: true,
      pool: { min: 1, max: 1 },
    },
    types,
    begin: 'BEGIN IMMEDIATE',
    lockRow: '',

    async run(connection: Connection, statements) {
      const outcomes: Outcome[] = [];
      for (const statement of statements) {
        outcomes.push(execute(connection as Libsql.Database, statement));
      }
      return outcomes;
    },
    discard(connection, error) {
      (connection as { __knex__disposed?: Error }).__knex__disposed = error;
    },
    rowsOf: (response) => response as Row[],

    createTable: (table, columns, indexes) => [
      `CREATE TABLE IF NOT EXISTS ${table} (${columns}\n) STRICT`,
      ...indexes.map(
        (index) =>
          `CREATE ${index.unique ? 'UNIQUE ' : ''}INDEX IF NOT EXISTS ${table}_${index.name} ON ${table} (${index.columns})`,
      ),
    ],
    readBy: (table, index) => `${table} INDEXED BY ${index}`,
    update(table, matched, set, rows) {
      const match = matched.map(({ name }, at) => `${table}.${name} = v.column${at + 1}`);
      const assign = set.map(({ name }, at) => `${name} = v.column${matched.length + at + 1}`);
      const values = placeholders(rows.length, matched.length + set.length);
      return {
        sql: `UPDATE ${table} SET ${assign.join(', ')} FROM (VALUES ${values}) AS v WHERE ${match.join(' AND ')}`,
        values: rows.flat(),
        touches: rows.length,
      };
    },
    remove(table, matched, rows) {
      const match = matched.map(({ name }, at) => `t.${name} = v.column${at + 1}`);
      const values = placeholders(rows.length, matched.length);
      return {
        sql: `DELETE FROM ${table} WHERE seq IN (SELECT t.seq FROM (VALUES ${values}) AS v CROSS JOIN ${table} AS t ON ${match.join(' AND ')})`,
        values: rows.flat(),
        touches: rows.length,
      };
    },

    // Whoever has the file open is alone with it.
    exclusively: (_knex, work) => work(),
    async listTables(knex, prefix) {
      const rows: { name: string }[] = await knex.raw(
        `SELECT name FROM sqlite_master WHERE type = 'table' AND substr(name, 1, ?) = ?`,
        [prefix.length, prefix],
      );
      return rows.map(({ name }) => name);
    },
    async findWeakness(knex) {
      const [row]: { synchronous?: number }[] = await knex.raw('PRAGMA synchronous');
      return (row?.synchronous ?? 0) >= 2 ? null : 'PRAGMA synchronous is below FULL';
    },
    findFault: async () => null,

    isPassing: (error) => codeOf(error).startsWith('SQLITE_BUSY'),
    isDuplicate: (error) =>
      codeOf(error) === 'SQLITE_CONSTRAINT_UNIQUE' ||
      codeOf(error) === 'SQLITE_CONSTRAINT_PRIMARYKEY',
  };
}
