/**
 * A process that submits by a library: argument 1 is its module, argument 2 a `Place` as JSON. Each message is an
 * `Order`; it answers when all of it was accepted.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { jobOf, type Library, type Place } from './library.ts';

/** `batchCount` 1: one call a task, `callCount` at a time. `perSecond`: one by one at that pace, whether accepted or not. */
export interface Order {
  readonly count: number;
  readonly callCount: number;
  readonly batchCount: number;
  readonly perSecond: number | null;
}

const [module = '', place = ''] = process.argv.slice(2);
const library = (await import(module)) as Library;
const producer = await library.connectProducer(JSON.parse(place) as Place);

async function obey({ count, callCount, batchCount, perSecond }: Order): Promise<void> {
  if (perSecond !== null) {
    const begun = performance.now();
    const accepted: Promise<unknown>[] = [];
    for (let sent = 0; sent < count; sent++) {
      await delay(begun + (sent * 1000) / perSecond - performance.now());
      accepted.push(producer.submit(jobOf()));
    }
    await Promise.all(accepted);
    return;
  }
  let left = count;
  const caller = async (): Promise<void> => {
    while (left > 0) {
      const size = Math.min(batchCount, left);
      left -= size;
      if (batchCount === 1) await producer.submit(jobOf());
      else await producer.submitMany?.(Array.from({ length: size }, jobOf));
    }
  };
  await Promise.all(Array.from({ length: callCount }, caller));
}

process.on('message', (order: Order) => {
  void obey(order).then(() => process.send?.({ accepted: order.count }));
});
process.once('SIGTERM', () => process.exit(0));
process.send?.({ ready: true });
