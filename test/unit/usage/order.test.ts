/** The rows of a report in their order. */
import { expect } from 'chai';
import { inOrder } from '../../../master/access/routes/reports/usage-routes.ts';

describe('the rows of a report', () => {
  it('are put in order in small pieces, each of them once', () => {
    const count = 10_000;
    // 7,919 has no divisor in common with it: each number comes once, in no order.
    const found = Array.from({ length: count }, (_, n) => ({
      day: n % 2 === 0 ? '2026-11-21' : '2026-11-22',
      values: [n % 3 === 0 ? null : 'g', `u-${(n * 7_919) % count}`],
      figures: {},
    }));
    const steps = inOrder(found, ['group', 'day', 'user'], ['group', 'user']);
    let step = steps.next();
    let pieceCount = 1;
    for (; step.done !== true; step = steps.next()) pieceCount += 1;
    expect(pieceCount).to.be.at.least(count / 100);
    const places = step.value.map(({ place }) => place);
    const text = (place: readonly string[]): string => place.join(' ');
    const expected = found.map(({ day, values: [group, user] }) => [group ?? '', day, user ?? '']);
    expect(places.map(text)).to.deep.equal(expected.map(text).sort());
  });
});
