/** Starts what a scenario needs, each in its own process, and ends it again. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';

export interface Child {
  /** The next message of the process. */
  message<T>(): Promise<T>;
  /** What it answers to this. */
  ask<T>(about?: object | number | 'report'): Promise<T>;
  stop(): Promise<void>;
  /** At once: it cannot say anything more. */
  kill(): Promise<void>;
}

export interface BenchMaster extends Child {
  readonly url: string;
}

const running = new Set<ChildProcess>();
const folders: string[] = [];
// A scenario that fails, or is broken off, leaves nothing behind.
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
  const how = { recursive: true, force: true, maxRetries: 10, retryDelay: 10 };
  for (const folder of folders) rmSync(folder, how);
});

const toldToEnd = new WeakSet<ChildProcess>();
let onLost: (error: Error) => void = () => undefined;

/** Rejects when a process ends from now on that nobody has told to: others may wait for it without an end. */
export function whenLost(): Promise<never> {
  return new Promise((_, reject) => {
    onLost = reject;
  });
}

/** Ends whatever still runs of a measurement that failed. */
export async function endAll(): Promise<void> {
  await Promise.all([...running].map((child) => end(child, 'SIGKILL')));
}

export function start(script: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Child {
  const child = fork(new URL(script, import.meta.url), [...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  running.add(child);
  child.once('exit', (code, signal) => {
    running.delete(child);
    if (!toldToEnd.has(child))
      onLost(new Error(`${script} of the benchmark ended with ${code ?? signal}`));
  });
  const message = async <T>(): Promise<T> => (await nextMessage(child)) as T;
  return {
    message,
    ask: <T>(about: object | number | 'report' = 'report') => {
      const answer = message<T>();
      child.send(about);
      return answer;
    },
    stop: () => end(child, 'SIGTERM'),
    kill: () => end(child, 'SIGKILL'),
  };
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  toldToEnd.add(child);
  const exited = once(child, 'exit');
  child.kill(signal);
  await exited;
}

async function nextMessage(child: ChildProcess): Promise<unknown> {
  const done = new AbortController();
  const ended = once(child, 'exit', done).then(([code]) => {
    throw new Error(`a process of the benchmark ended with ${String(code)}`);
  });
  const [message] = (await Promise.race([once(child, 'message', done), ended])) as [unknown];
  ended.catch(() => undefined);
  done.abort();
  return message;
}

/** For the data of a master; it goes with this process at the latest. */
export async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'soda-bench-'));
  folders.push(folder);
  return folder;
}

/** `databaseUrl` null: the embedded store. `stop` removes the folder. `env` goes before all else. */
export async function startMaster(
  databaseUrl: string | null,
  folder?: string,
  env: NodeJS.ProcessEnv = {},
  { script = './master.ts', args = [] as readonly string[] } = {},
): Promise<BenchMaster> {
  folder ??= await makeFolder();
  const child = start(script, args, {
    SODA_PORT: '0',
    SODA_DATA_DIR: folder,
    SODA_NOTIFY_ALLOW: '127.0.0.1',
    SODA_LOG_LEVEL: 'warn',
    ...(databaseUrl === null ? {} : { SODA_DATABASE_URL: databaseUrl }),
    ...env,
  });
  const { url } = await child.message<{ url: string }>();
  return {
    ...child,
    url,
    stop: async () => {
      await child.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Answers every callback 200 and counts them. */
export interface Sink {
  readonly url: string;
  /** Resolves when so many callbacks have come since the last call. */
  count(wanted: number): Promise<void>;
  close(): void;
}

export async function startSink(): Promise<Sink> {
  let received = 0;
  let wanted = Number.POSITIVE_INFINITY;
  let done: () => void = () => undefined;
  const server: Server = createServer((request, response) => {
    request.resume();
    request.on('end', () => {
      response.end();
      if (++received >= wanted) done();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/done`,
    count: (countWanted) => {
      received = 0;
      wanted = countWanted;
      return new Promise((resolve) => {
        done = resolve;
      });
    },
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
