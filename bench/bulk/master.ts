/**
 * A master in a process of its own that tells how long its event loop was held in one piece; prints its URL and stops
 * on SIGTERM.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { loadConfig, runMaster } from '@soda-scheduler/master';

/** What it answers, each the longest since it was asked before. */
export interface LoopReport {
  /** In which the loop stood still, whatever for: flushes of the disk, and what other processes took. */
  readonly gapMs: number;
  /** The same without what it waited for: processor time of the process between two turns of a timer that is due each millisecond. */
  readonly heldMs: number;
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e3;
}

const loaded = loadConfig({ env: process.env, flags: {} });
if ('problems' in loaded) throw new Error(loaded.problems.join('\n'));
const master = await runMaster(loaded.config, { logTo: process.stderr });
const loop = monitorEventLoopDelay({ resolution: 1 });
loop.enable();
let heldMs = 0;
let last = { atMs: performance.now(), cpuMs: cpuMs() };
setInterval(() => {
  const now = { atMs: performance.now(), cpuMs: cpuMs() };
  // Other threads of the process have theirs meanwhile.
  const passedMs = Math.min(now.atMs - last.atMs, now.cpuMs - last.cpuMs);
  heldMs = Math.max(heldMs, passedMs);
  last = now;
}, 1);
process.send?.({ url: master.url });
process.on('message', () => {
  process.send?.({ gapMs: loop.max / 1e6, heldMs } satisfies LoopReport);
  loop.reset();
  heldMs = 0;
});
process.once('SIGTERM', () => void master.stop().then(() => process.exit(0)));
