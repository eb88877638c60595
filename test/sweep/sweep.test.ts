/**
 * A sample of the sweep: 32 faults, of each kind at each start, chosen by a seed that is printed. The
 * whole of it is `npm run sweep`.
 */
import { expect } from 'chai';
import { randomInt } from 'node:crypto';
import { Random } from '../sim/random.ts';
import { starts } from './starts.ts';
import { type Fault, type Kind, KINDS, straceMissing } from './strace.ts';
import { faultsOf, tryFault } from './trial.ts';

/** Of each kind at each start. What kills leaves behind differs from call to call; the others are borne alike. */
const COUNTS: Readonly<Record<Kind, number>> = { kill: 4, EIO: 2, ENOSPC: 2 };
const FAULT_COUNT = COUNTS.kill + COUNTS.EIO + COUNTS.ENOSPC;

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
      expect(sample).to.have.length(FAULT_COUNT);
      for (const fault of sample) {
        const about = `${fault.kind} at ${fault.call} ${fault.nth}`;
        const effect = await tryFault(start, fault).catch((cause: unknown) => {
          throw new Error(about, { cause });
        });
        expect(effect, about).not.to.equal('unharmed');
        if (fault.kind === 'kill') expect(effect, about).to.equal('killed');
      }
    });
  }
});

/** Equal seeds choose equal faults; a call that is rare is chosen as often as one that is not. */
function sampleOf(faults: readonly Fault[], random: Random): Fault[] {
  const chosen: Fault[] = [];
  for (const kind of KINDS) {
    for (let count = 0; count < COUNTS[kind]; count++) {
      const left = faults.filter((fault) => fault.kind === kind && !chosen.includes(fault));
      const call = random.pick([...new Set(left.map((fault) => fault.call))]);
      const fault = random.pick(left.filter((each) => each.call === call));
      if (fault !== undefined) chosen.push(fault);
    }
  }
  return chosen;
}
