/**
 * A sample of the sweep: one fault of each kind at each start, chosen by a seed that is printed. The
 * whole of it is `npm run sweep`.
 */
import { expect } from 'chai';
import { randomInt } from 'node:crypto';
import { Random } from '../sim/random.ts';
import { starts } from './starts.ts';
import { type Fault, KINDS, straceMissing } from './strace.ts';
import { faultsOf, tryFault } from './trial.ts';

describe('a start with a faulty disk', function () {
  this.slow(60_000);
  const seed = Number(process.env['SODA_SEED'] ?? randomInt(2 ** 31));

  before(function () {
    const missing = straceMissing();
    console.log(missing === null ? `    SODA_SEED=${seed}` : `    skipped: ${missing}`);
    if (missing !== null) this.skip();
  });

  for (const [index, start] of starts.entries()) {
    it(`loses nothing, and the next one serves: ${start.name}`, async () => {
      const sample = sampleOf(await faultsOf(start), new Random(seed + index));
      const effects = await Promise.all(sample.map((fault) => tryFault(start, fault)));
      for (const [at, effect] of effects.entries()) {
        const { kind, call, nth } = sample[at] as Fault;
        const about = `${kind} at ${call} ${nth}`;
        expect(effect, about).not.to.equal('unharmed');
        if (kind === 'kill') expect(effect, about).to.equal('killed');
      }
    });
  }
});

/** Equal seeds choose equal faults; a call that is rare is chosen as often as one that is not. */
function sampleOf(faults: readonly Fault[], random: Random): Fault[] {
  return KINDS.flatMap((kind) => {
    const ofKind = faults.filter((fault) => fault.kind === kind);
    const call = random.pick([...new Set(ofKind.map((fault) => fault.call))]);
    return random.pick(ofKind.filter((fault) => fault.call === call)) ?? [];
  });
}
