/** pg-boss on PostgreSQL, as `library.ts` has it. 10 is the last line for Node 20. */
import { setTimeout as delay } from 'node:timers/promises';
import PgBoss from 'pg-boss';

async function connect({ server, queue }) {
  const boss = new PgBoss({ connectionString: server, max: 20, supervise: false, schedule: false });
  boss.on('error', (error) => {
    throw error;
  });
  await boss.start();
  await boss.createQueue(queue);
  return boss;
}

export async function connectProducer(of) {
  const boss = await connect(of);
  const { queue: name } = of;
  return {
    submit: (data) => boss.send(name, data),
    submitMany: (all) => boss.insert(all.map((data) => ({ name, data }))),
  };
}

/**
 * `best` alone: up to 500 are fetched at once in a loop that sleeps 5 ms where there is nothing. Its `work()` looks
 * every half second at the soonest, so that one worker runs two jobs a second.
 */
export async function connectWorkers(of, onJob) {
  const boss = await connect(of);
  const { queue } = of;
  const loop = async () => {
    for (;;) {
      const jobs = await boss.fetch(queue, { batchSize: 500 });
      if (jobs.length === 0) await delay(5);
      else {
        for (const { data } of jobs) onJob(data);
        await boss.complete(
          queue,
          jobs.map(({ id }) => id),
        );
      }
    }
  };
  void loop();
}
