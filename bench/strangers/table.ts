/** What the others wait for while some do their worst: send what is large, or never answer. */
import type Table from 'cli-table3';
import { percentiles } from '../probe.ts';
import { type Scenario, StoreTable } from '../scenario.ts';
import { BODY_COUNT, measureBodies } from './bodies.ts';
import { HANGING_COUNT, measureReceivers } from './receivers.ts';

const SECONDS = 20;
const MIB = 1_024 * 1_024;

export async function compareStrangers({ stores, scale }: Scenario): Promise<Table.Table> {
  const table = new StoreTable(stores);
  const seconds = Math.max(4, SECONDS * scale);
  await table.row(`${BODY_COUNT} bodies of 8 MiB at once`, async (url) => {
    const { submitMs, livezMs, statuses, moreBytes } = await measureBodies(url, seconds);
    return (
      `/livez ${percentiles(livezMs)}\nsubmit ${percentiles(submitMs)}\n` +
      `bodies ${JSON.stringify(statuses)}, ${Math.round(moreBytes / MIB)} MiB more`
    );
  });
  const hostCount = HANGING_COUNT * scale;
  await table.row(`${hostCount} receivers that hang`, async (url) => {
    const { callbackMs, hungCount } = await measureReceivers(url, { hostCount, seconds });
    return `callback of another ${percentiles(callbackMs)}\n${hungCount} connections hung`;
  });
  return table.table;
}
