/**
 * A process that works by a library: argument 1 is its module, argument 2 a `Place` with `workers` as JSON. A message is
 * how many tasks to wait for, from the last answer on; it answers with how long each waited since it was submitted.
 */
import type { Library, Place, Workers } from './library.ts';

const [module = '', place = ''] = process.argv.slice(2);
const library = (await import(module)) as Library;
let waitedMs: number[] = [];
let wanted = Number.POSITIVE_INFINITY;

const report = (): void => {
  if (waitedMs.length < wanted) return;
  wanted = Number.POSITIVE_INFINITY;
  process.send?.({ waitedMs });
  waitedMs = [];
};
await library.connectWorkers(JSON.parse(place) as Place & { workers: Workers }, ({ sentAt }) => {
  waitedMs.push(performance.timeOrigin + performance.now() - sentAt);
  report();
});
process.on('message', (count: number) => {
  wanted = count;
  report();
});
process.once('SIGTERM', () => process.exit(0));
process.send?.({ ready: true });
