/** `--bookings`, as a table: a column for each store. */
import Table from 'cli-table3';
import { percentile, percentiles } from '../probe.ts';
import { type Lateness, measureCrowded, measureLoss } from './measure.ts';

const BOOKING_COUNT = 200;
/** A lease is 6 s: of those that die so late the tasks cannot begin on their second. */
const LOST_BEFORE_MS = [10_000, 3_000];
const LOST_COUNT = 20;

interface Store {
  readonly name: string;
  readonly url: () => Promise<string | null>;
}

/** @param scale 1: all of it. */
export async function compareBookings(
  stores: readonly Store[],
  scale: number,
): Promise<Table.Table> {
  const names = stores.map(({ name }) => name);
  const table = new Table({ head: ['late by', ...names], style: { head: [], border: [] } });
  const row = async (
    name: string,
    measure: (url: string | null) => Promise<Lateness>,
  ): Promise<void> => {
    const cells: string[] = [];
    for (const { url } of stores) {
      const { lateMs, missedCount, cpuMs, load } = await measure(await url());
      const max = percentile(lateMs, 1);
      cells.push(
        `${percentiles(lateMs)}\nat most ${max} ms, missed: ${missedCount}\n` +
          `${Math.round(cpuMs)} ms of CPU of the master a second, load ${load.toFixed(1)}`,
      );
      process.stderr.write('.');
    }
    table.push([name, ...cells]);
  };
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
  return table;
}
