/**
 * `npm run sim -- --seeds N --from S [--trace]`: exit code 1 and the seeds that failed.
 * `npm run sim -- --years N --from S [--trace]`: the same of years of jobs, and of as many long absences.
 * `npm run sim -- --mutants`: the seeds that find the mutants, for their test.
 */
import { parseArgs } from 'node:util';
import { settingsFor } from './faults.ts';
import { findSeeds } from './mutants/seeds.ts';
import { simulate } from './simulation.ts';
import { simulateAbsence } from './year/absence.ts';
import { simulateYear } from './year/year.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1000' },
    from: { type: 'string', default: '1' },
    trace: { type: 'boolean', default: false },
    years: { type: 'string' },
    mutants: { type: 'boolean', default: false },
  },
});
if (values.mutants) {
  await findSeeds();
  process.exit();
}
const from = Number(values.from);
if (values.years !== undefined) {
  const isWrong = await runYears(Number(values.years));
  process.exit(isWrong ? 1 : 0);
}
const count = Number(values.seeds);
const begun = performance.now();
const failed: string[] = [];
let stepCount = 0;
let commitCount = 0;
let taskCount = 0;

for (let seed = from; seed < from + count; seed++) {
  const outcome = await simulate(settingsFor(seed));
  stepCount += outcome.stepCount;
  commitCount += outcome.commitCount;
  taskCount += outcome.taskCount;
  if (values.trace) console.log(outcome.trace.join('\n'));
  if (outcome.violation !== null) {
    failed.push(`${seed} ${outcome.violation}`);
    if (!values.trace) console.log(`\nseed ${seed}\n${outcome.trace.slice(-60).join('\n')}`);
  }
  const done = seed - from + 1;
  if (process.stderr.isTTY || done % 100 === 0 || done === count) {
    const perSecond = (done / ((performance.now() - begun) / 1000)).toFixed(1);
    const figures = `${stepCount} steps, ${commitCount} commits, ${taskCount} tasks`;
    process.stderr.write(`\r${done} seeds, ${failed.length} failed, ${perSecond}/s, ${figures} `);
  }
}
process.stderr.write('\n');
for (const line of failed) console.log(line.slice(0, 300));
process.exitCode = failed.length > 0 ? 1 : 0;

async function runYears(count: number): Promise<boolean> {
  let isWrong = false;
  for (let seed = from; seed < from + count; seed++) {
    const { violation, trace, ...counts } = await simulateYear(seed);
    const { decidedCount, backfilledCount, killCount } = counts;
    const figures = `${decidedCount} times, ${backfilledCount} run again, ${killCount} kills`;
    if (values.trace) console.log(trace.join('\n'));
    console.log(`year ${seed}: ${violation ?? figures}`);
    if (violation !== null && !values.trace) console.log(trace.slice(-30).join('\n'));
    const absence = await simulateAbsence(seed);
    console.log(
      `absence ${seed}: ${absence.violation ?? `${absence.madeUpCount} times made up for`}`,
    );
    isWrong ||= violation !== null || absence.violation !== null;
  }
  return isWrong;
}
