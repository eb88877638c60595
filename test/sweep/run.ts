/**
 * `npm run sweep [-- --start NAME] [--kind KIND] [--jobs N]`: every fault at every call of every
 * start. Exit code 1 and the faults that were not borne.
 */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { starts } from './starts.ts';
import { type Fault, straceMissing } from './strace.ts';
import { type Effect, faultsOf, tryFault } from './trial.ts';

const { values } = parseArgs({
  options: {
    start: { type: 'string', default: '' },
    kind: { type: 'string', default: '' },
    jobs: { type: 'string', default: String(availableParallelism()) },
  },
});
const missing = straceMissing();
if (missing !== null) throw new Error(missing);

const failures: string[] = [];
for (const start of starts.filter(({ name }) => name.includes(values.start))) {
  const faults = (await faultsOf(start)).filter(({ kind }) => kind.includes(values.kind));
  const begun = performance.now();
  const counts = new Map<Effect | 'failed', number>();
  const queue: Fault[] = [...faults];
  const work = async (): Promise<void> => {
    for (let fault = queue.shift(); fault; fault = queue.shift()) {
      const about = `${start.name}: ${fault.kind} at ${fault.call} ${fault.nth}`;
      const effect = await tryFault(start, fault).catch((error: unknown) => {
        failures.push(about);
        console.log(`\n${about}\n${String(error)}`);
        return 'failed' as const;
      });
      if (effect === 'unharmed') console.log(`${about} did not take place`);
      counts.set(effect, (counts.get(effect) ?? 0) + 1);
      const done = faults.length - queue.length;
      if (process.stderr.isTTY) process.stderr.write(`\r${start.name}: ${done}/${faults.length} `);
    }
  };
  await Promise.all(Array.from({ length: Number(values.jobs) }, work));
  const seconds = ((performance.now() - begun) / 1000).toFixed(0);
  const figures = [...counts].map(([effect, count]) => `${count} ${effect}`).join(', ');
  console.log(`${start.name}: ${faults.length} faults in ${seconds} s: ${figures}`);
}
for (const line of failures) console.log(line);
process.exitCode = failures.length > 0 ? 1 : 0;
