/** How long others wait from submit to start while one executor logs without a pause, and while it does not, in turn. */
import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from '@soda-scheduler/client';
import type Table from 'cli-table3';
import { percentiles, type Probed, submitAndProbe } from './probe.ts';
import { type Scenario, StoreTable } from './scenario.ts';
import { start, startMaster } from './system.ts';

const LOGS = { linesPerSecond: 10_000, turnCount: 5, seconds: 4 };

/** Each list of milliseconds is sorted. */
interface Waits extends Probed {
  /** From each submit to the first line of the handler. */
  readonly startMs: readonly number[];
}

interface LogsMeasured {
  readonly quiet: Waits;
  readonly meanwhile: Waits;
  /** What there was to be read of the logs afterwards, and what was not. */
  readonly keptCount: number;
  readonly droppedCount: number;
}

async function measureLogs(
  databaseUrl: string | null,
  wanted: {
    readonly linesPerSecond: number;
    /** With the log, and as often without; so whatever else the machine does falls on both. */
    readonly turnCount: number;
    readonly seconds: number;
  },
): Promise<LogsMeasured> {
  const master = await startMaster(databaseUrl);
  const { url } = master;
  const other = start('./speed/handler.ts', [url]);
  const logger = start('./logger.ts', [url, String(wanted.linesPerSecond)]);
  const client = createClient({ url });
  let seenCount = 0;
  const probe = async (seconds: number): Promise<Waits> => {
    const timed = () => ({
      type: 'timed',
      params: { sentAt: performance.timeOrigin + performance.now() },
    });
    const probed = await submitAndProbe(url, delay(seconds * 1000), timed);
    for (const end = seenCount + probed.submitMs.length; ; await delay(50)) {
      const { waitedMs } = await other.ask<{ waitedMs: number[] }>();
      if (waitedMs.length < end) continue;
      const startMs = waitedMs.slice(seenCount);
      seenCount = end;
      return { ...probed, startMs };
    }
  };
  await probe(2);
  const [quiet, meanwhile]: [Waits[], Waits[]] = [[], []];
  let [keptCount, droppedCount] = [0, 0];
  const onDropped = (count: number) => (droppedCount += count);
  for (let turn = 0; turn < wanted.turnCount; turn++) {
    quiet.push(await probe(wanted.seconds));
    const talks = logger.message();
    const { task_id } = await client.submit({ type: 'talk' }, { group: 'bench' });
    await talks;
    meanwhile.push(await probe(wanted.seconds));
    await client.cancel(task_id);
    await client.wait(task_id);
    for await (const _ of client.logs(task_id, { limit: 1_000 }, { onDropped })) keptCount += 1;
  }
  await logger.stop();
  await other.stop();
  await master.stop();
  return { quiet: together(quiet), meanwhile: together(meanwhile), keptCount, droppedCount };
}

function together(turns: readonly Waits[]): Waits {
  const of = (name: keyof Waits) => turns.flatMap((turn) => turn[name]).sort((a, b) => a - b);
  return { startMs: of('startMs'), submitMs: of('submitMs'), livezMs: of('livezMs') };
}

export async function compareLogs({ stores, roundCount }: Scenario): Promise<Table.Table> {
  const table = new StoreTable(stores);
  const wanted = { ...LOGS, turnCount: roundCount > 1 ? LOGS.turnCount : 1 };
  await table.row(`one executor logs ${LOGS.linesPerSecond} lines a second`, async (url) => {
    const { quiet, meanwhile, ...lines } = await measureLogs(url, wanted);
    return (
      `start ${percentiles(meanwhile.startMs)}\nwithout ${percentiles(quiet.startMs)}\n` +
      `submit ${percentiles(meanwhile.submitMs)}\nwithout ${percentiles(quiet.submitMs)}\n` +
      `/livez ${percentiles(meanwhile.livezMs)}\nwithout ${percentiles(quiet.livezMs)}\n` +
      `lines kept: ${lines.keptCount}, dropped: ${lines.droppedCount}`
    );
  });
  return table.table;
}
