/** bee-queue on Redis, as `library.ts` has it. Ended jobs are not kept, and nobody listens for their results. */
import Queue from 'bee-queue';

const settingsOf = (server) => ({
  redis: { host: '127.0.0.1', port: Number(new URL(server).port) },
  getEvents: false,
  sendEvents: false,
  storeJobs: false,
  removeOnSuccess: true,
});

export async function connectProducer({ server, queue }) {
  const jobs = new Queue(queue, { ...settingsOf(server), isWorker: false });
  await jobs.ready();
  return { submit: (data) => jobs.createJob(data).save() };
}

/** `best`: one worker with 20 jobs at a time; more were no faster. */
export async function connectWorkers({ server, queue, workers }, onJob) {
  const [count, concurrency] = workers === 'best' ? [1, 20] : [workers, 1];
  for (let index = 0; index < count; index++) {
    const jobs = new Queue(queue, settingsOf(server));
    await jobs.ready();
    jobs.process(concurrency, async ({ data }) => onJob(data));
  }
}
