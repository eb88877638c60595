/** graphile-worker on PostgreSQL, as `library.ts` has it. 0.17 is the last line for Node 20. */
import { Logger, makeWorkerUtils, run } from 'graphile-worker';

const logger = new Logger(() => () => undefined);
/** Its queue is the database: one of its own for each case. */
const databaseOf = ({ server }) => server;

export async function connectProducer(of) {
  const tools = await makeWorkerUtils({
    connectionString: databaseOf(of),
    maxPoolSize: 20,
    logger,
  });
  await tools.migrate();
  const { queue } = of;
  return {
    submit: (payload) => tools.addJob(queue, payload),
    submitMany: (all) => tools.addJobs(all.map((payload) => ({ identifier: queue, payload }))),
  };
}

/** `best`: 24 at a time from a local queue of 500, completed in batches, by its page on performance. */
export async function connectWorkers(of, onJob) {
  const tools = await makeWorkerUtils({ connectionString: databaseOf(of), logger });
  await tools.migrate();
  await tools.release();
  const tuned = {
    concurrentJobs: 24,
    maxPoolSize: 30,
    pollInterval: 2000,
    localQueue: { size: 500 },
    completeJobBatchDelay: 0,
    failJobBatchDelay: 0,
  };
  const taskList = { [of.queue]: async (payload) => onJob(payload) };
  const common = { connectionString: databaseOf(of), logger, noHandleSignals: true, taskList };
  if (of.workers === 'best') return void (await run({ ...common, preset: { worker: tuned } }));
  for (let index = 0; index < of.workers; index++) {
    await run({ ...common, concurrency: 1, maxPoolSize: 3 });
  }
}
