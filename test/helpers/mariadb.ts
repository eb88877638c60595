/**
 * MariaDB for tests and benchmarks: databases on a server that all test files of a run share,
 * or a private server, durable and free to be killed. Or, where `SODA_TEST_MYSQL_URL` names a
 * server, databases on that one.
 */
import type { ChildProcess } from 'node:child_process';
import { execFile, spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import mysql from 'mysql2/promise';
import { freePort } from './free-port.ts';
import { eventually } from './system/wait.ts';
import { oncePerRun, RUN_IS_WATCHED, runFolder } from './store/once-per-run.ts';

const START_TIMEOUT_MS = 30_000;

export interface Mariadb {
  /** The URL of a database of this name, made if it is not there; a fresh one without a name. */
  url(database?: string): Promise<string>;
  /** SIGKILL, as a crash would. Null where the server is not ours to kill. */
  readonly kill: (() => Promise<void>) | null;
  /** Starts the server again on the same port and files, after `kill`. */
  readonly restart: (() => Promise<void>) | null;
  /** SIGSTOP, once it has stopped, and SIGCONT: connections stay open, and nothing is answered in between. */
  readonly freeze: (() => Promise<void>) | null;
  readonly thaw: (() => void) | null;
  /** Nothing of ours may be left in it in the end. */
  readonly outlivesRun: boolean;
  /** Ends the server and removes its files; on a server that is not ours, drops our databases. */
  stop(): Promise<void>;
}

/** Of every server. */
const SMALL = ['--innodb-log-file-size=8M', '--performance-schema=OFF'];
/** Of the one that is shared, and others that nobody kills: nothing that outlives a power cut, and tables are made and dropped for little. */
export const QUICK = [
  '--innodb-flush-method=nosync',
  '--debug-no-sync',
  '--innodb-file-per-table=OFF',
  '--innodb-stats-persistent=OFF',
  '--max-connections=500',
];
let files: Promise<string> | null = null;
let shared: Promise<string> | null = null;

/**
 * For tests that leave the server as it is: databases on one that is started once in a run and
 * ends with it. Null where no server is given or installed.
 */
export async function sharedMariadb(): Promise<Mariadb | null> {
  const given = givenServer();
  if (given !== null) return borrowed(given, true);
  const binary = installed();
  if (binary === null) return null;
  shared ??= oncePerRun('mariadb', async (folder) => {
    const server = await startServer(binary, folder, QUICK);
    if (!RUN_IS_WATCHED) process.prependOnceListener('exit', () => void server.kill('SIGKILL'));
    server.unref();
    return server.url;
  });
  return borrowed(new URL(await shared), false);
}

/** A private one. Null where no server is given or installed. `flags` go on its command line. */
export async function startMariadb(flags: readonly string[] = []): Promise<Mariadb | null> {
  const given = givenServer();
  if (given !== null) return borrowed(given, true);
  const binary = installed();
  return binary === null ? null : privateServer(binary, flags);
}

/**
 * The shared one, for all tests of a suite, by its hooks; or, for those that look at what the server says
 * of all its databases, a private one. Where there is none the suite is skipped, and says why.
 */
export function useMariadb(find = sharedMariadb): Pick<Mariadb, 'url'> {
  let server: Mariadb | null = null;
  before(async function () {
    server = await find();
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

/** Whether there is one for tests. */
export function hasMariadb(): boolean {
  return givenServer() !== null || installed() !== null;
}

function givenServer(): URL | null {
  const url = process.env['SODA_TEST_MYSQL_URL'];
  return url === undefined || url === '' ? null : new URL(url);
}

let binary: string | null | undefined;

function installed(): string | null {
  // Debian keeps it where only root looks.
  binary ??=
    ['mariadbd', '/usr/sbin/mariadbd'].find(
      (path) => spawnSync(path, ['--version']).status === 0,
    ) ?? null;
  return binary;
}

const asRoot = userInfo().uid === 0 ? ['--user=root'] : [];

/** The files of a server that nobody has used yet: to install them takes as long as ten copies of them. */
function installedFiles(): Promise<string> {
  files ??= oncePerRun('mariadb-files', async (folder) => {
    const data = join(folder, 'data');
    await promisify(execFile)('mariadb-install-db', [
      '--no-defaults',
      `--datadir=${data}`,
      ...asRoot,
      // Two at once would take each other's temporary tables.
      `--tmpdir=${folder}`,
      '--skip-test-db',
      ...SMALL,
    ]);
    return data;
  });
  return files;
}

interface Server {
  /** Of no database. */
  readonly url: string;
  start(): Promise<void>;
  /** False where it has ended. */
  kill(signal: NodeJS.Signals): boolean;
  /** All of it, after SIGSTOP: others of its threads run on until the one that got it had its turn. */
  hasStopped(): Promise<boolean>;
  readonly ended: () => Promise<unknown>;
  /** It keeps this process no longer from its end. */
  unref(): void;
}

async function startServer(
  binary: string,
  folder: string,
  flags: readonly string[],
): Promise<Server> {
  const data = join(folder, 'data');
  await promisify(execFile)('cp', ['-R', await installedFiles(), data]);
  const user = join(folder, 'user.sql');
  await writeFile(
    user,
    `CREATE USER IF NOT EXISTS soda@'127.0.0.1' IDENTIFIED BY 'soda';
GRANT ALL ON *.* TO soda@'127.0.0.1' WITH GRANT OPTION;
`,
  );
  const port = await freePort();
  const args = [
    '--no-defaults',
    `--datadir=${data}`,
    ...asRoot,
    // A server that starts removes the temporary tables it finds: never another one's.
    `--tmpdir=${folder}`,
    `--socket=${join(folder, 's.sock')}`,
    `--pid-file=${join(folder, 'pid')}`,
    `--init-file=${user}`,
    `--port=${port}`,
    '--bind-address=127.0.0.1',
    ...SMALL,
    ...flags,
  ];
  let server: ChildProcess;
  const start = async (): Promise<void> => {
    server = spawn(binary, args, { stdio: ['ignore', 'ignore', 'pipe'] });
    const callOff = (): void => void server.kill('SIGKILL');
    process.prependOnceListener('exit', callOff);
    await ready(server).catch((error: unknown) => {
      callOff();
      throw error;
    });
    process.off('exit', callOff);
  };
  await start();
  return {
    url: `mysql://soda:soda@127.0.0.1:${port}/`,
    start,
    kill: (signal) => server.kill(signal),
    async hasStopped() {
      const threads = `/proc/${server.pid}/task`;
      const states = (await readdir(threads).catch(() => [])).map(async (thread) =>
        (await readFile(join(threads, thread, 'stat'), 'utf8')).replace(/.*\) (\w).*/s, '$1'),
      );
      return (await Promise.all(states)).every((state) => state === 'T');
    },
    async ended() {
      if (server.exitCode === null && server.signalCode === null) await once(server, 'exit');
    },
    unref() {
      server.unref();
      (server.stderr as Socket | null)?.unref();
    },
  };
}

async function privateServer(binary: string, flags: readonly string[]): Promise<Mariadb> {
  const folder = await mkdtemp(join(runFolder(), 'mariadb-'));
  const server = await startServer(binary, folder, flags);
  const endWithUs = (): void => {
    server.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 10 });
  };
  process.prependOnceListener('exit', endWithUs);
  const kill = async (): Promise<void> => {
    const ended = server.ended();
    server.kill('SIGKILL');
    await ended;
  };
  return {
    ...borrowed(new URL(server.url), false),
    kill,
    restart: server.start,
    async freeze() {
      server.kill('SIGSTOP');
      await eventually('the server has stopped', () => server.hasStopped());
    },
    thaw: () => void server.kill('SIGCONT'),
    async stop() {
      await kill();
      process.off('exit', endWithUs);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function borrowed(server: URL, outlivesRun: boolean): Mariadb {
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
    outlivesRun,
    async stop() {
      if (!outlivesRun) return;
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
