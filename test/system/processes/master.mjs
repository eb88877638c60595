/**
 * A master as a process: the environment in, an exit code out (0 after SIGTERM, 1 where it could
 * not start, 2 where it had to end by itself). Ends with whoever started it.
 */
import process from 'node:process';
import { loadConfig, runMaster } from '@soda-scheduler/master';

const outcome = loadConfig({ env: process.env, flags: {} });
if ('problems' in outcome) fail(1, outcome.problems.join('\n'));
process.stdin.resume().once('end', () => process.exit(9));

try {
  const master = await runMaster(outcome.config);
  process.once('SIGTERM', () => master.stop().catch((error) => fail(1, error)));
  console.log(JSON.stringify({ msg: 'ready', url: master.url }));
  await master.stopped.catch((error) => fail(2, error));
  process.exit(0);
} catch (error) {
  fail(1, error);
}

function fail(code, error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(code);
}
