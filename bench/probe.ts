/** How long submits wait, one by one, while something else goes on. */
import { Agent, get } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { API_BASE } from '@soda-scheduler/protocol';
import { post } from './load.ts';

const PER_SECOND = 50;

export interface Probed {
  /** Milliseconds from each submit to its 202, sorted. */
  readonly submitMs: readonly number[];
  /** The same of `/livez`, which asks nothing but the event loop. */
  readonly livezMs: readonly number[];
}

const plainTask = () => ({ type: 'noop', params: {} });

/** Submits at an even pace until then, whether answered or not. @param taskOf called for each. */
export async function submitAndProbe(
  url: string,
  until: Promise<unknown>,
  taskOf: () => object = plainTask,
): Promise<Probed> {
  const agent = new Agent({ keepAlive: true });
  const submitMs: number[] = [];
  const livezMs: number[] = [];
  const asked: Promise<unknown>[] = [];
  const over = new AbortController();
  const end = until.finally(() => over.abort());
  while (!over.signal.aborted) {
    const begun = performance.now();
    const body = JSON.stringify({ task: taskOf(), user: { group: 'bench' } });
    const noteIn = (waits: number[]) => () => waits.push(performance.now() - begun);
    asked.push(post(agent, url, `${API_BASE}/task/submit`, body).then(noteIn(submitMs)));
    asked.push(read(agent, `${url}/livez`).then(noteIn(livezMs)));
    await delay(1000 / PER_SECOND);
  }
  await end;
  await Promise.all(asked);
  agent.destroy();
  const ascending = (a: number, b: number): number => a - b;
  return { submitMs: submitMs.sort(ascending), livezMs: livezMs.sort(ascending) };
}

export function read(agent: Agent, url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    get(url, { agent }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => (text += part));
      response.on('end', () => resolve(text));
    }).on('error', reject);
  });
}

export function percentileMs(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

export function percentile(sorted: readonly number[], share: number): string {
  return percentileMs(sorted, share).toFixed(1);
}

/** Of sorted milliseconds. */
export function percentiles(sorted: readonly number[]): string {
  const [p50, p95, p99] = [0.5, 0.95, 0.99].map((share) => percentile(sorted, share));
  return `p50 ${p50}  p95 ${p95}  p99 ${p99} ms`;
}
