/**
 * A master in a process of its own, as it is in production; prints its URL and stops on SIGTERM.
 * Argument: the clone that it is taken from, without one this.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { packageOf } from './beside/clone.ts';

const { loadConfig, runMaster } = await packageOf('master', process.argv[2]);
const loaded = loadConfig({ env: process.env, flags: {} });
if ('problems' in loaded) throw new Error(loaded.problems.join('\n'));
const master = await runMaster(loaded.config, { logTo: process.stderr });
const loop = monitorEventLoopDelay({ resolution: 1 });
loop.enable();
process.send?.({ url: master.url });
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  const gapMs = loop.max / 1e6;
  loop.reset();
  process.send?.({ cpuUs: user + system, rssBytes: process.memoryUsage.rss(), gapMs });
});
process.once('SIGTERM', () => void master.stop().then(() => process.exit(0)));
