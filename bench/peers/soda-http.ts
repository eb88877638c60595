/** Soda by plain HTTP, one request a task, and by its SDK, as `library.ts` has it. */
import { API_BASE } from '@soda-scheduler/protocol';
import { Agent } from 'node:http';
import { post } from '../load.ts';
import type { Place, Producer } from './library.ts';

export { connectWorkers } from './soda.ts';

export async function connectProducer({ server, queue, notifyUrl }: Place): Promise<Producer> {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const notified = notifyUrl === null ? {} : { notify_url: notifyUrl };
  return {
    submit: (params) => {
      const task = { type: queue, params, ...notified };
      const body = JSON.stringify({ task, user: { group: 'bench' } });
      return post(agent, server, `${API_BASE}/task/submit`, body);
    },
  };
}
