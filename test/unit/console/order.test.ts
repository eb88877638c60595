/** In which order the console lists types, while what waits of them changes all the time. */
import { expect } from 'chai';
import type { TypeView } from '@soda-scheduler/protocol';
import { type Order, orderOf } from '../../../console/pages/fleet/order.ts';

const MINUTE_MS = 60_000;

function types(waiting: Record<string, number>, unserved = ''): TypeView[] {
  return Object.entries(waiting).map(
    ([type, n]) =>
      ({
        ...{ type, paused: null, counts: { waiting: n } },
        executors: type === unserved ? 0 : 1,
      }) as unknown as TypeView,
  );
}

describe('the order of types in the console', () => {
  const none = new Map();
  const first: Order = orderOf(types({ a: 0, b: 5, c: 2 }), none, null, 0);

  it('has those first of which most waits, and stays while the numbers change', () => {
    expect(first.names).to.deep.equal(['b', 'c', 'a']);
    expect(orderOf(types({ a: 9, b: 0, c: 3 }), none, first, MINUTE_MS - 1)).to.equal(first);
    const later = orderOf(types({ a: 9, b: 0, c: 3 }), none, first, MINUTE_MS);
    expect(later.names).to.deep.equal(['a', 'c', 'b']);
  });

  it('changes at once where a type is new, or nobody runs one any more: once, if that comes and goes', () => {
    expect(orderOf(types({ a: 0, d: 7 }), none, first, 1).names).to.deep.equal(['d', 'a']);
    const worse = orderOf(types({ a: 1, b: 5, c: 2 }, 'a'), none, first, 1);
    expect(worse.names).to.deep.equal(['a', 'b', 'c']);
    expect(orderOf(types({ a: 1, b: 5, c: 2 }), none, worse, 2)).to.equal(worse);
    expect(orderOf(types({ a: 1, b: 5, c: 2 }, 'a'), none, worse, 3)).to.equal(worse);
  });
});
