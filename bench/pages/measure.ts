/**
 * How long each question takes, page by page, of one who asks alone; and how long submits wait while eight people
 * ask without a pause.
 */
import { Agent } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { API_BASE, type GovernanceView } from '@soda-scheduler/protocol';
import { type Probed, submitAndProbe } from '../probe.ts';
import { type BenchMaster, makeFolder, start, startMaster } from '../system.ts';
import { ask, pagesOf } from './ask.ts';
import { fillStore, RETENTION, type Size } from './fill.ts';
import { type Question, questions } from './questions.ts';

const PAGE_COUNT = 10;
/** Times that a question is asked from its first page on. */
const WALK_COUNT = 3;
const READER_COUNT = 8;
const PROBE_MS = 20_000;
const EXECUTOR_COUNT = 16;

export interface Answers {
  readonly name: string;
  /** On the first page; null: it is no list. */
  readonly rowCount: number | null;
  readonly pageCount: number;
  /** Milliseconds, sorted: of first pages, and of all. */
  readonly firstMs: readonly number[];
  readonly allMs: readonly number[];
  /** Processor time of the master for each of all: it hardly depends on what else the machine does. */
  readonly cpuMs: readonly number[];
}

/** What scheduling feels. */
export interface Felt extends Probed {
  /** The longest time in which the event loop of the master was held. */
  readonly gapMs: number;
}

export interface PagesMeasured {
  /** Until the master is ready, and until it knows all ids. */
  readonly readyMs: number;
  readonly learntMs: number;
  readonly rssBytes: number;
  readonly answers: readonly Answers[];
  readonly before: Felt;
  readonly meanwhile: Felt;
  /** Answers of those who ask meanwhile, by their status. */
  readonly statuses: Readonly<Record<string, number>>;
}

interface Report {
  readonly cpuUs: number;
  readonly rssBytes: number;
  readonly gapMs: number;
}

/** @param databaseUrl null: a file of its own, which is removed. */
export async function measurePages(databaseUrl: string | null, size: Size): Promise<PagesMeasured> {
  const folder = await makeFolder();
  const url = databaseUrl ?? `sqlite:${folder}/soda.db`;
  await fillStore(url, size);
  const begun = performance.now();
  const master = await startMaster(url, folder, RETENTION);
  const agent = new Agent({ keepAlive: true });
  const api = master.url + API_BASE;
  while ((await ask(agent, `${master.url}/readyz`)).status !== 200) await delay(10);
  const readyMs = performance.now() - begun;
  while (!(await knowsIds(agent, api))) await delay(100);
  const learntMs = performance.now() - begun;
  const { rssBytes } = await master.ask<Report>();

  const answers: Answers[] = [];
  for (const question of questions) {
    answers.push(await answersTo(agent, api, question, master));
    process.stderr.write('.');
  }
  agent.destroy();
  const fleet = start('./fleet.ts', [master.url, String(EXECUTOR_COUNT)]);
  await fleet.message();
  const feel = async (): Promise<Felt> => {
    await submitAndProbe(master.url, delay(1_000));
    await master.ask<Report>();
    const probed = await submitAndProbe(master.url, delay(PROBE_MS));
    return { ...probed, gapMs: (await master.ask<Report>()).gapMs };
  };
  const before = await feel();
  const readers = start('./pages/readers.ts', [api, String(READER_COUNT)]);
  const meanwhile = await feel();
  const { statuses } = await readers.ask<Pick<PagesMeasured, 'statuses'>>();
  for (const child of [readers, fleet, master]) await child.stop();
  return { readyMs, learntMs, rssBytes, answers, before, meanwhile, statuses };
}

/** Whether all ids that are taken are known: the last that a master learns. */
export async function knowsIds(agent: Agent, api: string): Promise<boolean> {
  const { text } = await ask(agent, `${api}/governance`);
  const { duties } = JSON.parse(text) as GovernanceView;
  return duties.some(({ name, last }) => name === 'id_filters' && last !== null);
}

async function answersTo(
  agent: Agent,
  api: string,
  question: Question,
  master: BenchMaster,
): Promise<Answers> {
  const firstMs: number[] = [];
  const allMs: number[] = [];
  const cpuMs: number[] = [];
  let { cpuUs } = await master.ask<Report>();
  let rowCount: number | null = null;
  for (let walk = 0; walk < WALK_COUNT; walk++) {
    let isFirst = true;
    for await (const page of pagesOf(agent, api, question, PAGE_COUNT)) {
      if (page.status >= 500) throw new Error(`${question.name} was answered ${page.text}`);
      allMs.push(page.ms);
      const report = await master.ask<Report>();
      cpuMs.push((report.cpuUs - cpuUs) / 1000);
      ({ cpuUs } = report);
      if (isFirst) {
        firstMs.push(page.ms);
        ({ rowCount } = page);
      }
      isFirst = false;
    }
  }
  const ascending = (a: number, b: number): number => a - b;
  const pageCount = allMs.length / WALK_COUNT;
  for (const ms of [firstMs, allMs, cpuMs]) ms.sort(ascending);
  return { name: question.name, rowCount, pageCount, firstMs, allMs, cpuMs };
}
