/** BullMQ on Redis, as `library.ts` has it. Ended jobs are not kept. */
import { Queue, Worker } from 'bullmq';

const connectionOf = (server) => ({ host: '127.0.0.1', port: Number(new URL(server).port) });
const OPTIONS = { removeOnComplete: true, removeOnFail: true };

export async function connectProducer({ server, queue }) {
  const jobs = new Queue(queue, { connection: connectionOf(server) });
  await jobs.waitUntilReady();
  return {
    submit: (data) => jobs.add('noop', data, OPTIONS),
    submitMany: (all) => jobs.addBulk(all.map((data) => ({ name: 'noop', data, opts: OPTIONS }))),
  };
}

/** `best`: one worker with 100 jobs at a time, by its documentation on concurrency. */
export async function connectWorkers({ server, queue, workers }, onJob) {
  const [count, concurrency] = workers === 'best' ? [1, 100] : [workers, 1];
  const all = Array.from({ length: count }, () => {
    const connection = { ...connectionOf(server), maxRetriesPerRequest: null };
    return new Worker(queue, async ({ data }) => onJob(data), { connection, concurrency });
  });
  await Promise.all(all.map((worker) => worker.waitUntilReady()));
}
