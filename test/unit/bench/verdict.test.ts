/** What the benchmark says of two clones that were measured by turns. */
import { expect } from 'chai';
import { judge } from '../../../bench/beside/verdict.ts';

describe('the verdict on two clones', () => {
  it('is that they are the same up to 3 %, however narrow the spread', () => {
    const steady = [100, 100, 100, 100, 100];
    for (const here of [97, 103]) {
      const { verdict } = judge(steady, Array<number>(5).fill(here), 'less');
      expect(verdict).to.equal('the same within 3 %');
    }
  });

  it('is slower where less is better and there is more than 3 % and the spread more of it', () => {
    const { verdict } = judge([100, 101, 99, 100, 102], [106, 107, 105, 106, 108], 'less');
    expect(verdict).to.equal('slower by 6 %, more than the spread of 0.2 %');
  });

  it('goes the other way where more is better', () => {
    const there = [100, 100, 100];
    const here = [110, 110, 110];
    const beside = 'by 10 %, more than the spread of 0 %';
    expect(judge(there, here, 'more').verdict).to.equal(`faster ${beside}`);
    expect(judge(there, here, 'less').verdict).to.equal(`slower ${beside}`);
  });

  it('says so where the turns differ more from one another than the clones do', () => {
    const { verdict } = judge([100, 100, 100], [100, 106, 110], 'less');
    expect(verdict).to.equal('slower by 6 %, within the spread of 10 %');
  });

  it('goes by the ratio of each turn, so that a slow spell of the machine falls on both', () => {
    const { ratios, verdict } = judge([100, 200, 300], [110, 220, 330], 'less');
    for (const ratio of ratios) expect(ratio).to.be.closeTo(1.1, 0.001);
    expect(verdict).to.equal('slower by 10 %, more than the spread of 0 %');
  });

  it('goes by the middle of the two in the middle where a turn was lost', () => {
    const { verdict } = judge([100, 100, 100, 100], [95, 97, 105, 106], 'less');
    expect(verdict).to.equal('the same within 3 %');
  });

  it('decides nothing by one turn', () => {
    expect(judge([100], [120], 'less').verdict).to.equal('slower by 20 %, in one turn');
  });
});
