/** beanstalkd by jackd, as `library.ts` has it. Its jobs have no batches. */
import jackd from 'jackd';

const Client = jackd.default ?? jackd;

async function connect({ server }) {
  const client = new Client();
  await client.connect({ host: '127.0.0.1', port: Number(new URL(server).port) });
  return client;
}

export async function connectProducer(of) {
  const clients = await Promise.all(Array.from({ length: 8 }, () => connect(of)));
  for (const client of clients) await client.use(of.queue);
  let next = 0;
  return { submit: (data) => clients[next++ % clients.length].put(JSON.stringify(data)) };
}

/** `best`: twenty connections, each with one job at a time. */
export async function connectWorkers(of, onJob) {
  const count = of.workers === 'best' ? 20 : of.workers;
  for (let index = 0; index < count; index++) {
    const client = await connect(of);
    await client.watch(of.queue);
    const loop = async () => {
      for (;;) {
        const { id, payload } = await client.reserve();
        onJob(JSON.parse(payload.toString()));
        await client.delete(id);
      }
    };
    void loop();
  }
}
