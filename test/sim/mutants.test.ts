/** Every bug of `mutants.ts` must be found within a few seeds. */
import { expect } from 'chai';
import { MUTANT_NAMES, runMutant } from './mutants.ts';

const SEED_COUNT_MAX = 60;

describe('the simulation finds a master that', function () {
  for (const name of MUTANT_NAMES) {
    it(name, async () => {
      for (let seed = 1; seed <= SEED_COUNT_MAX; seed++) {
        if ((await runMutant(name, seed)) !== null) return;
      }
      expect.fail(`not found in ${SEED_COUNT_MAX} seeds`);
    });
  }
});
