/** `--scale`: what a master costs as the work grows, each time beside one that has nothing else. */
import type Table from 'cli-table3';
import { percentile } from '../probe.ts';
import { type Scenario, StoreTable } from '../scenario.ts';
import { type Cost, measureDepth, measureFleet, measureHistory } from './measure.ts';

const TASK_COUNT = 20_000;
const WAITING_COUNTS = [0, 100_000, 1_000_000];
const WAITING_MOST = 10_000_000;
const FLEET_COUNTS = [64, 1_000, 10_000];
const ENDED_COUNTS = [0, 2_000_000];
const ENDED_MOST = 20_000_000;

/** @param most also ten million that wait and twenty million that have ended: half an hour, and some 30 GB. */
export async function compareScale(
  { stores, scale }: Scenario,
  { most }: { readonly most: boolean },
): Promise<Table.Table> {
  const table = new StoreTable(stores);
  const scaled = (count: number): number => Math.ceil((count * scale) / 1_000) * 1_000;
  const taskCount = scaled(TASK_COUNT);
  const waiting = first();
  for (const count of [...WAITING_COUNTS, ...(most ? [WAITING_MOST] : [])].map(scaled)) {
    await table.row(`${count.toLocaleString('en')} wait`, async (url) => {
      const { submitMs, urgentMs, ...of } = await measureDepth(url, count, taskCount);
      return [
        waiting(url, of),
        `submit ${both(submitMs)}, urgent ${both(urgentMs)}`,
        `ready ${seconds(of.readyMs)}; after kill -9 the first ${seconds(of.firstMs)}, all known ${seconds(of.learntMs)}`,
      ].join('\n');
    });
  }
  const connected = first();
  for (const count of FLEET_COUNTS) {
    await table.row(`${count.toLocaleString('en')} executors`, async (url) => {
      const { idleUs, bytesEach, ...of } = await measureFleet(url, count, taskCount);
      const each = `${(bytesEach / 1_024).toFixed(1)} KiB each`;
      return `${connected(url, of)}\nidle ${(idleUs / 1_000).toFixed(0)} ms a second, ${each}`;
    });
  }
  const ended = first();
  for (const count of [...ENDED_COUNTS, ...(most ? [ENDED_MOST] : [])].map(scaled)) {
    await table.row(`${count.toLocaleString('en')} have ended`, async (url) => {
      const { learntMs, ...cost } = await measureHistory(url, count, taskCount);
      return `${ended(url, cost)}\nall known after ${seconds(learntMs)}`;
    });
  }
  return table.table;
}

/** Words for a cost, beside the first that was measured on the same kind of store. */
function first(): (databaseUrl: string | null, cost: Cost) => string {
  const firsts = new Map<boolean, number>();
  return (databaseUrl, { cpuUs, tasksPerSecond, rssBytes }) => {
    const isEmbedded = databaseUrl === null;
    const beside = firsts.get(isEmbedded) ?? cpuUs;
    firsts.set(isEmbedded, beside);
    const ratio = (cpuUs / beside).toFixed(2);
    const megabytes = Math.round(rssBytes / 1e6);
    return `${Math.round(cpuUs)} µs a task: ${ratio}x, ${Math.round(tasksPerSecond)}/s, ${megabytes} MB`;
  };
}

const both = (sorted: readonly number[]): string =>
  `p50 ${percentile(sorted, 0.5)} p99 ${percentile(sorted, 0.99)} ms`;
const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
