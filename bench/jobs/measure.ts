/**
 * What jobs cost: how late runs come of which a thousand are due in one second, what triggers cost that are not due
 * for an hour, and how a master goes on that finds each of them an hour behind.
 */
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Probed, submitAndProbe } from '../probe.ts';
import { type BenchMaster, makeFolder, start, startMaster } from '../system.ts';
import { type FilledTriggers, fillTriggers } from './fill.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DUE_COUNT = 1_000;
const EXECUTOR_COUNT = 16;
/** Until a master that was started just now has nothing more to do. */
const SETTLE_MS = 3_000;

/** What the process of the master has to say. */
export interface JobsReport {
  readonly cpuUs: number;
  readonly rssBytes: number;
  readonly gapMs: number;
  /** Of each run, from its time to the end of the commit that made its task. */
  readonly lateMs: readonly number[];
  /** Of the triggers that are waited for: until when all were looked at, and what that took. */
  readonly looked: {
    readonly count: number;
    readonly ms: number;
    readonly rowCount: number;
    readonly cpuUs: number;
  };
}

/** For as long as `use` takes: a master that finds these triggers. */
async function withMaster<T>(
  databaseUrl: string | null,
  groups: readonly FilledTriggers[],
  use: (master: BenchMaster) => Promise<T>,
): Promise<T> {
  const folder = await makeFolder();
  if (groups.length > 0) {
    await fillTriggers(databaseUrl ?? `sqlite:${path.join(folder, 'soda.db')}`, groups);
  }
  const script = { script: './jobs/master.ts', args: groups.slice(-1).map(({ prefix }) => prefix) };
  const master = await startMaster(databaseUrl, folder, {}, script);
  try {
    return await use(master);
  } finally {
    await master.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

const idle = (count: number): FilledTriggers => {
  const from = Date.now() + HOUR_MS;
  return { prefix: 'idle', count, everyMs: 2 * HOUR_MS, nextAt: (at) => from + at };
};

export interface Idle {
  /** Processor time of the master for each second. */
  readonly cpuMs: number;
  readonly rssBytes: number;
}

/** @param count triggers that are due in an hour or later. */
export function measureIdle(
  databaseUrl: string | null,
  { count, seconds }: { readonly count: number; readonly seconds: number },
): Promise<Idle> {
  return withMaster(databaseUrl, count === 0 ? [] : [idle(count)], async (master) => {
    await delay(SETTLE_MS);
    const before = await master.ask<JobsReport>();
    await delay(seconds * 1_000);
    const { cpuUs, rssBytes } = await master.ask<JobsReport>();
    return { cpuMs: (cpuUs - before.cpuUs) / 1_000 / seconds, rssBytes };
  });
}

export interface Punctual {
  /** Milliseconds, sorted: of a thousand due at one instant, and of as many spread over a second. */
  readonly atOnceMs: readonly number[];
  readonly spreadMs: readonly number[];
  /** Processor time of each of the latter. */
  readonly cpuUs: number;
}

/** @param idleCount others that are not due. */
export function measurePunctual(databaseUrl: string | null, idleCount: number): Promise<Punctual> {
  // Long enough for them to be written first.
  const first = Date.now() + 8_000 + idleCount / 5;
  const dueAt = (prefix: string, nextAt: (at: number) => number): FilledTriggers => {
    return { prefix, count: DUE_COUNT, everyMs: 24 * HOUR_MS, nextAt };
  };
  const groups = [
    ...(idleCount === 0 ? [] : [idle(idleCount)]),
    // What a process does for the first time takes longer.
    dueAt('warm', () => first),
    dueAt('once', () => first + 3_000),
    dueAt('spread', (at) => first + 6_000 + Math.floor((at * 1_000) / DUE_COUNT)),
  ];
  return withMaster(databaseUrl, groups, async (master) => {
    const next = async (until: number): Promise<JobsReport> => {
      await delay(until - Date.now());
      const report = await master.ask<JobsReport>();
      const { lateMs } = report;
      if (lateMs.length !== DUE_COUNT) throw new Error(`${lateMs.length} runs in time`);
      return { ...report, lateMs: [...lateMs].sort((a, b) => a - b) };
    };
    await next(first + 2_500);
    const atOnce = await next(first + 5_500);
    const spread = await next(first + 9_500);
    const cpuUs = (spread.cpuUs - atOnce.cpuUs) / DUE_COUNT;
    return { atOnceMs: atOnce.lateMs, spreadMs: spread.lateMs, cpuUs };
  });
}

export interface Absence {
  readonly looked: JobsReport['looked'];
  readonly gapMs: number;
  readonly probed: Probed;
}

const ABSENCE_MS_MAX = 120_000;

/** @param count triggers of a minute each, that nobody has looked at for an hour. */
export function measureAbsence(databaseUrl: string | null, count: number): Promise<Absence> {
  const since = Date.now() - HOUR_MS;
  const nextAt = (at: number): number => since + Math.floor((at * MINUTE_MS) / count);
  const behind = { prefix: 'behind', count, everyMs: MINUTE_MS, nextAt };
  return withMaster(databaseUrl, [behind], async (master) => {
    let report = await master.ask<JobsReport>();
    const fleet = start('./fleet.ts', [master.url, String(EXECUTOR_COUNT)]);
    await fleet.message();
    const recovered = async (): Promise<void> => {
      const until = Date.now() + ABSENCE_MS_MAX;
      let gapMs = report.gapMs;
      while (report.looked.count < count) {
        if (Date.now() > until) throw new Error(`${report.looked.count} of ${count} in time`);
        await delay(250);
        report = await master.ask<JobsReport>();
        gapMs = Math.max(gapMs, report.gapMs);
      }
      report = { ...report, gapMs };
    };
    const probed = await submitAndProbe(master.url, recovered());
    await fleet.stop();
    return { looked: report.looked, gapMs: report.gapMs, probed };
  });
}
