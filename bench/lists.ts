/**
 * How long submits wait while people list: 60 of them look through days of history by a filter that
 * finds nothing, while tasks are submitted one by one and run.
 */
import { Agent, get } from 'node:http';
import { API_BASE } from '@soda-scheduler/protocol';
import { fillHistory } from './history.ts';
import { post } from './load.ts';
import { makeFolder, start, startMaster } from './system.ts';

const LISTER_COUNT = 60;
const EXECUTOR_COUNT = 64;
const DAY_COUNT = 4;
const PER_SECOND = 50;

export interface Listed {
  /** Milliseconds from each submit to its 202, sorted. */
  readonly submitMs: readonly number[];
  /** The same of `/livez`, which asks nothing but the event loop. */
  readonly livezMs: readonly number[];
  /** Answers to lists, by their status. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly lostLeaseCount: number;
}

export async function measureLists(
  databaseUrl: string | null,
  { endedCount, seconds }: { readonly endedCount: number; readonly seconds: number },
): Promise<Listed> {
  const folder = await makeFolder();
  const url = databaseUrl ?? `sqlite:${folder}/soda.db`;
  await fillHistory(url, { taskCount: endedCount, dayCount: DAY_COUNT });
  const master = await startMaster(databaseUrl, folder);
  const fleet = start('./fleet.ts', [master.url, String(EXECUTOR_COUNT)]);
  await fleet.message();
  await submitAndProbe(master.url, 1);
  const listers = start('./listers.ts', [master.url, String(LISTER_COUNT)]);
  const waits = await submitAndProbe(master.url, seconds);
  const { statuses } = await listers.ask<Pick<Listed, 'statuses'>>();
  await listers.stop();
  const lostLeaseCount = await countLostLeases(master.url);
  await fleet.stop();
  await master.stop();
  return { ...waits, statuses, lostLeaseCount };
}

async function submitAndProbe(
  url: string,
  seconds: number,
): Promise<Pick<Listed, 'submitMs' | 'livezMs'>> {
  const agent = new Agent({ keepAlive: true });
  const submitMs: number[] = [];
  const livezMs: number[] = [];
  const body = JSON.stringify({ task: { type: 'noop', params: {} }, user: { group: 'bench' } });
  const asked: Promise<unknown>[] = [];
  for (let sent = 0; sent < PER_SECOND * seconds; sent++) {
    const begun = performance.now();
    const noteIn = (waits: number[]) => () => waits.push(performance.now() - begun);
    asked.push(post(agent, url, `${API_BASE}/task/submit`, body).then(noteIn(submitMs)));
    asked.push(read(agent, `${url}/livez`).then(noteIn(livezMs)));
    await new Promise((resolve) => setTimeout(resolve, 1000 / PER_SECOND));
  }
  await Promise.all(asked);
  agent.destroy();
  const ascending = (a: number, b: number): number => a - b;
  return { submitMs: submitMs.sort(ascending), livezMs: livezMs.sort(ascending) };
}

async function countLostLeases(url: string): Promise<number> {
  const metrics = await read(new Agent(), `${url}/metrics`);
  return Number(/^scheduler_leases_expired_total(?:\{.*\})? (\d+)/m.exec(metrics)?.[1] ?? 0);
}

function read(agent: Agent, url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    get(url, { agent }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => (text += part));
      response.on('end', () => resolve(text));
    }).on('error', reject);
  });
}
