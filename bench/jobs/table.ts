/** `--jobs`: how late runs come, what triggers cost that are not due, and a master that was away. */
import type Table from 'cli-table3';
import { percentiles } from '../probe.ts';
import { type Scenario, StoreTable } from '../scenario.ts';
import { measureAbsence, measureIdle, measurePunctual } from './measure.ts';

const TRIGGER_COUNT = 100_000;
const IDLE_SECONDS = 10;

export async function compareJobs({ stores, scale }: Scenario): Promise<Table.Table> {
  const table = new StoreTable(stores);
  const triggerCount = TRIGGER_COUNT * scale;
  const idleSeconds = Math.max(4, IDLE_SECONDS * scale);
  for (const count of [0, triggerCount]) {
    await table.row(`idle, with ${count} triggers`, async (url) => {
      const idle = await measureIdle(url, { count, seconds: idleSeconds });
      const memory = `${Math.round(idle.rssBytes / 1e6)} MB`;
      return `${idle.cpuMs.toFixed(0)} ms of CPU a second, ${memory}`;
    });
  }
  await table.row('1000 due in one second: late by', async (url) => {
    const { spreadMs, atOnceMs, cpuUs } = await measurePunctual(url, triggerCount);
    const cpu = `${Math.round(cpuUs)} µs of CPU a run`;
    return `${percentiles(spreadMs)}\nall at one instant: ${percentiles(atOnceMs)}\n${cpu}`;
  });
  await table.row(`an hour's absence, ${triggerCount} triggers of a minute`, async (url) => {
    const { looked, gapMs, probed } = await measureAbsence(url, triggerCount);
    const seconds = (ms: number): string => (ms / 1_000).toFixed(1);
    const cpu = seconds(looked.cpuUs / 1_000);
    return (
      `${seconds(looked.ms)} s (${cpu} of CPU), ${looked.rowCount} rows\n` +
      `submit ${percentiles(probed.submitMs)}\n/livez ${percentiles(probed.livezMs)}\n` +
      `longest gap ${gapMs.toFixed(0)} ms`
    );
  });
  return table.table;
}
