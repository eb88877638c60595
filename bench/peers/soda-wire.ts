/** Soda by its client, and by executors on the bare wire protocol, as `library.ts` has it: what the master can do. */
import { connectOnWire } from '../wire-executor.ts';
import type { Job, Place, Workers } from './library.ts';

export { connectProducer } from './soda.ts';

const BEST_COUNT = 64;

export async function connectWorkers(
  { server: url, queue: type, workers }: Place & { readonly workers: Workers },
  onJob: (job: Job) => void,
): Promise<void> {
  const joined = Array.from({ length: workers === 'best' ? BEST_COUNT : workers }, (_, index) => {
    return new Promise<void>((onConnected) => {
      const onTask = (params: unknown): void => onJob(params as Job);
      connectOnWire({ url, id: `wire-${index}`, type, onConnected, onTask });
    });
  });
  await Promise.all(joined);
}
