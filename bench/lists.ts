/**
 * How long submits wait while people list: 60 of them look through days of history by a filter that
 * finds nothing, while tasks are submitted one by one and run.
 */
import { Agent } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type Table from 'cli-table3';
import { fillHistory } from './history.ts';
import { percentiles, type Probed, read, submitAndProbe } from './probe.ts';
import { type Scenario, StoreTable } from './scenario.ts';
import { makeFolder, start, startMaster } from './system.ts';

const LISTER_COUNT = 60;
const EXECUTOR_COUNT = 64;
const DAY_COUNT = 4;
const ENDED_COUNT = 300_000;
const SECONDS = 20;

interface Listed extends Probed {
  /** Answers to lists, by their status. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly lostLeaseCount: number;
}

async function measureLists(
  databaseUrl: string | null,
  { endedCount, seconds }: { readonly endedCount: number; readonly seconds: number },
): Promise<Listed> {
  const folder = await makeFolder();
  const url = databaseUrl ?? `sqlite:${folder}/soda.db`;
  await fillHistory(url, { taskCount: endedCount, dayCount: DAY_COUNT });
  const master = await startMaster(databaseUrl, folder);
  const fleet = start('./fleet.ts', [master.url, String(EXECUTOR_COUNT)]);
  await fleet.message();
  await submitAndProbe(master.url, delay(1_000));
  const listers = start('./listers.ts', [master.url, String(LISTER_COUNT)]);
  const waits = await submitAndProbe(master.url, delay(seconds * 1000));
  const { statuses } = await listers.ask<Pick<Listed, 'statuses'>>();
  await listers.stop();
  const lostLeaseCount = await countLostLeases(master.url);
  await fleet.stop();
  await master.stop();
  return { ...waits, statuses, lostLeaseCount };
}

async function countLostLeases(url: string): Promise<number> {
  const metrics = await read(new Agent(), `${url}/metrics`);
  return Number(/^scheduler_leases_expired_total(?:\{.*\})? (\d+)/m.exec(metrics)?.[1] ?? 0);
}

export async function compareLists({ stores, scale }: Scenario): Promise<Table.Table> {
  const table = new StoreTable(stores);
  const wanted = { endedCount: ENDED_COUNT * scale, seconds: Math.max(4, SECONDS * scale) };
  await table.row(`60 list ${wanted.endedCount} ended tasks`, async (url) => {
    const { submitMs, livezMs, statuses, lostLeaseCount } = await measureLists(url, wanted);
    return (
      `submit ${percentiles(submitMs)}\n/livez ${percentiles(livezMs)}\n` +
      `lists ${JSON.stringify(statuses)}, leases lost: ${lostLeaseCount}`
    );
  });
  return table.table;
}
