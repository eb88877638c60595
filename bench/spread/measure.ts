/**
 * What it costs that tasks have less in common: as many in one namespace or in many, in one lane or in many. And what
 * namespaces cost in which nothing happens.
 */
import { Agent } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from '@soda-scheduler/client';
import { apiBaseOf, DEFAULT_NAMESPACE } from '@soda-scheduler/protocol';
import { post } from '../load.ts';
import { type BenchMaster, makeFolder, start, startMaster } from '../system.ts';

const EXECUTOR_COUNT = 200;
const CLIENT_COUNT = 8;
const BATCH_COUNT = 20;
const IDLE_MS = 10_000;

export interface Spread {
  /** The default one is among them. */
  readonly namespaceCount: number;
  /** Tasks of each group have a lane of their own. */
  readonly groupCount: number;
}

interface Report {
  readonly cpuUs: number;
  readonly rssBytes: number;
}

/** Processor time of the master for one task, in microseconds: all are submitted, and then all run. */
export async function measureSpread(
  databaseUrl: string | null,
  spread: Spread,
  taskCount: number,
): Promise<number> {
  const master = await startMaster(databaseUrl);
  const namespaces = await makeNamespaces(master, spread.namespaceCount);
  const run = async (count: number): Promise<number> => {
    const before = await master.ask<Report>();
    await submit(master, { namespaces, groupCount: spread.groupCount }, count);
    const fleet = start('./fleet.ts', [master.url, String(EXECUTOR_COUNT), ...namespaces]);
    await fleet.message();
    while ((await fleet.ask<{ finishedCount: number }>()).finishedCount < count) await delay(5);
    const { cpuUs } = await master.ask<Report>();
    await fleet.stop();
    return (cpuUs - before.cpuUs) / count;
  };
  await run(Math.ceil(taskCount / 4));
  const cpuUs = await run(taskCount);
  await master.stop();
  return cpuUs;
}

/** A batch for each namespace in turn; each task of a group of its own, until all groups have one. */
async function submit(
  { url }: BenchMaster,
  { namespaces, groupCount }: { namespaces: readonly string[]; groupCount: number },
  taskCount: number,
): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: CLIENT_COUNT });
  let sentCount = 0;
  const client = async (): Promise<void> => {
    while (sentCount < taskCount) {
      const first = sentCount;
      sentCount = Math.min(first + BATCH_COUNT, taskCount);
      const tasks = Array.from({ length: sentCount - first }, (_, index) => ({
        task: { type: 'noop', params: { input: '/media/in.mp4', outputs: [] } },
        user: { group: `group-${(first + index) % groupCount}` },
      }));
      const namespace = namespaces[(first / BATCH_COUNT) % namespaces.length];
      const path = `${apiBaseOf(namespace ?? DEFAULT_NAMESPACE)}/task/submit-batch`;
      await post(agent, url, path, JSON.stringify({ tasks }));
    }
  };
  await Promise.all(Array.from({ length: CLIENT_COUNT }, client));
  agent.destroy();
}

async function makeNamespaces({ url }: BenchMaster, count: number): Promise<readonly string[]> {
  const client = createClient({ url });
  const made = Array.from({ length: count - 1 }, (_, index) => `namespace-${index}`);
  for (const name of made) await client.setNamespace(name);
  return [DEFAULT_NAMESPACE, ...made];
}

export interface Idle {
  /** Processor time of the master in a second, in microseconds. */
  readonly cpuUs: number;
  readonly rssBytes: number;
}

/** Of a master that has just begun, with so many namespaces. */
export async function measureIdle(
  databaseUrl: string | null,
  namespaceCount: number,
): Promise<Idle> {
  const folder = await makeFolder();
  const first = await startMaster(databaseUrl, folder);
  await makeNamespaces(first, namespaceCount);
  await first.kill();
  const master = await startMaster(databaseUrl, folder);
  // What it does at its start is not of a second.
  await delay(IDLE_MS / 2);
  const before = await master.ask<Report>();
  await delay(IDLE_MS);
  const { cpuUs, rssBytes } = await master.ask<Report>();
  await master.stop();
  return { cpuUs: (cpuUs - before.cpuUs) / (IDLE_MS / 1_000), rssBytes };
}
