/**
 * How long one command takes that cancels many waiting tasks by a filter, and how long submits wait meanwhile,
 * one by one, whose tasks run; and what as many commands do to the event loop as come at once for tasks that are not in memory.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from '@soda-scheduler/client';
import type Table from 'cli-table3';
import { load } from '../load.ts';
import { percentiles, type Probed, submitAndProbe } from '../probe.ts';
import { rangeOf, type Scenario, StoreTable } from '../scenario.ts';
import { start, startMaster } from '../system.ts';
import { COMMAND_COUNT, measureCommands } from './commands.ts';
import type { LoopReport } from './master.ts';

const EXECUTOR_COUNT = 64;
const TYPE = 'nobody';
const QUIET_MS = 4_000;
const TASK_COUNT = 100_000;
const KIB = 1_024;
const PARAMS_BYTES = [KIB, 20 * KIB];

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
  for (const paramsBytes of PARAMS_BYTES) {
    const params = `params of ${paramsBytes / KIB} KiB`;
    await table.row(`${COMMAND_COUNT} commands at once\n${params}`, async (url) => {
      const reports = await measureCommands(url, paramsBytes, 1 + roundCount);
      return [...reports].map(([command, of]) => `${command}: ${held(of)}`).join('\n');
    });
  }
  return table.table;
}

/** Milliseconds, of processor time and of gaps of the loop; what a master takes at first, which has not compiled its code yet, by itself. */
function held([first, ...others]: readonly LoopReport[]): string {
  const heldMs = rangeOf(
    others.map((report) => report.heldMs),
    1,
  );
  const gapMs = rangeOf(
    others.map((report) => report.gapMs),
    1,
  );
  return `loop held for ${heldMs} ms, gap ${gapMs}\nheld at first for ${first?.heldMs.toFixed(1)}`;
}
