/** Every bug of `mutants.ts` must be found within a few seeds. */
import { expect } from 'chai';
import { knownSeeds, SEED_COUNT_MAX } from './mutants/seeds.ts';
import { MUTANT_NAMES, runMutant } from './mutants.ts';

const SEEDS = knownSeeds();

describe('the simulation finds a master that', function () {
  for (const name of MUTANT_NAMES) {
    it(name, async () => {
      const others = Array.from({ length: SEED_COUNT_MAX }, (_, index) => index + 1);
      for (const seed of [SEEDS[name] ?? 1, ...others]) {
        if ((await runMutant(name, seed)) !== null) return;
      }
      expect.fail(`not found in ${SEED_COUNT_MAX} seeds`);
    });
  }

  it('is one of those for which seeds are known', () => {
    expect(MUTANT_NAMES).to.include.members(Object.keys(SEEDS));
  });
});
