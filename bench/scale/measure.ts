/**
 * What grows, and what it must not cost: tasks that wait, executors that are connected, tasks that have ended. Each
 * figure is of a master of its own, after a round that is not counted.
 */
import { Agent } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { API_BASE } from '@soda-scheduler/protocol';
import { load } from '../load.ts';
import { fillStore, RETENTION } from '../pages/fill.ts';
import { knowsIds } from '../pages/measure.ts';
import { read, submitAndProbe } from '../probe.ts';
import { type BenchMaster, type Child, makeFolder, start, startMaster } from '../system.ts';
import { BACKLOG_TYPE, fillBacklog } from './backlog.ts';
import type { Budget, Place as MasterPlace, Ran } from './executors.ts';

const BUSY_COUNT = 64;
const WARM_COUNT = 5_000;
const PROBE_MS = 10_000;
/** So that some executor is free every 8 ms, and the urgent tasks take less than half of them. */
const TASK_MS = 500;

export interface Cost {
  /** Processor time of the master for a task that was submitted and one that ran, in microseconds. */
  readonly cpuUs: number;
  readonly tasksPerSecond: number;
  readonly rssBytes: number;
}

export interface Depth extends Cost {
  /** Until the master is ready. */
  readonly readyMs: number;
  /** Milliseconds, sorted: from each submit of an urgent task to its 202, and to its start. */
  readonly submitMs: readonly number[];
  readonly urgentMs: readonly number[];
  /** From the start of a master whose predecessor was killed, to the first task, and until all ids are known. */
  readonly firstMs: number;
  readonly learntMs: number;
}

interface Report {
  readonly cpuUs: number;
  readonly rssBytes: number;
}

interface Place {
  readonly url: string;
  readonly folder: string;
}

async function placeOf(databaseUrl: string | null): Promise<Place> {
  const folder = await makeFolder();
  return { folder, url: databaseUrl ?? `sqlite:${folder}/soda.db` };
}

/** Resolves when their process is up; they are not connected yet. */
async function startExecutors({
  busyCount = BUSY_COUNT,
  idleCount = 0,
  taskMs = 0,
} = {}): Promise<Child> {
  const executors = start('./scale/executors.ts', [busyCount, idleCount, taskMs].map(String));
  await executors.message();
  return executors;
}

/** Resolves when all are. */
const connect = (executors: Child, { url }: BenchMaster): Promise<unknown> =>
  executors.ask({ url } satisfies MasterPlace);

/** Executors that go with a task in hand are no news here. */
const QUIET = { ...RETENTION, SODA_LOG_LEVEL: 'error' };

async function readyMaster({ url, folder }: Place): Promise<BenchMaster> {
  const master = await startMaster(url, folder, QUIET);
  const agent = new Agent({ keepAlive: true });
  while (!(await read(agent, `${master.url}/readyz`)).includes('"ready"')) await delay(5);
  agent.destroy();
  return master;
}

/** As many run as are submitted, so that those that wait stay as many. */
async function costOf(master: BenchMaster, executors: Child, taskCount: number): Promise<Cost> {
  const run = async (count: number): Promise<void> => {
    const ran = executors.ask<Ran>(count satisfies Budget);
    const loads = { clientCount: 8, batchCount: 100, notifyUrl: null };
    await load({ url: master.url, type: BACKLOG_TYPE, taskCount: count, ...loads });
    await ran;
  };
  await run(WARM_COUNT);
  const before = await master.ask<Report>();
  const begun = performance.now();
  await run(taskCount);
  const seconds = (performance.now() - begun) / 1_000;
  const { cpuUs, rssBytes } = await master.ask<Report>();
  return {
    cpuUs: (cpuUs - before.cpuUs) / taskCount,
    tasksPerSecond: taskCount / seconds,
    rssBytes,
  };
}

/** With so many that wait. */
export async function measureDepth(
  databaseUrl: string | null,
  waitingCount: number,
  taskCount: number,
): Promise<Depth> {
  const place = await placeOf(databaseUrl);
  await fillBacklog(place.url, waitingCount);
  const begun = performance.now();
  const master = await readyMaster(place);
  const readyMs = performance.now() - begun;
  const executors = await startExecutors();
  await connect(executors, master);
  const cost = await costOf(master, executors, taskCount);
  await executors.stop();
  const urgent = await measureUrgent(master);
  await master.kill();
  const restarted = await measureRestart(place);
  return { ...cost, readyMs, ...urgent, ...restarted };
}

/** All executors are busy; where nobody waits, they are idle. */
async function measureUrgent(master: BenchMaster): Promise<Pick<Depth, 'submitMs' | 'urgentMs'>> {
  const executors = await startExecutors({ taskMs: TASK_MS });
  await connect(executors, master);
  const urgentTask = () => ({
    type: BACKLOG_TYPE,
    priority: 'urgent',
    params: { sentAt: performance.timeOrigin + performance.now() },
  });
  const ran = executors.ask<Ran>((BUSY_COUNT * PROBE_MS) / TASK_MS);
  const { submitMs } = await submitAndProbe(master.url, delay(PROBE_MS), urgentTask);
  // What is left of the budget, where nobody waited.
  const filler = { clientCount: 8, batchCount: 100, notifyUrl: null };
  await load({ url: master.url, type: BACKLOG_TYPE, taskCount: WARM_COUNT, ...filler });
  const { waitedMs } = await ran;
  await executors.stop();
  return { submitMs, urgentMs: [...waitedMs].sort((a, b) => a - b) };
}

/** Executors outlive their master: they are there before it is. */
async function measureRestart(place: Place): Promise<Pick<Depth, 'firstMs' | 'learntMs'>> {
  const executors = await startExecutors();
  const begun = performance.now();
  const master = await startMaster(place.url, place.folder, QUIET);
  await connect(executors, master);
  await executors.ask<Ran>(1);
  const firstMs = performance.now() - begun;
  const learntMs = (await allKnownAt(master)) - begun;
  await executors.stop();
  await master.stop();
  return { firstMs, learntMs };
}

async function allKnownAt({ url }: BenchMaster): Promise<number> {
  const agent = new Agent({ keepAlive: true });
  while (!(await knowsIds(agent, url + API_BASE))) await delay(20);
  agent.destroy();
  return performance.now();
}

/** With so many connected, of whom 64 have work. `idleUs`: processor time of the master in a second without any. */
export async function measureFleet(
  databaseUrl: string | null,
  executorCount: number,
  taskCount: number,
): Promise<Cost & { readonly idleUs: number; readonly bytesEach: number }> {
  const master = await readyMaster(await placeOf(databaseUrl));
  const alone = await master.ask<Report>();
  const busyCount = Math.min(BUSY_COUNT, executorCount);
  const executors = await startExecutors({ busyCount, idleCount: executorCount - busyCount });
  await connect(executors, master);
  const connected = await master.ask<Report>();
  await delay(PROBE_MS);
  const idled = await master.ask<Report>();
  const cost = await costOf(master, executors, taskCount);
  await executors.stop();
  await master.stop();
  return {
    ...cost,
    idleUs: (idled.cpuUs - connected.cpuUs) / (PROBE_MS / 1_000),
    bytesEach: (idled.rssBytes - alone.rssBytes) / executorCount,
  };
}

/** With so many that have ended within 30 days. `learntMs`: from the start until all of their ids are known. */
export async function measureHistory(
  databaseUrl: string | null,
  endedCount: number,
  taskCount: number,
): Promise<Cost & { readonly learntMs: number }> {
  const place = await placeOf(databaseUrl);
  if (endedCount > 0) await fillStore(place.url, { liveCount: 0, endedCount });
  const begun = performance.now();
  const master = await readyMaster(place);
  const learntMs = (await allKnownAt(master)) - begun;
  const executors = await startExecutors();
  await connect(executors, master);
  const cost = await costOf(master, executors, taskCount);
  await executors.stop();
  await master.stop();
  return { ...cost, learntMs };
}
