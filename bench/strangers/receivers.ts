/** How long callbacks to a receiver that answers take, while as many others never answer. */
import { once } from 'node:events';
import { Agent, createServer, type Server } from 'node:http';
import {
  type AddressInfo,
  createServer as createTcpServer,
  type Server as TcpServer,
} from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { API_BASE } from '@soda-scheduler/protocol';
import { post } from '../load.ts';
import { start, startMaster } from '../system.ts';

export const HANGING_COUNT = 2_000;
const EXECUTOR_COUNT = 64;
const BATCH_COUNT = 500;
const PER_SECOND = 50;

export interface ReceiversMeasured {
  /** Milliseconds from the submit of a task that ends at once to its callback, sorted. */
  readonly callbackMs: readonly number[];
  /** Connections that hosts have accepted, and not answered. */
  readonly hungCount: number;
}

export async function measureReceivers(
  databaseUrl: string | null,
  { hostCount, seconds }: { readonly hostCount: number; readonly seconds: number },
): Promise<ReceiversMeasured> {
  // Each try that fails is worth a warning.
  const env = { SODA_NOTIFY_ALLOW: '127.0.0.0/8', SODA_LOG_LEVEL: 'error' };
  const master = await startMaster(databaseUrl, undefined, env);
  const fleet = start('./fleet.ts', [master.url, String(EXECUTOR_COUNT)]);
  await fleet.message();
  const hanging = await startHanging(hostCount);
  const healthy = await startHealthy();
  const agent = new Agent({ keepAlive: true });
  const submit = (id: string): Promise<void> => {
    healthy.awaits(id);
    const body = JSON.stringify({ task: taskTold(healthy.url, id), user: { group: 'bench' } });
    return post(agent, master.url, `${API_BASE}/task/submit`, body);
  };
  // As one that has answered before.
  await submit('first');
  await healthy.all();
  for (let at = 0; at < hostCount; at += BATCH_COUNT) {
    const urls = hanging.urls.slice(at, at + BATCH_COUNT);
    const tasks = urls.map((url) => ({ task: taskTold(url), user: { group: 'bench' } }));
    await post(agent, master.url, `${API_BASE}/task/submit-batch`, JSON.stringify({ tasks }));
  }
  for (let count = 0; count < seconds * PER_SECOND; count++) {
    await Promise.all([submit(`healthy-${count}`), delay(1_000 / PER_SECOND)]);
  }
  const callbackMs = await healthy.all();
  const { hungCount } = hanging;
  agent.destroy();
  await fleet.stop();
  await master.stop();
  await Promise.all([hanging.close(), healthy.close()]);
  return { callbackMs, hungCount };
}

const taskTold = (notifyUrl: string, id?: string) => ({
  ...(id !== undefined && { id }),
  type: 'noop',
  params: {},
  notify_url: notifyUrl,
});

/** Each accepts, and says nothing. */
class Hanging {
  readonly urls: string[] = [];
  readonly #servers: TcpServer[] = [];
  readonly #sockets = new Set<{ destroy(): void }>();

  get hungCount(): number {
    return this.#sockets.size;
  }

  async listen(address: string): Promise<void> {
    const server = createTcpServer((socket) => {
      this.#sockets.add(socket);
      socket.on('error', () => undefined).resume();
    });
    this.#servers.push(server);
    server.listen(0, address);
    await once(server, 'listening');
    this.urls.push(`http://${address}:${(server.address() as AddressInfo).port}/`);
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await Promise.all(this.#servers.map((server) => closed(server)));
  }
}

/** So many addresses of this machine alone: all of 127.0.0.0/8 is. */
async function startHanging(hostCount: number): Promise<Hanging> {
  const hanging = new Hanging();
  for (let index = 0; index < hostCount; index++)
    await hanging.listen(`127.1.${index >> 8}.${index & 255}`);
  return hanging;
}

interface Healthy {
  readonly url: string;
  /** From now on. */
  awaits(id: string): void;
  /** Resolves once all have come that are awaited: how long each has taken, sorted. */
  all(): Promise<readonly number[]>;
  close(): Promise<void>;
}

async function startHealthy(): Promise<Healthy> {
  const askedAt = new Map<string, number>();
  const tookMs: number[] = [];
  let done: () => void = () => undefined;
  const server = createServer((incoming, response) => {
    let text = '';
    incoming.setEncoding('utf8');
    incoming.on('data', (part: string) => (text += part));
    incoming.on('end', () => {
      response.end();
      const { task_id: id } = JSON.parse(text) as { readonly task_id: string };
      const begun = askedAt.get(id);
      // It may come twice.
      if (begun === undefined) return;
      askedAt.delete(id);
      tookMs.push(performance.now() - begun);
      if (askedAt.size === 0) done();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    awaits: (id) => void askedAt.set(id, performance.now()),
    all: async () => {
      if (askedAt.size > 0) await new Promise<void>((resolve) => (done = resolve));
      return tookMs.splice(0).sort((a, b) => a - b);
    },
    close: () => {
      server.closeAllConnections();
      return closed(server);
    },
  };
}

async function closed(server: Server | TcpServer): Promise<void> {
  server.close();
  await once(server, 'close');
}
