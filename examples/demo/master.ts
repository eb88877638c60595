/** The master of the demo as a process: the environment in, its log on stdout. */
import { loadConfig, runMaster } from '@soda-scheduler/master';

const outcome = loadConfig({ env: process.env, flags: {} });
if ('problems' in outcome) throw new Error(outcome.problems.join('\n'));
const master = await runMaster(outcome.config);
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => void master.stop());
await master.stopped;
