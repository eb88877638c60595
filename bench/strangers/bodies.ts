/** What others wait for, and what the master holds, while bodies of 8 MiB come, so many at once, again and again. */
import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { API_BASE } from '@soda-scheduler/protocol';
import { type Probed, submitAndProbe } from '../probe.ts';
import { startMaster } from '../system.ts';

export const BODY_COUNT = 15;
const BATCH_COUNT = 1_000;
/** With what stands around it: 8 MiB for the batch. */
const TEXT_BYTES = 8_280;
const QUIET_MS = 2_000;
const LOOK_MS = 50;

export interface BodiesMeasured extends Probed {
  /** Answers to the bodies, by their status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** At most, beside what it had before. */
  readonly moreBytes: number;
}

/** A batch that is taken, and one whose last letter says that it is no JSON: it has been read by then. */
function bodies(): readonly Buffer[] {
  const item = {
    task: { type: 'nobody', params: 'x'.repeat(TEXT_BYTES) },
    user: { group: 'bench' },
  };
  const text = JSON.stringify({ tasks: Array.from({ length: BATCH_COUNT }, () => item) });
  return [Buffer.from(text), Buffer.from(`${text.slice(0, -1)}]`)];
}

export async function measureBodies(
  databaseUrl: string | null,
  seconds: number,
): Promise<BodiesMeasured> {
  const master = await startMaster(databaseUrl);
  const rssBytes = async (): Promise<number> =>
    (await master.ask<{ readonly rssBytes: number }>()).rssBytes;
  await submitAndProbe(master.url, delay(QUIET_MS));
  const before = await rssBytes();
  const agent = new Agent({ keepAlive: true });
  const statuses: Record<string, number> = {};
  const over = new AbortController();
  const all = bodies();
  const send = async (index: number): Promise<void> => {
    for (let count = index; !over.signal.aborted; count++) {
      const status = await post(agent, master.url, all[count % all.length] as Buffer);
      statuses[status] = (statuses[status] ?? 0) + 1;
    }
  };
  const strangers = Promise.all(Array.from({ length: BODY_COUNT }, (_, index) => send(index)));
  let most = before;
  const look = async (): Promise<void> => {
    while (!over.signal.aborted) {
      most = Math.max(most, await rssBytes());
      await delay(LOOK_MS);
    }
  };
  const looking = look();
  const probed = await submitAndProbe(master.url, delay(seconds * 1_000));
  over.abort();
  await Promise.all([strangers, looking]);
  agent.destroy();
  await master.stop();
  return { ...probed, statuses, moreBytes: most - before };
}

/** The status; of a connection that was closed instead, why. */
function post(agent: Agent, url: string, body: Buffer): Promise<number | string> {
  return new Promise((resolve) => {
    const headers = { 'content-type': 'application/json', 'content-length': body.length };
    const path = `${url}${API_BASE}/task/submit-batch`;
    const outgoing = request(path, { method: 'POST', agent, headers }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode ?? 0));
    });
    outgoing.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    outgoing.end(body);
  });
}
