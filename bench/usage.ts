/** Whether usage equals a recount in SQL after many random tasks, killed masters, retries and deletes; and how long both take. */
import { deepStrictEqual } from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import type Table from 'cli-table3';
import { RandomTasks } from '../test/helpers/usage/random-tasks.ts';
import { asCounted, asTold, runTimes } from '../test/helpers/usage/recount.ts';
import { openCountedStore } from '../test/integration/store/counted-store.ts';
import { type Scenario, StoreTable } from './scenario.ts';
import { makeFolder } from './system.ts';

const TASK_COUNT = 1_000_000;

interface UsageMeasured {
  readonly ranMs: number;
  readonly killCount: number;
  /** How many figures other than zero were compared, each of a day, a type and a group. */
  readonly figureCount: number;
  /** What a report reads, and what it takes to count again what it says. */
  readonly readMs: number;
  readonly recountMs: number;
}

/** @throws AssertionError naming each figure that differs. */
async function measureUsage(databaseUrl: string | null, taskCount: number): Promise<UsageMeasured> {
  const folder = await makeFolder();
  const { store, readers } = openCountedStore(
    databaseUrl ?? `sqlite:${path.join(folder, 'soda.db')}`,
  );
  const tasks = new RandomTasks(store, 1, { executorCount: 400, roundsOfMaster: 100 });
  const begunAt = performance.now();
  await store.open(tasks.clock.now());
  await tasks.run(taskCount);
  await store.foldUsage();
  const ranAt = performance.now();
  const counted = await asCounted(readers);
  const readAt = performance.now();
  deepStrictEqual(counted, await asTold(readers));
  const [countedMs, ms] = await runTimes(readers);
  deepStrictEqual(countedMs, ms);
  const recountedAt = performance.now();
  await store.close();
  await rm(folder, { recursive: true, force: true });
  return {
    ranMs: ranAt - begunAt,
    killCount: tasks.killCount,
    figureCount: Object.keys(counted).length,
    readMs: readAt - ranAt,
    recountMs: recountedAt - readAt,
  };
}

export async function compareUsage({ stores, scale }: Scenario): Promise<Table.Table> {
  const table = new StoreTable(stores);
  const count = TASK_COUNT * scale;
  await table.row(`usage of ${count} random tasks`, async (url) => {
    const { ranMs, killCount, figureCount, ...took } = await measureUsage(url, count);
    return (
      `equal in ${figureCount} figures, ${killCount} kills\n` +
      `ran ${(ranMs / 1000).toFixed(0)} s, read in ${took.readMs.toFixed(0)} ms, ` +
      `counted again in ${(took.recountMs / 1000).toFixed(1)} s`
    );
  });
  return table.table;
}
