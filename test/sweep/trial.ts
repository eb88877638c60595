/**
 * One fault at one start of a master, which is a process. Then the master starts again, in this one and
 * without a fault, and must become ready, have what was accepted, accept more, and bring all of it to
 * its end.
 */
import { createClient, type SodaClient } from '@soda-scheduler/client';
import { loadConfig, runMaster } from '@soda-scheduler/master';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { RawExecutor } from '../helpers/raw-executor.ts';
import { SystemProcess } from '../helpers/system/process.ts';
import { eventually } from '../helpers/system/wait.ts';
import type { Start } from './starts.ts';
import { callsTo, type Fault, faulty, KINDS, liftFault, recording, wasInjected } from './strace.ts';

const SODA = fileURLToPath(new URL('../../cli/bin/soda.js', import.meta.url));
/** Until a test gives up; a busy machine is slow, and strace makes it slower. */
const PATIENCE_MS = 90_000;
/** What a master says of a store that it cannot open yet. */
export const WAITS = 'the store does not answer yet';

/**
 * `unharmed`: the fault did not take place, the process did something else in that call. `ended`: it
 * gave up by itself before it listened. After that it must not: whoever dials it is told to wait.
 */
export type Effect = 'unharmed' | 'killed' | 'recovered' | 'ended';

/** What a fault can be put into, in the order in which it happens. */
export async function faultsOf(start: Start): Promise<Fault[]> {
  return inFolder(start, async (folder, spawn) => {
    const log = join(folder, 'strace.log');
    const master = spawn('recorded', recording(log));
    await ready(master);
    await master.end('SIGKILL');
    const calls = await callsTo(join(folder, 'data'), log);
    return calls.flatMap((call) => KINDS.map((kind) => ({ kind, ...call })));
  });
}

/** @throws with all that was said, if something accepted is lost or the master does not serve. */
export async function tryFault(start: Start, fault: Fault): Promise<Effect> {
  return inFolder(start, async (folder, spawn) => {
    const log = join(folder, 'strace.log');
    const first = spawn('faulty', faulty(fault, log));
    const effect = await effectOf(first, fault, log);
    const accepted = [...start.kept];
    if (effect === 'recovered') accepted.push(await submit(clientOf(urlOf(first)), 'survivor'));
    await first.end('SIGKILL');

    await withHealthyMaster(join(folder, 'data'), async (url) => {
      accepted.push(await submit(clientOf(url), 'another'));
      await bringToEnd(url, accepted);
    });
    return effect;
  });
}

async function withHealthyMaster(
  dataDir: string,
  work: (url: string) => Promise<void>,
): Promise<void> {
  const outcome = loadConfig({ env: { SODA_DATA_DIR: dataDir, SODA_PORT: '0' }, flags: {} });
  if ('problems' in outcome) throw new Error(outcome.problems.join());
  const log = new PassThrough({ encoding: 'utf8' });
  let said = '';
  log.on('data', (text: string) => (said += text));
  try {
    const master = await runMaster(outcome.config, { logTo: log });
    try {
      await work(master.url);
    } finally {
      await master.stop();
    }
  } catch (cause) {
    throw new Error(`${String(cause)}\nhealthy:\n${said}`, { cause });
  }
}

async function effectOf(master: SystemProcess, fault: Fault, log: string): Promise<Effect> {
  const isOver = async () => master.exit !== null || (await isReady(master));
  if (fault.kind === 'ENOSPC') {
    const waits = () => master.lines.some(({ fields }) => fields['msg'] === WAITS);
    await eventually('a full disk was met', async () => waits() || (await isOver()), PATIENCE_MS);
    await liftFault(master);
  }
  await eventually(`${master.name} is ready, or has ended`, isOver, PATIENCE_MS);
  if (master.exit?.signal === 'SIGKILL') return 'killed';
  if (master.exit !== null) {
    if (listens(master)) throw new Error(`${master.name} gave up`);
    return 'ended';
  }
  return fault.kind !== 'kill' && (await wasInjected(log)) ? 'recovered' : 'unharmed';
}

/** An executor that does whatever it is given, until these tasks have succeeded. */
async function bringToEnd(url: string, taskIds: readonly string[]): Promise<void> {
  const client = clientOf(url);
  const executor = await RawExecutor.join(Number(new URL(url).port), { types: ['work'] });
  try {
    for (let count = 0; count < taskIds.length; count += 1) {
      const { task, seq } = await executor.next('assign');
      const about = { ack: seq, task_id: task.id, attempt: task.attempt };
      executor.send({ type: 'accept', seq: count * 2 + 1, ...about });
      executor.send({ type: 'result', seq: count * 2 + 2, ...about, outcome: 'succeeded' });
    }
    for (const taskId of taskIds) {
      const hasSucceeded = async () => (await client.get(taskId)).state === 'succeeded';
      await eventually(`${taskId} has succeeded`, hasSucceeded, PATIENCE_MS);
    }
  } finally {
    executor.socket.terminate();
    await executor.closed;
  }
}

type Spawn = (name: string, under?: readonly string[]) => SystemProcess;

async function inFolder<T>(
  start: Start,
  work: (folder: string, spawn: Spawn) => Promise<T>,
): Promise<T> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'soda-sweep-')));
  const data = join(folder, 'data');
  const spawned: SystemProcess[] = [];
  const spawn: Spawn = (name, under = []) => {
    const env = { SODA_DATA_DIR: data, SODA_PORT: '0' };
    const started = new SystemProcess({ name, args: [SODA, 'master'], under, env });
    spawned.push(started);
    return started;
  };
  try {
    await start.prepare(data);
    return await work(folder, spawn);
  } catch (cause) {
    const report = spawned.map((started) => started.tail()).join('\n');
    throw new Error(`${String(cause)}\n${report}`, { cause });
  } finally {
    await Promise.all(spawned.map((started) => started.end('SIGKILL')));
    await rm(folder, { recursive: true, force: true });
  }
}

const listens = (master: SystemProcess) => master.lines.some(({ fields }) => 'url' in fields);

function urlOf(master: SystemProcess): string {
  const url = master.lines.find(({ fields }) => 'url' in fields)?.fields['url'];
  if (typeof url !== 'string') throw new Error(`${master.name} does not listen yet`);
  return url;
}

async function isReady(master: SystemProcess): Promise<boolean> {
  try {
    return (await fetch(`${urlOf(master)}/readyz`)).ok;
  } catch {
    return false;
  }
}

function ready(master: SystemProcess): Promise<true> {
  return eventually(
    `${master.name} is ready`,
    async () => {
      master.expectAlive();
      return isReady(master);
    },
    PATIENCE_MS,
  );
}

const clientOf = (url: string): SodaClient => createClient({ url, retryCount: 0 });

async function submit(client: SodaClient, id: string): Promise<string> {
  await client.submit({ id, type: 'work' }, { group: 'sweep' });
  return id;
}
