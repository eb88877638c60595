/**
 * A sample of the sweep: some of all faults, chosen by a seed that is printed. The whole of it is
 * `npm run sweep`.
 */
import { expect } from 'chai';
import { randomInt } from 'node:crypto';
import { Random } from '../sim/random.ts';
import { starts } from './starts.ts';
import { CALLS, type Fault, KINDS, straceMissing } from './strace.ts';
import { type Effect, faultsOf, tryFault } from './trial.ts';

/** Of all starts together. */
const SAMPLE_COUNT = 30;
/** Masters at a time. */
const JOB_COUNT = 3;

describe('a start with a faulty disk', function () {
  this.timeout(300_000);
  this.slow(60_000);
  const seed = Number(process.env['SODA_SEED'] ?? randomInt(2 ** 31));

  before(function () {
    const missing = straceMissing();
    console.log(missing === null ? `    SODA_SEED=${seed}` : `    skipped: ${missing}`);
    if (missing !== null) this.skip();
  });

  for (const [index, start] of starts.entries()) {
    it(`loses nothing, and the next one serves: ${start.name}`, async () => {
      const count = Math.floor((SAMPLE_COUNT + index) / starts.length);
      const queue = sampleOf(await faultsOf(start), count, new Random(seed + index));
      const effects = new Map<Fault, Effect>();
      const work = async (): Promise<void> => {
        for (let fault = queue.shift(); fault; fault = queue.shift()) {
          effects.set(fault, await tryFault(start, fault));
        }
      };
      await Promise.all(Array.from({ length: JOB_COUNT }, work));
      for (const [{ kind, call, nth }, effect] of effects) {
        const about = `${kind} at ${call} ${nth}`;
        expect(effect, about).not.to.equal('unharmed');
        if (kind === 'kill') expect(effect, about).to.equal('killed');
      }
    });
  }
});

/** Equal seeds choose equal faults; a call that is rare is chosen as often as one that is not. */
function sampleOf(faults: readonly Fault[], count: number, random: Random): Fault[] {
  const sample = new Set<Fault>();
  while (sample.size < count) {
    const kind = random.pick(KINDS);
    const call = random.pick(CALLS);
    const fault = random.pick(faults.filter((one) => one.kind === kind && one.call === call));
    if (fault !== undefined) sample.add(fault);
  }
  return [...sample];
}
