/** Executors that come while windows are planned. */
import { expect } from 'chai';
import { book, bookOne, planOf, pool, wish } from './planned.ts';

describe('an executor that comes', () => {
  const plain = pool('plain', 1, { executorIds: new Set(['e1']) });
  const gpu = pool('gpu', 1, { labels: ['gpu'], executorIds: new Set(['e2']) });

  it('counts in its pool at once, also where windows are being planned anew', () => {
    const plan = planOf([plain, gpu]);
    book(plan, [wish(0, 5), wish(0, 5)]);
    expect(bookOne(plan, wish(0, 5), 2)).to.equal(null);
    plan.see('e3', plain);
    plan.see('e3', plain);
    expect(bookOne(plan, wish(0, 5), 3)).not.to.equal(null);
    expect(bookOne(plan, wish(0, 5), 4)).to.equal(null);
    expect(plain.executorIds.size, 'what was given is not changed').to.equal(1);
  });

  it('counts no longer in the pool that it was in', () => {
    const plan = planOf([plain, gpu]);
    plan.see('e2', plain);
    expect(bookOne(plan, wish(0, 5, 1, { requires: ['gpu'] }), 0)).to.equal(null);
    book(plan, [wish(0, 5), wish(0, 5)]);
    expect(bookOne(plan, wish(0, 5), 3)).to.equal(null);
  });
});
