/**
 * How late tasks of bookings begin: in a fleet that has more than enough to do, and where executors that are bound die
 * before their windows.
 */
import { loadavg } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { createClient, type SodaClient } from '@soda-scheduler/client';
import { type BenchMaster, type Child, start, startMaster } from '../system.ts';
import type { Params } from './executors.ts';

const TYPE = 'live';
const user = { group: 'bench' };
const EXECUTOR_COUNT = 32;
/** From one window to the next: most of the executors are kept for a booking at any time. */
const EVERY_MS = 300;
const LEAD_MS = 2_000;
const HOLD_MS = 5_000;
const WINDOW_MS = 2_000;
const BOOKED_TASK_MS = 500;
const SHORT_TASK_MS = 500;
/** What is over before the lead, with its grace, may begin within the hold. */
const SHORT_TIMEOUT_SECONDS = 1;
const CANCEL_GRACE_SECONDS = 1;
const HOUR_MS = 3_600_000;
const AT_ONCE = 8;
/** What each may take of that: on a busy machine, on MariaDB. */
const BOOK_MS_MAX = 100;
const BATCH_COUNT = 500;

/** Of the tasks of bookings. */
export interface Lateness {
  /** Milliseconds from the beginning of its window to the first line of its handler, sorted. */
  readonly lateMs: readonly number[];
  /** Bookings whose task had not begun when their window was over. */
  readonly missedCount: number;
  /** Processor time of the master, from when all was booked, in a second. */
  readonly cpuMs: number;
  /** Of the machine, in the minute before the end. */
  readonly load: number;
}

/**
 * What else the executors have to do: tasks of an hour that are given back for bookings, or more than they can do of
 * tasks that are over before the lead.
 */
export type Crowd = 'preemptible' | 'short';

export async function measureCrowded(
  databaseUrl: string | null,
  crowd: Crowd,
  bookingCount: number,
): Promise<Lateness> {
  const master = await startOne(databaseUrl);
  const client = createClient({ url: master.url });
  await client.types.put(TYPE, { owner: 'bench', preemptible: true });
  const executors = await startExecutors(master, 'e', EXECUTOR_COUNT);
  const spreadMs = bookingCount * EVERY_MS;
  if (crowd === 'preemptible') await fill(client, 2 * EXECUTOR_COUNT, { ms: HOUR_MS });
  else await fill(client, shortCount(spreadMs + 30_000), { ms: SHORT_TASK_MS });
  const first = Date.now() + HOLD_MS + 2_000 + bookingCount * BOOK_MS_MAX;
  const windows = Array.from({ length: bookingCount }, (_, at) => first + at * EVERY_MS);
  await book(client, windows, { lead: LEAD_MS / 1_000, hold: HOLD_MS / 1_000 });
  const cpuMs = await cpuMsWhile(master, delay(first + spreadMs + WINDOW_MS - Date.now()));
  const lateness = await reportOf(executors, bookingCount, cpuMs);
  await executors.kill();
  await master.stop();
  return lateness;
}

/** Executors die this long before the first window; as many, and more, are free. */
export interface Loss {
  readonly beforeMs: number;
  readonly bookingCount: number;
}

export async function measureLoss(
  databaseUrl: string | null,
  { beforeMs, bookingCount }: Loss,
): Promise<Lateness> {
  const master = await startOne(databaseUrl);
  const client = createClient({ url: master.url });
  // Those are bound first whose ids are first.
  const mortals = await startExecutors(master, 'a', bookingCount);
  const others = await startExecutors(master, 'b', bookingCount + 4);
  const leadMs = beforeMs + 3_000;
  const first = Date.now() + leadMs + 2_000 + bookingCount * BOOK_MS_MAX;
  const windows = Array.from({ length: bookingCount }, (_, at) => first + at * 50);
  const windowMs = 20_000;
  const ids = await book(client, windows, { lead: leadMs / 1_000, hold: leadMs / 1_000, windowMs });
  await delay(first - beforeMs - Date.now());
  for (const id of ids) {
    const { executors } = await client.bookings.get(id);
    if (!executors.every((one) => one.startsWith('a-')) || executors.length !== 1)
      throw new Error(`booking ${id} has ${executors.join()}`);
  }
  await mortals.kill();
  const cpuMs = await cpuMsWhile(
    master,
    delay(first + bookingCount * 50 + windowMs / 2 - Date.now()),
  );
  const lateness = await reportOf(others, bookingCount, cpuMs);
  await others.kill();
  await master.stop();
  return lateness;
}

function startOne(databaseUrl: string | null): Promise<BenchMaster> {
  const grace = { SODA_CANCEL_GRACE: String(CANCEL_GRACE_SECONDS) };
  return startMaster(databaseUrl, undefined, grace);
}

async function startExecutors({ url }: BenchMaster, prefix: string, count: number): Promise<Child> {
  const child = start('./bookings/executors.ts', [url, prefix, String(count)]);
  await child.message();
  return child;
}

/** More than are done in that time. */
function shortCount(forMs: number): number {
  return Math.ceil((EXECUTOR_COUNT * forMs) / SHORT_TASK_MS / BATCH_COUNT) * BATCH_COUNT;
}

async function fill(client: SodaClient, taskCount: number, params: Params): Promise<void> {
  const isShort = params.ms < HOUR_MS;
  const timeout = isShort ? { execution_timeout: SHORT_TIMEOUT_SECONDS } : {};
  // Calls that are made at once are sent as batches.
  const submit = () => client.submit({ type: TYPE, params, ...timeout }, user);
  for (let left = taskCount; left > 0; left -= BATCH_COUNT) {
    await Promise.all(Array.from({ length: Math.min(left, BATCH_COUNT) }, submit));
  }
}

interface Booked {
  readonly lead: number;
  readonly hold: number;
  readonly windowMs?: number;
}

/** One executor and one task for each window. @returns their ids. */
async function book(
  client: SodaClient,
  windows: readonly number[],
  { windowMs = WINDOW_MS, ...fields }: Booked,
): Promise<string[]> {
  const ids: string[] = [];
  const left = [...windows];
  const clerk = async (): Promise<void> => {
    for (let from = left.shift(); from !== undefined; from = left.shift()) {
      const window = { from, to: from + windowMs };
      const { booking_id } = await client.bookings.create({
        type: TYPE,
        ...user,
        ...window,
        ...fields,
      });
      const params: Params = { ms: BOOKED_TASK_MS, from };
      await client.submit({ type: TYPE, booking: booking_id, params }, user);
      ids.push(booking_id);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, clerk));
  return ids;
}

/** In a second of that time. */
async function cpuMsWhile(master: BenchMaster, time: Promise<unknown>): Promise<number> {
  const before = await master.ask<{ cpuUs: number }>();
  const begun = performance.now();
  await time;
  const after = await master.ask<{ cpuUs: number }>();
  return (after.cpuUs - before.cpuUs) / (performance.now() - begun);
}

async function reportOf(executors: Child, bookingCount: number, cpuMs: number): Promise<Lateness> {
  const { lateMs } = await executors.ask<{ lateMs: number[] }>();
  const [load = 0] = loadavg();
  const missedCount = bookingCount - lateMs.length;
  return { lateMs: lateMs.sort((a, b) => a - b), missedCount, cpuMs, load };
}
