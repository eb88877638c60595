/**
 * Connections to MySQL and MariaDB: how they are made, what holds on each, and for how long one is
 * waited for. Knows no statement of the store.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Duplex } from 'node:stream';
import type * as Mysql from 'mysql2';
import type { Connection as MysqlConnection, ConnectionOptions } from 'mysql2';
import { StoreUnusable } from '../../../application/ports.ts';
import type { Connection, Connections, PoolSettings } from './dialect.ts';

const load = createRequire(import.meta.url);
let loaded: typeof Mysql | null = null;

/** Loaded when it is first needed: most masters have a file, and it takes longer than all that they run. */
function driver(): typeof Mysql {
  return (loaded ??= load('mysql2') as typeof Mysql);
}

const CONNECT_TIMEOUT_MS = 10_000;
/** A frozen server gives no error: a statement that takes longer has failed. */
const STATEMENT_TIMEOUT_MS = 30_000;
/** A large table may have to be written anew. */
const SCHEMA_TIMEOUT_MS = 3_600_000;
const SCHEMA = /^\s*(ALTER|CREATE|DROP) /i;
/** For a server to end a connection that is no longer wanted. */
const LEAVE_MS_MAX = 500;
const LOCK_WAIT_SECONDS = 10;
/**
 * The server ends a connection that says nothing for so long. Without it, a transaction of a
 * master whose network has gone silent keeps its locks for hours: no master can take the term.
 */
const SERVER_IDLE_SECONDS = 20;

/**
 * Bounds the wait for an answer, and gives up the connection that did not give it. The driver's
 * own timeout is of no use: it goes on counting, and keeps the process alive, after the connection
 * has died under the statement.
 */
async function answered<T>(
  connection: Connection,
  answer: Promise<T>,
  withinMs: number,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      abandon(connection);
      reject(new Error(`the database has not answered for ${withinMs / 1000} s`));
    }, withinMs);
  });
  try {
    return await Promise.race([answer, silence]);
  } finally {
    clearTimeout(timer);
  }
}

/** Connections that came to an end, whoever ended them. */
const lost = new WeakSet<Connection>();

/** Without waiting for the server to agree, as the driver alone would. */
export function abandon(connection: Connection): void {
  lost.add(connection);
  const mysql = connection as MysqlConnection & { readonly stream: Duplex };
  mysql.destroy();
  mysql.stream.destroy();
}

/** As it stands: whoever has values has put them in. */
export function query(connection: Connection, sql: string): Promise<unknown> {
  const withinMs = SCHEMA.test(sql) ? SCHEMA_TIMEOUT_MS : STATEMENT_TIMEOUT_MS;
  const answer = new Promise((resolve, reject) => {
    (connection as MysqlConnection).query(sql, (error, result) =>
      error === null ? resolve(result) : reject(error),
    );
  });
  return answered(connection, answer, withinMs);
}

/** Settings that the store depends on, on every new connection. */
const sessionSql = [
  `SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'`,
  `SET SESSION innodb_lock_wait_timeout = ${LOCK_WAIT_SECONDS}`,
  `SET SESSION wait_timeout = ${SERVER_IDLE_SECONDS}`,
  // Rows are matched by key and version: gaps need no locks, and fewer locks mean fewer deadlocks.
  'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED',
].join('; ');

/** `?ssl=true`: TLS to a server that a CA known to Node vouches for; `?ssl=<file>`: a CA in there. */
function tlsOf({ searchParams }: URL): Pick<ConnectionOptions, 'ssl'> {
  const ssl = searchParams.get('ssl');
  if (ssl === null) return {};
  if (ssl === 'true') return { ssl: { verifyIdentity: true } };
  try {
    return { ssl: { verifyIdentity: true, ca: readFileSync(ssl, 'utf8') } };
  } catch (cause) {
    const message = 'ssl in the database URL must be true, or a file with certificates of CAs';
    throw new StoreUnusable(`${message}: ${String(cause)}`, { cause });
  }
}

/** What is wrong with the server's TLS where the URL asks for it; null for other errors. */
export function tlsRefusalOf(error: unknown): string | null {
  const { code, message } = (error ?? {}) as { readonly code?: unknown; readonly message?: string };
  if (code === 'HANDSHAKE_NO_SSL_SUPPORT') {
    return 'it has no TLS, which ssl in the database URL asks for: set up TLS there, or leave out ssl';
  }
  // Also of a connection that breaks in the middle of it, which is no refusal.
  if (code !== 'HANDSHAKE_SSL_ERROR' || !/certificate|altname/i.test(message ?? '')) return null;
  return `its certificate is not trusted (${message}): name the file of its CA with ?ssl=<file>`;
}

/** What the server was handed on some connections, and has yet to answer. */
export class Handed {
  readonly #connections = new WeakSet<Connection>();
  /** Since when, in monotonic milliseconds; the oldest first. */
  readonly #since = new Set<{ readonly at: number }>();

  /** The same, of which it is noted what they are handed; to be opened is the first of it. */
  watched(connections: Connections): Connections {
    const open = async (): Promise<Connection> => {
      const connection = await connections.open();
      this.#connections.add(connection);
      return connection;
    };
    return { ...connections, open: () => this.#noted(open) };
  }

  /** Work on a connection that waits for nothing but the server. */
  during<T>(connection: Connection, work: () => Promise<T>): Promise<T> {
    return this.#connections.has(connection) ? this.#noted(work) : work();
  }

  async #noted<T>(work: () => Promise<T>): Promise<T> {
    const one = { at: performance.now() };
    this.#since.add(one);
    try {
      return await work();
    } finally {
      this.#since.delete(one);
    }
  }

  /** Of the oldest; 0: there is none. */
  get owedMs(): number {
    for (const { at } of this.#since) return performance.now() - at;
    return 0;
  }
}

export function connectionsOf(url: URL, { max, idleMs, waitMs }: PoolSettings): Connections {
  const options: ConnectionOptions = {
    host: url.hostname,
    port: url.port === '' ? 3306 : Number(url.port),
    user: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    database: decodeURIComponent(url.pathname.slice(1)),
    charset: 'utf8mb4_bin',
    ...tlsOf(url),
    connectTimeout: CONNECT_TIMEOUT_MS,
    multipleStatements: true,
  };
  return { min: 0, max, idleMs, waitMs, open: () => open(options), close, isSound };
}

async function open(options: ConnectionOptions): Promise<Connection> {
  const connection = driver().createConnection(options);
  connection.on('error', () => lost.add(connection));
  connection.on('end', () => lost.add(connection));
  await new Promise<void>((resolve, reject) => {
    connection.connect((error) => (error === null ? resolve() : reject(error)));
  });
  try {
    await query(connection, sessionSql);
    return connection;
  } catch (error) {
    abandon(connection);
    throw error;
  }
}

/** Takes leave of the server, but does not wait for one that is away. */
function close(connection: Connection): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => abandon(connection), LEAVE_MS_MAX);
    const left = (): void => {
      clearTimeout(timer);
      resolve();
    };
    (connection as MysqlConnection).once('end', left).end(left);
  });
}

function isSound(connection: Connection): boolean {
  return !lost.has(connection) && !(connection as { readonly stream: Duplex }).stream.destroyed;
}
