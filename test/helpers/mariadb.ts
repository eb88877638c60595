/**
 * MariaDB for tests and benchmarks: databases on a server that the test files of a process share,
 * or a private server, durable and free to be killed. Or, where `SODA_TEST_MYSQL_URL` names a
 * server, databases on that one.
 */
import type { ChildProcess } from 'node:child_process';
import { execFile, spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import mysql from 'mysql2/promise';
import { freePort } from './free-port.ts';

const START_TIMEOUT_MS = 30_000;

export interface Mariadb {
  /** The URL of a database of this name, made if it is not there; a fresh one without a name. */
  url(database?: string): Promise<string>;
  /** SIGKILL, as a crash would. Null where the server is not ours to kill. */
  readonly kill: (() => Promise<void>) | null;
  /** Starts the server again on the same port and files, after `kill`. */
  readonly restart: (() => Promise<void>) | null;
  /** SIGSTOP and SIGCONT: connections stay open, and nothing is answered in between. */
  readonly freeze: (() => void) | null;
  readonly thaw: (() => void) | null;
  /** Ends the server and removes its files; on a server that is not ours, drops our databases. */
  stop(): Promise<void>;
}

/** Little on disk, and nothing that outlives a power cut. */
const QUICK = [
  '--innodb-flush-method=nosync',
  '--debug-no-sync',
  '--innodb-log-file-size=8M',
  '--performance-schema=OFF',
];
let shared: Promise<Mariadb | null> | null = null;

/**
 * For tests that leave the server as it is: databases on one that is started once in a process and
 * ends with it. Null where no server is given or installed.
 */
export async function sharedMariadb(): Promise<Mariadb | null> {
  const given = givenServer();
  if (given !== null) return borrowed(given);
  shared ??= startInstalled(QUICK, true);
  const server = await shared;
  return server && borrowed(new URL(await server.url()));
}

/** A private one. Null where no server is given or installed. `flags` go on its command line. */
export async function startMariadb(flags: readonly string[] = []): Promise<Mariadb | null> {
  const given = givenServer();
  return given === null ? startInstalled(flags, false) : borrowed(given);
}

/** The shared one, for all tests of a suite, by its hooks; where there is none the suite is skipped, and says why. */
export function useMariadb(): Pick<Mariadb, 'url'> {
  let server: Mariadb | null = null;
  before(async function () {
    server = await sharedMariadb();
    if (server !== null) return;
    console.log(`    skipped: ${MARIADB_MISSING}`);
    this.skip();
  });
  after(() => server?.stop());
  return {
    url(database) {
      if (server === null) throw new Error(MARIADB_MISSING);
      return server.url(database);
    },
  };
}

/** What a skipped suite says. */
export const MARIADB_MISSING = 'no mariadbd is installed and SODA_TEST_MYSQL_URL is not set';

function givenServer(): URL | null {
  const url = process.env['SODA_TEST_MYSQL_URL'];
  return url === undefined || url === '' ? null : new URL(url);
}

/** One that is `lasting` keeps no process alive, and is not stopped. */
async function startInstalled(flags: readonly string[], lasting: boolean): Promise<Mariadb | null> {
  // Debian keeps it where only root looks.
  const binary = ['mariadbd', '/usr/sbin/mariadbd'].find(
    (path) => spawnSync(path, ['--version']).status === 0,
  );
  return binary === undefined ? null : privateServer(binary, flags, lasting);
}

async function privateServer(
  binary: string,
  flags: readonly string[],
  lasting: boolean,
): Promise<Mariadb> {
  const folder = await mkdtemp(join(process.env['SODA_TEST_FOLDER'] ?? tmpdir(), 'soda-mariadb-'));
  const asRoot = userInfo().uid === 0 ? ['--user=root'] : [];
  const data = [`--datadir=${join(folder, 'data')}`, ...asRoot];
  await promisify(execFile)('mariadb-install-db', [
    '--no-defaults',
    ...data,
    // Two at once would take each other's temporary tables.
    `--tmpdir=${folder}`,
    '--auth-root-authentication-method=normal',
    '--skip-test-db',
  ]);
  const port = await freePort();
  const socketPath = join(folder, 's.sock');
  const start = async (): Promise<ChildProcess> => {
    const server = spawn(
      binary,
      [
        '--no-defaults',
        ...data,
        // A server that starts removes the temporary tables it finds: never another one's.
        `--tmpdir=${folder}`,
        `--socket=${socketPath}`,
        `--pid-file=${join(folder, 'pid')}`,
        `--port=${port}`,
        '--bind-address=127.0.0.1',
        ...flags,
      ],
      { stdio: ['ignore', 'ignore', 'pipe'] },
    );
    await ready(server);
    if (lasting) {
      server.unref();
      (server.stderr as Socket | null)?.unref();
    }
    return server;
  };

  let server = await start();
  const endWithUs = (): void => {
    server.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 10 });
  };
  process.once('exit', endWithUs);
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const exit = once(server, 'exit');
    server.kill(signal);
    await exit;
  };
  const root = { socketPath, user: 'root', multipleStatements: true };
  const admin = await mysql.createConnection(root);
  await admin.query(
    `CREATE USER soda@'127.0.0.1' IDENTIFIED BY 'soda'; GRANT ALL ON *.* TO soda@'127.0.0.1' WITH GRANT OPTION`,
  );
  await admin.end();

  return {
    async url(database = freshName()) {
      const connection = await mysql.createConnection(root);
      await connection.query(`CREATE DATABASE IF NOT EXISTS ${database}`);
      await connection.end();
      return `mysql://soda:soda@127.0.0.1:${port}/${database}`;
    },
    kill: () => end('SIGKILL'),
    async restart() {
      server = await start();
    },
    freeze: () => void server.kill('SIGSTOP'),
    thaw: () => void server.kill('SIGCONT'),
    async stop() {
      await end('SIGKILL');
      process.off('exit', endWithUs);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function borrowed(server: URL): Mariadb {
  const made: string[] = [];
  const run = async (sql: string): Promise<void> => {
    const connection = await mysql.createConnection(server.href);
    await connection.query(sql);
    await connection.end();
  };
  return {
    async url(database = freshName()) {
      await run(`CREATE DATABASE IF NOT EXISTS ${database}`);
      made.push(database);
      const url = new URL(server);
      url.pathname = `/${database}`;
      return url.href;
    },
    kill: null,
    restart: null,
    freeze: null,
    thaw: null,
    async stop() {
      for (const database of made) await run(`DROP DATABASE IF EXISTS ${database}`);
    },
  };
}

const freshName = (): string => `soda_test_${randomUUID().replaceAll('-', '')}`;

/** The server says on stderr when it listens, and when it gives up. */
async function ready(server: ChildProcess): Promise<void> {
  let said = '';
  await new Promise<void>((resolve, reject) => {
    const fail = (why: string): void => reject(new Error(`mariadbd ${why}\n${said}`));
    const timer = setTimeout(() => fail('did not start in time'), START_TIMEOUT_MS);
    server.once('exit', (code) => {
      clearTimeout(timer);
      fail(`exited with ${code}`);
    });
    server.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      if (!said.includes('ready for connections')) return;
      clearTimeout(timer);
      resolve();
    });
  });
  // From here on the log is only drained, so that the server never blocks on a full pipe.
  server.stderr?.removeAllListeners('data').resume();
}
