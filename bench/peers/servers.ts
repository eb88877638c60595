/**
 * The servers that peers need, each on a free port of loopback with its files in a folder that goes with it, and as
 * durable as a careful user sets it: what was accepted has been flushed. Redis also as it is by default, with up to a
 * second of what was accepted at stake.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, readdir, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort } from '../../test/helpers/free-port.ts';
import { makeFolder } from '../system.ts';

const START_MS = 30_000;

export interface PeerServer {
  readonly url: string;
  /** Another has to be started. Absent: nobody knows. */
  readonly hasEnded?: boolean | undefined;
  /** Of its own, where cases must not share one. */
  fresh(): Promise<string>;
  stop(): Promise<void>;
}

const run = promisify(execFile);

async function hasProgram(name: string): Promise<boolean> {
  return run('which', [name]).then(
    () => true,
    () => false,
  );
}

const endOf = ({ exitCode, signalCode }: ChildProcess): number | string | null =>
  exitCode ?? signalCode;

async function reachable(name: string, port: number, child: ChildProcess): Promise<void> {
  for (const deadline = performance.now() + START_MS; ; ) {
    if (endOf(child) !== null) throw new Error(`${name} ended with ${endOf(child)}`);
    if (performance.now() > deadline) throw new Error(`${name} did not start in ${START_MS} ms`);
    const socket = connect(port, '127.0.0.1');
    const open = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (open) return;
    await delay(50);
  }
}

interface Program {
  readonly path: string;
  readonly args: readonly string[];
  /** Whom it runs as; none: whoever runs this. */
  readonly owner?: Owner;
  readonly signal?: 'SIGINT';
}

interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** What it says goes nowhere; it ends with this process at the latest. */
async function started(
  scheme: string,
  folder: string,
  programAt: (port: number) => Program,
): Promise<PeerServer> {
  const port = await freePort();
  const { path, args, owner, signal = 'SIGTERM' } = programAt(port);
  const child = spawn(path, args, { stdio: 'ignore', ...owner });
  const kill = () => child.kill('SIGKILL');
  process.prependOnceListener('exit', kill);
  await reachable(path, port, child).catch((error: unknown) => {
    kill();
    throw error;
  });
  const url = `${scheme}://127.0.0.1:${port}`;
  return {
    url,
    get hasEnded() {
      return endOf(child) !== null;
    },
    fresh: async () => url,
    stop: async () => {
      if (endOf(child) === null) {
        const exited = once(child, 'exit');
        child.kill(signal);
        await exited;
      }
      process.removeListener('exit', kill);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Null where it is not installed. */
export async function startRedis(fsync: 'always' | 'everysec'): Promise<PeerServer | null> {
  if (!(await hasProgram('redis-server'))) return null;
  const folder = await makeFolder();
  const kept = ['--appendonly', 'yes', '--appendfsync', fsync, '--save', ''];
  return started('redis', folder, (port) => {
    const at = ['--port', `${port}`, '--bind', '127.0.0.1', '--dir', folder];
    return { path: 'redis-server', args: [...at, ...kept, '--maxmemory-policy', 'noeviction'] };
  });
}

/** Null where it is not installed. Its log is flushed with every write. */
export async function startBeanstalkd(): Promise<PeerServer | null> {
  if (!(await hasProgram('beanstalkd'))) return null;
  const folder = await makeFolder();
  return started('beanstalk', folder, (port) => {
    const args = ['-l', '127.0.0.1', '-p', `${port}`, '-b', folder, '-f', '0'];
    return { path: 'beanstalkd', args };
  });
}

/** It refuses to run as root. */
async function postgresOwner(): Promise<Owner | null> {
  if (process.getuid?.() !== 0) return null;
  const idOf = async (flag: string): Promise<number> =>
    Number((await run('id', [flag, 'postgres'])).stdout);
  return { uid: await idOf('-u'), gid: await idOf('-g') };
}

/** Null where it is not installed. `fsync` and `synchronous_commit` are on, as they are by default. */
export async function startPostgres(): Promise<PeerServer | null> {
  const [version] = await readdir('/usr/lib/postgresql').catch(() => []);
  if (version === undefined) return null;
  const pathOf = (name: string): string => join('/usr/lib/postgresql', version, 'bin', name);
  const owner = await postgresOwner();
  const folder = await makeFolder();
  if (owner !== null) await chown(folder, owner.uid, owner.gid);
  const data = join(folder, 'data');
  const made = ['-D', data, '-U', 'bench', '-A', 'trust', '--no-sync'];
  const making = run(pathOf('initdb'), made, { cwd: folder, ...owner });
  const callOff = () => making.child.kill('SIGKILL');
  process.prependOnceListener('exit', callOff);
  await making;
  process.removeListener('exit', callOff);
  const server = await started('postgres', folder, (port) => {
    const at = ['-k', folder, '-h', '127.0.0.1', '-p', `${port}`, '-D', data];
    const args = [...at, '-c', 'shared_buffers=512MB', '-c', 'max_connections=300'];
    // It waits for its clients at a SIGTERM.
    return { path: pathOf('postgres'), args, ...(owner && { owner }), signal: 'SIGINT' };
  });
  const { port } = new URL(server.url);
  // Its port is open before it takes sessions.
  const asked = ['-h', '127.0.0.1', '-p', port, '-U', 'bench', '-d', 'postgres'];
  const isReady = () =>
    run(pathOf('pg_isready'), asked).then(
      () => true,
      () => false,
    );
  while (!(await isReady())) await delay(50);
  let count = 0;
  const fresh = async (): Promise<string> => {
    const database = `bench_${++count}`;
    const at = ['-h', '127.0.0.1', '-p', port, '-U', 'bench', '--maintenance-db=postgres'];
    await run(pathOf('createdb'), [...at, database]);
    return `postgres://bench@127.0.0.1:${port}/${database}`;
  };
  return {
    url: server.url,
    get hasEnded() {
      return server.hasEnded;
    },
    fresh,
    stop: () => server.stop(),
  };
}
