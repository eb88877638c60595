/**
 * How long one command takes that cancels many waiting tasks by a filter, and how long submits wait meanwhile,
 * one by one, whose tasks run; and what as many commands do to the event loop as come at once for tasks that are not in memory.
 */
import { Agent } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from '@soda-scheduler/client';
import { API_BASE } from '@soda-scheduler/protocol';
import type Table from 'cli-table3';
import { load, post } from './load.ts';
import { percentiles, type Probed, submitAndProbe } from './probe.ts';
import { median, type Scenario, StoreTable } from './scenario.ts';
import { start, startMaster } from './system.ts';

const EXECUTOR_COUNT = 64;
const TYPE = 'nobody';
const QUIET_MS = 4_000;
const TASK_COUNT = 100_000;
const COMMAND_COUNT = 1_000;
const CONNECTION_COUNT = 64;
/** In the store alone; that many wait before them. */
const WAITING_COUNT = 5_000;

interface BulkMeasured {
  /** From the token of the preview to the end. */
  readonly tookMs: number;
  /** Of the same submits while nothing else went on. */
  readonly before: Probed;
  readonly meanwhile: Probed;
}

async function measureBulk(databaseUrl: string | null, taskCount: number): Promise<BulkMeasured> {
  const master = await startMaster(databaseUrl);
  const fleet = start('./fleet.ts', [master.url, String(EXECUTOR_COUNT)]);
  await fleet.message();
  const { url } = master;
  await load({ url, type: TYPE, taskCount, clientCount: 4, batchCount: 500, notifyUrl: null });
  const before = await submitAndProbe(url, delay(QUIET_MS));
  const begun = performance.now();
  let tookMs = 0;
  const canceled = cancelAll(url, taskCount).then(() => (tookMs = performance.now() - begun));
  const meanwhile = await submitAndProbe(url, canceled);
  await fleet.stop();
  await master.stop();
  return { tookMs, before, meanwhile };
}

async function cancelAll(url: string, taskCount: number): Promise<void> {
  const { operations } = createClient({ url });
  const bulk = { action: 'cancel', filter: { type: TYPE } } as const;
  const { token } = await operations.preview(bulk);
  const over = await operations.wait(await operations.begin(bulk, token));
  if (over.done !== taskCount) throw new Error(`${over.done} of ${taskCount} tasks were canceled`);
}

/** Milliseconds: the longest that the event loop stood still in each round, flushes of the disk and garbage included. */
async function measureCommands(databaseUrl: string | null, roundCount: number): Promise<number[]> {
  const master = await startMaster(databaseUrl, undefined, { SODA_LANE_WINDOW: '1000' });
  const { url } = master;
  await load({
    url,
    type: TYPE,
    taskCount: WAITING_COUNT,
    clientCount: 4,
    batchCount: 500,
    notifyUrl: null,
  });
  const client = createClient({ url });
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTION_COUNT });
  const gapsMs: number[] = [];
  for (let round = 0; round < roundCount; round++) {
    const ids = Array.from({ length: COMMAND_COUNT }, (_, index) => `command-${round}-${index}`);
    await Promise.all(ids.map((id) => client.submit({ id, type: TYPE }, { group: 'bench' })));
    await delay(QUIET_MS);
    await master.ask();
    await Promise.all(ids.map((id) => post(agent, url, `${API_BASE}/task/${id}/cancel`, '{}')));
    gapsMs.push((await master.ask<{ gapMs: number }>()).gapMs);
  }
  agent.destroy();
  await master.stop();
  return gapsMs;
}

export async function compareBulk({ stores, scale, roundCount }: Scenario): Promise<Table.Table> {
  const table = new StoreTable(stores);
  const count = TASK_COUNT * scale;
  await table.row(`one command cancels ${count} waiting tasks`, async (url) => {
    const { tookMs, before, meanwhile } = await measureBulk(url, count);
    return (
      `${(tookMs / 1000).toFixed(1)} s\nsubmit ${percentiles(meanwhile.submitMs)}\n` +
      `before ${percentiles(before.submitMs)}\n/livez ${percentiles(meanwhile.livezMs)}`
    );
  });
  await table.row(`${COMMAND_COUNT} commands at once`, async (url) => {
    const gapsMs = await measureCommands(url, roundCount);
    const [least, most] = [Math.min(...gapsMs), Math.max(...gapsMs)];
    const range = `(${least.toFixed(1)} to ${most.toFixed(1)})`;
    return `longest gap of the loop ${median(gapsMs).toFixed(1)} ms ${range}`;
  });
  return table.table;
}
