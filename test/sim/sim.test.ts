/**
 * The simulation as a test: many short runs, each another mixture of faults. A seed that fails is
 * printed with the end of its trace; `npm run sim -- --from <seed> --seeds 1 --trace` repeats it.
 */
import { expect } from 'chai';
import { NO_FAULTS, type Settings, settingsFor } from './faults.ts';
import { simulate } from './simulation.ts';

const FIRST_SEED = 1;
/** `npm run sim` takes any number, and CI 2,000 each night. */
const SEED_COUNT = 120;
/** Each as a test, so that none takes long on any machine. */
const AT_ONCE = 10;
const TRACE_LINES = 60;
/** A short run. */
const LOGGED_SEED = 15;

async function run(settings: Settings): Promise<readonly string[]> {
  const { violation, trace } = await simulate(settings);
  if (violation === null) return trace;
  const tail = trace.slice(-TRACE_LINES).join('\n');
  return expect.fail(`${violation}\n${trace[0]}\n...\n${tail}`);
}

describe('simulation', () => {
  it('loses nothing, and nobody, when nothing goes wrong', async () => {
    for (let seed = FIRST_SEED; seed < FIRST_SEED + 10; seed++) {
      await run(settingsFor(seed, NO_FAULTS));
    }
  });

  it('keeps what it has promised to bookings, where nobody is lost', async () => {
    const undisturbed = { flipsReadiness: false, hasOperator: false, limitsTypes: false };
    const unset = { declaresCapacity: false, pausesParts: false, relabels: false };
    for (let seed = FIRST_SEED; seed < FIRST_SEED + 6; seed++) {
      const settings = settingsFor(seed, { ...NO_FAULTS, masterCrash: seed % 2 === 0 });
      const booking = { booksExecutors: true, executorCount: 4, wallStepsMs: [] };
      await run({ ...settings, ...undisturbed, ...unset, ...booking });
    }
  });

  it('runs as if nobody logged, whatever is logged', async () => {
    const settings = settingsFor(LOGGED_SEED);
    const [, ...plain] = (await simulate({ ...settings, writesLogs: false })).trace;
    const [, ...logged] = (await simulate({ ...settings, writesLogs: true })).trace;
    expect(logged.join('\n')).to.equal(plain.join('\n'));
  });

  for (let first = FIRST_SEED; first < FIRST_SEED + SEED_COUNT; first += AT_ONCE) {
    const last = first + AT_ONCE - 1;
    it(`keeps its promises in storms, of the seeds ${first} to ${last}`, async () => {
      for (let seed = first; seed <= last; seed++) {
        const trace = await run(settingsFor(seed));
        if (seed % 25 === 0) {
          const again = await run(settingsFor(seed));
          expect(again.join('\n'), 'the same run once more').to.equal(trace.join('\n'));
        }
      }
    });
  }
});
