/**
 * The simulation as a test: many short runs, each another mixture of faults. A seed that fails is
 * printed with the end of its trace; `npm run sim -- --from <seed> --seeds 1 --trace` repeats it.
 */
import { expect } from 'chai';
import { NO_FAULTS, type Settings, settingsFor } from './faults.ts';
import { simulate } from './simulation.ts';

const FIRST_SEED = 1;
/** `npm run sim` takes any number. */
const SEED_COUNT = 120;
const TRACE_LINES = 60;
/** A short run. */
const LOGGED_SEED = 15;

async function run(settings: Settings): Promise<readonly string[]> {
  const { violation, trace } = await simulate(settings);
  if (violation === null) return trace;
  const tail = trace.slice(-TRACE_LINES).join('\n');
  return expect.fail(`${violation}\n${trace[0]}\n...\n${tail}`);
}

describe('simulation', function () {
  it('loses nothing, and nobody, when nothing goes wrong', async () => {
    for (let seed = FIRST_SEED; seed < FIRST_SEED + 10; seed++) {
      await run(settingsFor(seed, NO_FAULTS));
    }
  });

  it('runs as if nobody logged, whatever is logged', async () => {
    const settings = settingsFor(LOGGED_SEED);
    const [, ...plain] = (await simulate({ ...settings, writesLogs: false })).trace;
    const [, ...logged] = (await simulate({ ...settings, writesLogs: true })).trace;
    expect(logged.join('\n')).to.equal(plain.join('\n'));
  });

  it(`keeps its promises in ${SEED_COUNT} storms`, async () => {
    for (let seed = FIRST_SEED; seed < FIRST_SEED + SEED_COUNT; seed++) {
      const trace = await run(settingsFor(seed));
      if (seed % 25 === 0) {
        const again = await run(settingsFor(seed));
        expect(again.join('\n'), 'the same run once more').to.equal(trace.join('\n'));
      }
    }
  });
});
