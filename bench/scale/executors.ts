/**
 * Executors on the bare wire protocol, in one process. Some take tasks, as many as they are told to, and hold what comes
 * after; the others wait for a type that nobody submits. A task that says in its params when it was submitted is timed.
 * Arguments: number that takes tasks, number that waits, milliseconds that a task takes on average. They connect once
 * they are told the URL of the master.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { connectOnWire } from '../wire-executor.ts';
import { BACKLOG_TYPE } from './backlog.ts';

/** What they are told: where the master is, and then to run so many tasks more. */
export type Place = { readonly url: string };
export type Budget = number;
/** What they answer when they have; milliseconds from submit to start of those that are timed. */
export interface Ran {
  readonly waitedMs: readonly number[];
}

const IDLE_TYPE = 'idle';
/** So many connect at a time: a server keeps a few hundred waiting that knock at once. */
const AT_ONCE = 64;

const [busyCount = '0', idleCount = '0', taskMs = '0'] = process.argv.slice(2);
const executorCount = Number(busyCount) + Number(idleCount);
/** Those that the budget was not enough for. */
const held: (() => void)[] = [];
let connectedCount = 0;
let begunCount = 0;
let budget = 0;
let unfinished = 0;
let waitedMs: number[] = [];

async function run(params: unknown): Promise<void> {
  if (budget > 0) budget--;
  else await new Promise<void>((resolve) => held.push(resolve));
  const { sentAt } = params as { readonly sentAt?: number };
  if (sentAt !== undefined) waitedMs.push(performance.timeOrigin + performance.now() - sentAt);
  // From none to twice as long: they are not to end together.
  if (taskMs !== '0') await delay(Number(taskMs) * 2 * Math.random());
  if (--unfinished > 0) return;
  process.send?.({ waitedMs });
  waitedMs = [];
}

function connectNext(url: string): void {
  if (begunCount === executorCount) return;
  const at = begunCount++;
  connectOnWire({
    url,
    id: `executor-${at}`,
    type: at < Number(busyCount) ? BACKLOG_TYPE : IDLE_TYPE,
    onConnected: () => {
      if (++connectedCount === executorCount) process.send?.({ connectedCount });
      connectNext(url);
    },
    onTask: run,
  });
}

function runMore(more: Budget): void {
  unfinished += more;
  const resumed = held.splice(0, more);
  budget += more - resumed.length;
  for (const resume of resumed) resume();
}

process.on('message', (told: Place | Budget) => {
  if (typeof told === 'number') return runMore(told);
  for (let at = 0; at < AT_ONCE; at++) connectNext(told.url);
});
process.once('SIGTERM', () => process.exit(0));
process.send?.({ connectedCount });
