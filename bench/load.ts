/** Clients: so many at a time, each waiting for its answer before it sends the next request. */
import { Agent, request } from 'node:http';
import { API_BASE } from '@soda-scheduler/protocol';

export interface LoadOptions {
  readonly url: string;
  readonly type: string;
  readonly taskCount: number;
  readonly clientCount: number;
  /** Tasks a request; 1 uses the plain submit route. */
  readonly batchCount: number;
  readonly notifyUrl: string | null;
}

/** Resolves when every request was answered; rejects at the first that was not accepted. */
export async function load(options: LoadOptions): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: options.clientCount });
  let left = options.taskCount;
  const client = async (): Promise<void> => {
    while (left > 0) {
      const count = Math.min(options.batchCount, left);
      left -= count;
      await submit(agent, options, count);
    }
  };
  await Promise.all(Array.from({ length: options.clientCount }, client));
  agent.destroy();
}

function submit(agent: Agent, options: LoadOptions, count: number): Promise<void> {
  const { type, notifyUrl, batchCount } = options;
  const item = {
    task: {
      type,
      params: { input: '/media/in.mp4', outputs: [] },
      ...(notifyUrl === null ? {} : { notify_url: notifyUrl }),
    },
    user: { group: 'bench' },
  };
  const body = JSON.stringify(
    batchCount === 1 ? item : { tasks: Array.from({ length: count }, () => item) },
  );
  const path = `${API_BASE}/task/${batchCount === 1 ? 'submit' : 'submit-batch'}`;
  return post(agent, options.url, path, body);
}

export function post(agent: Agent, url: string, path: string, body: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    };
    const outgoing = request(`${url}${path}`, { method: 'POST', agent, headers }, (response) => {
      response.resume();
      response.on('end', () => {
        const { statusCode = 0 } = response;
        if (statusCode < 300) resolve();
        else reject(new Error(`${path} was answered ${statusCode}`));
      });
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}
