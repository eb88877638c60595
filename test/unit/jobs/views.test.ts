/** Views of many jobs: made in pieces. */
import { expect } from 'chai';
import { textsOf } from '../../../master/access/routes/jobs/job-views.ts';

describe('views of many jobs', () => {
  it('are made one after the other, and all else has its turn between two', () => {
    const made: number[] = [];
    const texts = textsOf([1, 2, 3], (one) => {
      made.push(one);
      return `{"n":${one}}`;
    });
    const seen: number[] = [];
    let step = texts.next();
    for (; step.done !== true; step = texts.next()) seen.push(made.length);
    expect(seen).to.deep.equal([1, 2, 3]);
    expect(step.value).to.equal('[{"n":1},{"n":2},{"n":3}]');
  });
});
