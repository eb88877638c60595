/** `--bookings`, as a table: a column for each store. */
import type Table from 'cli-table3';
import { percentile, percentiles } from '../probe.ts';
import { type Scenario, StoreTable } from '../scenario.ts';
import { type Lateness, measureCrowded, measureLoss } from './measure.ts';

const BOOKING_COUNT = 200;
/** A lease is 6 s: of those that die so late the tasks cannot begin on their second. */
const LOST_BEFORE_MS = [10_000, 3_000];
const LOST_COUNT = 20;

function cellOf({ lateMs, missedCount, cpuMs, load }: Lateness): string {
  const max = percentile(lateMs, 1);
  return (
    `${percentiles(lateMs)}\nat most ${max} ms, missed: ${missedCount}\n` +
    `${Math.round(cpuMs)} ms of CPU of the master a second, load ${load.toFixed(1)}`
  );
}

export async function compareBookings({ stores, scale }: Scenario): Promise<Table.Table> {
  const table = new StoreTable(stores, 'late by');
  const row = (name: string, measure: (url: string | null) => Promise<Lateness>) =>
    table.row(name, async (url) => cellOf(await measure(url)));
  const count = BOOKING_COUNT * scale;
  await row(`${count} bookings, all run what is preemptible`, (url) =>
    measureCrowded(url, 'preemptible', count),
  );
  await row(`${count} bookings, all run what is short`, (url) =>
    measureCrowded(url, 'short', count),
  );
  for (const beforeMs of LOST_BEFORE_MS) {
    const loss = { beforeMs, bookingCount: Math.max(5, LOST_COUNT * scale) };
    const name = `${loss.bookingCount} executors killed ${beforeMs / 1_000} s before`;
    await row(name, (url) => measureLoss(url, loss));
  }
  return table.table;
}
