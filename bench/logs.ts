/** How long submits wait, one by one, whose tasks run, while one executor logs without a pause; and before that. */
import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from '@soda-scheduler/client';
import { type Probed, submitAndProbe } from './probe.ts';
import { start, startMaster } from './system.ts';

const EXECUTOR_COUNT = 64;

export interface LogsMeasured {
  readonly before: Probed;
  readonly meanwhile: Probed;
  /** What there was to be read of the log afterwards, and what was not. */
  readonly keptCount: number;
  readonly droppedCount: number;
}

export async function measureLogs(
  databaseUrl: string | null,
  { linesPerSecond, seconds }: { readonly linesPerSecond: number; readonly seconds: number },
): Promise<LogsMeasured> {
  const master = await startMaster(databaseUrl);
  const { url } = master;
  const fleet = start('./fleet.ts', [url, String(EXECUTOR_COUNT)]);
  await fleet.message();
  const client = createClient({ url });
  await submitAndProbe(url, delay(1_000));
  const before = await submitAndProbe(url, delay(seconds * 1000));
  const logger = start('./logger.ts', [url, String(linesPerSecond)]);
  const talks = logger.message();
  const { task_id } = await client.submit({ type: 'talk' }, { group: 'bench' });
  await talks;
  const meanwhile = await submitAndProbe(url, delay(seconds * 1000));
  let [keptCount, droppedCount] = [0, 0];
  const onDropped = (count: number) => (droppedCount += count);
  for await (const _ of client.logs(task_id, { limit: 1_000 }, { onDropped })) keptCount += 1;
  await logger.stop();
  await fleet.stop();
  await master.stop();
  return { before, meanwhile, keptCount, droppedCount };
}
