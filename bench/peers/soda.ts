/** Soda by its own client and SDK, as `library.ts` has it. */
import { createClient } from '@soda-scheduler/client';
import { createExecutor } from '@soda-scheduler/executor-sdk';
import { API_BASE } from '@soda-scheduler/protocol';
import { Agent } from 'node:http';
import { post } from '../load.ts';
import type { Job, Place, Producer, Workers } from './library.ts';

const USER = { group: 'bench' };
/** They share a thread for their sessions. More are no faster on two cores. */
const BEST_COUNT = 64;

const taskOf = ({ queue, notifyUrl }: Place, params: Job) => ({
  type: queue,
  params,
  ...(notifyUrl === null ? {} : { notify_url: notifyUrl }),
});

export async function connectProducer(place: Place): Promise<Producer> {
  const client = createClient({ url: place.server });
  const agent = new Agent({ keepAlive: true });
  return {
    submit: (job) => client.submit(taskOf(place, job), USER),
    submitMany: (jobs) => {
      const tasks = jobs.map((job) => ({ task: taskOf(place, job), user: USER }));
      const body = JSON.stringify({ tasks });
      return post(agent, place.server, `${API_BASE}/task/submit-batch`, body);
    },
  };
}

export async function connectWorkers(
  { server, queue, workers }: Place & { readonly workers: Workers },
  onJob: (job: Job) => void,
): Promise<void> {
  const count = workers === 'best' ? BEST_COUNT : workers;
  const joined: Promise<void>[] = [];
  for (let index = 0; index < count; index++) {
    joined.push(
      new Promise((resolve) => {
        const executor = createExecutor({
          url: server,
          handleSignals: false,
          onEvent: ({ type }) => {
            if (type === 'connected') resolve();
          },
        });
        executor.handle(queue, async ({ params }) => onJob(params as Job));
        void executor.start();
      }),
    );
  }
  await Promise.all(joined);
}
