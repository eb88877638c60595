/**
 * `npm run bench`: how fast the whole system is on this machine, embedded store and MariaDB side
 * by side in one run. Client, master, executors and database share its cores.
 * `--quick` runs each scenario once with a tenth of the tasks; `--lists` only says how long submits wait
 * while people list, `--bulk` how long while one command ends many tasks, and how long that takes, and `--logs` how long
 * while one executor logs without a pause. `--usage` runs a million random tasks on each store, with kills of the master, and
 * compares what was counted of them with a recount in SQL. `--jobs` says how late runs of jobs come of which a thousand are
 * due in one second, what 100,000 triggers cost that are not due, and how a master goes on that finds them an hour behind.
 * `--bookings` says how late tasks of bookings begin where everybody is busy, and where executors die before their windows.
 * `--pages` fills a store with a million live and ten million ended tasks, which takes some minutes and 10 GB where
 * temporary files are (`TMPDIR`), and says how long a page takes of whatever people may ask. With `--store <url>`
 * (`sqlite:<file>`, `mysql://...`) it does so on that store alone, and leaves it filled for the next time.
 * `--peers` compares with other libraries (`peers/`), those of `--only <part of a name>` alone where it is given; `--json <file>` and
 * `--svg <file>` keep what was measured.
 */
import { writeFile } from 'node:fs/promises';
import { Agent } from 'node:http';
import os from 'node:os';
import { API_BASE } from '@soda-scheduler/protocol';
import Table from 'cli-table3';
import { MARIADB_MISSING, startMariadb } from '../test/helpers/mariadb.ts';
import { compareBookings } from './bookings/table.ts';
import { measureBulk } from './bulk.ts';
import { measureAbsence, measureIdle, measurePunctual } from './jobs/measure.ts';
import { measureLists } from './lists.ts';
import { load, post } from './load.ts';
import { measureLogs } from './logs.ts';
import { comparePeers } from './peers/measure.ts';
import { chartOf, tableOf, writeJson } from './peers/report.ts';
import { type Answers, type Felt, measurePages, type PagesMeasured } from './pages/measure.ts';
import { percentile, percentiles } from './probe.ts';
import { start, startMaster, startSink } from './system.ts';
import { measureUsage } from './usage.ts';

const quick = process.argv.includes('--quick');
const scale = quick ? 0.1 : 1;
const roundCount = quick ? 1 : 3;

interface Throughput {
  readonly name: string;
  readonly taskCount: number;
  readonly clientCount: number;
  readonly batchCount: number;
  readonly callback: boolean;
}

const throughputs: readonly Throughput[] = [
  {
    name: 'one by one, 64 clients, callback',
    taskCount: 15_000,
    clientCount: 64,
    batchCount: 1,
    callback: true,
  },
  {
    name: 'batches of 100, callback',
    taskCount: 30_000,
    clientCount: 8,
    batchCount: 100,
    callback: true,
  },
  {
    name: 'batches of 100, no callback',
    taskCount: 30_000,
    clientCount: 8,
    batchCount: 100,
    callback: false,
  },
];
const EXECUTOR_COUNT = 64;
const LATENCY_PER_SECOND = 50;
const LATENCY_SECONDS = quick ? 2 : 10;
const BULK_COUNT = 100_000 * scale;
const LISTS = { endedCount: 300_000 * scale, seconds: quick ? 4 : 20 };
const LOGS = { linesPerSecond: 10_000, turnCount: quick ? 1 : 5, seconds: 4 };
const TRIGGER_COUNT = 100_000 * scale;
const IDLE_SECONDS = quick ? 4 : 10;
const USAGE_COUNT = 1_000_000 * scale;
const PAGES = { liveCount: 1_000_000 * scale, endedCount: 10_000_000 * scale };
/** Of a server that is to hold them. */
const PAGES_SERVER = ['--innodb-buffer-pool-size=2G', '--innodb-log-file-size=1G'];
/** That of the tests has less. */
const USUAL_SERVER = ['--innodb-log-file-size=96M'];
const valueOf = (flag: string): string | null =>
  process.argv.includes(flag) ? (process.argv[process.argv.indexOf(flag) + 1] ?? null) : null;
const givenStore = valueOf('--store');

interface Measured {
  /** From the first submit to the last callback (or the last result). */
  readonly tasksPerSecond: number;
  /** Processor time of the master for one task, in microseconds. */
  readonly cpuUs: number;
}

async function measureThroughput(
  databaseUrl: string | null,
  wanted: Throughput,
): Promise<Measured> {
  const master = await startMaster(databaseUrl);
  const sink = await startSink();
  const fleet = start('./fleet.ts', [master.url, String(EXECUTOR_COUNT)]);
  await fleet.message();
  const run = async (taskCount: number): Promise<Measured> => {
    const before = await master.ask<{ cpuUs: number }>();
    const { finishedCount } = await fleet.ask<{ finishedCount: number }>();
    const received = wanted.callback ? sink.count(taskCount) : null;
    const begun = performance.now();
    await load({
      url: master.url,
      type: 'noop',
      taskCount,
      clientCount: wanted.clientCount,
      batchCount: wanted.batchCount,
      notifyUrl: wanted.callback ? sink.url : null,
    });
    if (received !== null) await received;
    else
      while (
        (await fleet.ask<{ finishedCount: number }>()).finishedCount <
        finishedCount + taskCount
      );
    const tasksPerSecond = taskCount / ((performance.now() - begun) / 1000);
    const after = await master.ask<{ cpuUs: number }>();
    return { tasksPerSecond, cpuUs: (after.cpuUs - before.cpuUs) / taskCount };
  };
  await run(Math.ceil((wanted.taskCount * scale) / 10));
  const measured = await run(Math.ceil(wanted.taskCount * scale));
  await fleet.stop();
  sink.close();
  await master.stop();
  return measured;
}

/** Milliseconds from the submit call to the first line of the handler, sorted. */
async function measureLatency(databaseUrl: string | null): Promise<number[]> {
  const master = await startMaster(databaseUrl);
  const executor = start('./handler.ts', [master.url]);
  const agent = new Agent({ keepAlive: true });
  const count = LATENCY_PER_SECOND * LATENCY_SECONDS;
  for (let sent = 0; sent < count; sent++) {
    const sentAt = performance.timeOrigin + performance.now();
    const task = { type: 'timed', params: { sentAt } };
    const body = JSON.stringify({ task, user: { group: 'bench' } });
    await post(agent, master.url, `${API_BASE}/task/submit`, body);
    await new Promise((resolve) => setTimeout(resolve, 1000 / LATENCY_PER_SECOND));
  }
  const { waitedMs } = await executor.ask<{ waitedMs: number[] }>();
  agent.destroy();
  await executor.stop();
  await master.stop();
  // The first tasks find an executor that is still connecting.
  return waitedMs.slice(LATENCY_PER_SECOND).sort((a, b) => a - b);
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

const isOfPages = process.argv.includes('--pages');
const isOfPeers = process.argv.includes('--peers');
const mariadb =
  givenStore === null && !isOfPeers
    ? await startMariadb(isOfPages ? PAGES_SERVER : USUAL_SERVER)
    : null;
const stores: { name: string; url: () => Promise<string | null> }[] =
  givenStore !== null
    ? [{ name: 'the given store', url: async () => givenStore }]
    : [
        { name: 'embedded (SQLite)', url: async () => null },
        ...(mariadb === null ? [] : [{ name: 'MariaDB', url: () => mariadb.url() }]),
      ];
const names = stores.map(({ name }) => name);
if (mariadb === null && givenStore === null && !isOfPeers)
  console.log(`MariaDB is left out: ${MARIADB_MISSING}`);
console.log(
  `${os.cpus().length} cores (${os.cpus()[0]?.model ?? 'unknown'}), Node ${process.version}, ` +
    `${EXECUTOR_COUNT} executors, ` +
    `${roundCount} round${roundCount === 1 ? '' : 's'}: median (min to max)`,
);

async function compareSpeed(): Promise<Table.Table> {
  const table = new Table({
    head: ['', ...names, 'ratio'],
    style: { head: [], border: [] },
  });
  for (const wanted of throughputs) {
    const medians: number[] = [];
    const cells: string[] = [];
    for (const store of stores) {
      const rates: number[] = [];
      const cpu: number[] = [];
      for (let round = 0; round < roundCount; round++) {
        const { tasksPerSecond, cpuUs } = await measureThroughput(await store.url(), wanted);
        rates.push(tasksPerSecond);
        cpu.push(cpuUs);
      }
      medians.push(median(rates));
      const [low, high] = [Math.min(...rates), Math.max(...rates)].map(Math.round);
      cells.push(
        `${Math.round(median(rates))}/s (${low} to ${high})\n${Math.round(median(cpu))} µs of CPU a task`,
      );
      process.stderr.write('.');
    }
    table.push([
      wanted.name,
      ...cells,
      medians.length < 2 ? '' : ((medians[0] ?? 0) / (medians[1] ?? 1)).toFixed(2),
    ]);
  }
  const latencyCells: string[] = [];
  for (const store of stores) {
    const sorted = await measureLatency(await store.url());
    latencyCells.push(percentiles(sorted));
    process.stderr.write('.');
  }
  table.push([`submit to handler start, ${LATENCY_PER_SECOND}/s`, ...latencyCells, '']);
  return table;
}

async function compareLists(): Promise<Table.Table> {
  const table = new Table({ head: ['', ...names], style: { head: [], border: [] } });
  const cells: string[] = [];
  for (const store of stores) {
    const { submitMs, livezMs, statuses, lostLeaseCount } = await measureLists(
      await store.url(),
      LISTS,
    );
    cells.push(
      `submit ${percentiles(submitMs)}\n/livez ${percentiles(livezMs)}\n` +
        `lists ${JSON.stringify(statuses)}, leases lost: ${lostLeaseCount}`,
    );
    process.stderr.write('.');
  }
  table.push([`60 list ${LISTS.endedCount} ended tasks`, ...cells]);
  return table;
}

async function compareBulk(): Promise<Table.Table> {
  const table = new Table({ head: ['', ...names], style: { head: [], border: [] } });
  const cells: string[] = [];
  for (const store of stores) {
    const { tookMs, before, meanwhile } = await measureBulk(await store.url(), BULK_COUNT);
    cells.push(
      `${(tookMs / 1000).toFixed(1)} s\nsubmit ${percentiles(meanwhile.submitMs)}\n` +
        `before ${percentiles(before.submitMs)}\n/livez ${percentiles(meanwhile.livezMs)}`,
    );
    process.stderr.write('.');
  }
  table.push([`one command cancels ${BULK_COUNT} waiting tasks`, ...cells]);
  return table;
}

async function compareLogs(): Promise<Table.Table> {
  const table = new Table({ head: ['', ...names], style: { head: [], border: [] } });
  const cells: string[] = [];
  for (const store of stores) {
    const { quiet, meanwhile, ...lines } = await measureLogs(await store.url(), LOGS);
    cells.push(
      `start ${percentiles(meanwhile.startMs)}\nwithout ${percentiles(quiet.startMs)}\n` +
        `submit ${percentiles(meanwhile.submitMs)}\nwithout ${percentiles(quiet.submitMs)}\n` +
        `/livez ${percentiles(meanwhile.livezMs)}\nwithout ${percentiles(quiet.livezMs)}\n` +
        `lines kept: ${lines.keptCount}, dropped: ${lines.droppedCount}`,
    );
    process.stderr.write('.');
  }
  table.push([`one executor logs ${LOGS.linesPerSecond} lines a second`, ...cells]);
  return table;
}

async function compareUsage(): Promise<Table.Table> {
  const table = new Table({ head: ['', ...names], style: { head: [], border: [] } });
  const cells: string[] = [];
  for (const store of stores) {
    const { ranMs, killCount, figureCount, ...took } = await measureUsage(
      await store.url(),
      USAGE_COUNT,
    );
    cells.push(
      `equal in ${figureCount} figures, ${killCount} kills\n` +
        `ran ${(ranMs / 1000).toFixed(0)} s, read in ${took.readMs.toFixed(0)} ms, ` +
        `counted again in ${(took.recountMs / 1000).toFixed(1)} s`,
    );
    process.stderr.write('.');
  }
  table.push([`usage of ${USAGE_COUNT} random tasks`, ...cells]);
  return table;
}

async function compareJobs(): Promise<Table.Table> {
  const table = new Table({ head: ['', ...names], style: { head: [], border: [] } });
  const row = async (
    name: string,
    measure: (store: (typeof stores)[number]) => Promise<string>,
  ) => {
    const cells: string[] = [];
    for (const store of stores) {
      cells.push(await measure(store));
      process.stderr.write('.');
    }
    table.push([name, ...cells]);
  };
  for (const count of [0, TRIGGER_COUNT]) {
    await row(`idle, with ${count} triggers`, async ({ url }) => {
      const idle = await measureIdle(await url(), { count, seconds: IDLE_SECONDS });
      const memory = `${Math.round(idle.rssBytes / 1e6)} MB`;
      return `${idle.cpuMs.toFixed(0)} ms of CPU a second, ${memory}`;
    });
  }
  await row('1000 due in one second: late by', async ({ url }) => {
    const { spreadMs, atOnceMs, cpuUs } = await measurePunctual(await url(), TRIGGER_COUNT);
    const cpu = `${Math.round(cpuUs)} µs of CPU a run`;
    return `${percentiles(spreadMs)}\nall at one instant: ${percentiles(atOnceMs)}\n${cpu}`;
  });
  await row(`an hour's absence, ${TRIGGER_COUNT} triggers of a minute`, async ({ url }) => {
    const { looked, gapMs, probed } = await measureAbsence(await url(), TRIGGER_COUNT);
    const seconds = (ms: number): string => (ms / 1_000).toFixed(1);
    const cpu = seconds(looked.cpuUs / 1_000);
    return (
      `${seconds(looked.ms)} s (${cpu} of CPU), ${looked.rowCount} rows\n` +
      `submit ${percentiles(probed.submitMs)}\n/livez ${percentiles(probed.livezMs)}\n` +
      `longest gap ${gapMs.toFixed(0)} ms`
    );
  });
  return table;
}

async function comparePages(): Promise<Table.Table> {
  const table = new Table({ head: ['', ...names], style: { head: [], border: [] } });
  const measured: PagesMeasured[] = [];
  for (const store of stores) measured.push(await measurePages(await store.url(), PAGES));
  const row = (name: string, cell: (one: PagesMeasured) => string): void => {
    table.push([name, ...measured.map(cell)]);
  };
  const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
  row('ready, all ids known, memory', ({ readyMs, learntMs, rssBytes }) => {
    return `${seconds(readyMs)}, ${seconds(learntMs)}, ${Math.round(rssBytes / 1e6)} MB`;
  });
  const felt = ({ submitMs, livezMs, gapMs }: Felt): string =>
    `submit ${percentiles(submitMs)}\n/livez ${percentiles(livezMs)}\nlongest gap ${gapMs.toFixed(0)} ms`;
  row('before', ({ before }) => felt(before));
  row('while 8 ask', ({ meanwhile, statuses }) => {
    return `${felt(meanwhile)}\nanswers ${JSON.stringify(statuses)}`;
  });
  for (const [at, { name }] of (measured[0]?.answers ?? []).entries()) {
    row(name, ({ answers }) => {
      const { rowCount, pageCount, firstMs, allMs, cpuMs } = answers[at] as Answers;
      const rows = rowCount === null ? '' : `${rowCount} rows, ${+pageCount.toFixed(1)} pages: `;
      const first = `first p50 ${percentile(firstMs, 0.5)}`;
      const all = `p95 ${percentile(allMs, 0.95)}  max ${percentile(allMs, 1)} ms`;
      return `${rows}${first}  ${all}, processor p50 ${percentile(cpuMs, 0.5)} ms`;
    });
  }
  return table;
}

async function compareWithPeers(): Promise<Table.Table> {
  const compared = await comparePeers({ roundCount, scale, only: valueOf('--only') }, () => {
    process.stderr.write('.');
  });
  for (const reason of compared.leftOut) console.log(`left out: ${reason}`);
  const [json, svg] = [valueOf('--json'), valueOf('--svg')];
  if (json !== null) await writeJson(json, compared);
  if (svg !== null) await writeFile(svg, chartOf(compared));
  return tableOf(compared);
}

const scenarios: Record<string, () => Promise<Table.Table>> = {
  '--lists': compareLists,
  '--bulk': compareBulk,
  '--bookings': () => compareBookings(stores, scale),
  '--jobs': compareJobs,
  '--logs': compareLogs,
  '--usage': compareUsage,
  '--pages': comparePages,
  '--peers': compareWithPeers,
};
const [asked] = Object.keys(scenarios).filter((flag) => process.argv.includes(flag));
const compare = scenarios[asked ?? ''] ?? compareSpeed;
const table = await compare();
process.stderr.write('\n');
console.log(table.toString());
await mariadb?.stop();
