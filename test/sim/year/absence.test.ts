/** A long absence, after which `misfire: all` makes up for no more than it may, and no less. */
import { expect } from 'chai';
import { simulateAbsence } from './absence.ts';
import type { YearSabotage } from './master.ts';

/** `npm run sim -- --years` takes any number. */
const SEEDS = [1, 2, 3, 4];

const MUTANTS: readonly (YearSabotage & { readonly says: RegExp })[] = [
  {
    name: 'counts none of those that it makes up for',
    says: /are run$/,
    state: ({ jobs }) => {
      jobs.madeUpCount = 0;
    },
  },
  {
    name: 'keeps no record of those that are too many',
    says: /has 0 records of/,
    commit: (commit) => ({
      ...commit,
      writes: commit.writes.filter((write) => {
        const isPut = write.table === 'occurrence' && write.op === 'put';
        return !(isPut && write.row.reason === 'overflow');
      }),
    }),
  },
];

describe('a long absence', () => {
  for (const seed of SEEDS) {
    it(`is made up for by ten thousand runs at most, each time with its record (${seed})`, async () => {
      const { violation, missedCount, madeUpCount, beginCount } = await simulateAbsence(seed);
      expect(violation).to.equal(null);
      expect(missedCount).to.be.greaterThan(madeUpCount);
      if (seed % 2 === 0) expect(beginCount, 'it is killed meanwhile').to.be.greaterThan(1);
    });
  }

  for (const mutant of MUTANTS) {
    it(`finds a master that ${mutant.name}`, async () => {
      expect((await simulateAbsence(1, mutant)).violation).to.match(mutant.says);
    });
  }
});
