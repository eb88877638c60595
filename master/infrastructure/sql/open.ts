/**
 * Opens the SQL store that a URL names. The only file of this folder that others import, but for
 * `database-url.ts`.
 */
import type { Log, Store } from '../../application/ports.ts';
import { StoreUnusable } from '../../application/ports.ts';
import { readDatabaseUrl } from './database-url.ts';
import { Database, poolOf } from './database.ts';
import type { Connections, Dialect, PoolSettings } from './dialects/dialect.ts';
import { DEFAULT_POOL } from './dialects/dialect.ts';
import { mysqlDialect } from './dialects/mysql.ts';
import { sqliteDialect } from './dialects/sqlite.ts';
import { Pace } from './pace.ts';
import { SqlStore } from './store.ts';

const silent: Log = { debug() {}, info() {}, warn() {}, error() {} };

/**
 * Nothing is connected yet: `open` is the first to speak to the database.
 * @param options.url `sqlite:<file>` or `mysql://user:password@host:port/database`, over TLS with
 *   `?ssl=true` or `?ssl=<CA file>`.
 * @param options.allowWeakDurability serve even if a power cut could lose accepted tasks.
 * @throws {StoreUnusable} the URL is of neither form, names no database, or has other parameters.
 */
export async function openSqlStore(options: {
  readonly url: string;
  readonly allowWeakDurability: boolean;
  readonly log?: Log;
  /** Of a server; SQLite has one connection. */
  readonly pool?: PoolSettings;
  /** How the event loop is shared; by the real clock unless given. */
  readonly pace?: Pace;
}): Promise<Store> {
  const log = options.log ?? silent;
  const pace = options.pace ?? new Pace();
  const dialect = dialectOf(options.url, pace, options.pool);
  const open = (connections: Connections): Database =>
    new Database(poolOf(connections), dialect, pace);
  const engine = open(dialect.connections);
  const readers = dialect.readers === null ? engine : open(dialect.readers);
  return new SqlStore(
    { engine, readers },
    { allowWeakDurability: options.allowWeakDurability, log },
  );
}

/**
 * Lets itself in and has one statement answered, by the very connection that a store makes.
 * @throws {StoreUnusable} as `openSqlStore`. @throws the reason of driver or server.
 */
export async function reachMysql(url: string): Promise<void> {
  const pace = new Pace();
  const dialect = dialectOf(url, pace);
  const database = new Database(poolOf(dialect.connections), dialect, pace);
  try {
    await database.rows('SELECT 1');
  } finally {
    await database.close();
  }
}

function dialectOf(url: string, pace: Pace, pool: PoolSettings = DEFAULT_POOL): Dialect {
  const read = readDatabaseUrl(url);
  if ('file' in read) return sqliteDialect(read.file, pace);
  if ('server' in read) return mysqlDialect(read.server, pool);
  throw new StoreUnusable(`the database URL cannot be used: ${read.problem}`);
}
