/** Which executor a value goes to, against a look at all of them; and how little is looked at. */
import { expect } from 'chai';
import * as fc from 'fast-check';
import { ROUTE_MISS_COUNT } from '../../../master/domain/bounds.ts';
import type { Executor } from '../../../master/domain/model/executor.ts';
import { hashOf, mixed } from '../../../master/domain/queue/hash.ts';
import { type Nearest, Ring } from '../../../master/domain/queue/ring.ts';
import { sampleExecutor } from '../../helpers/task.ts';

const named = (id: string, idHash = hashOf(id)): Executor => ({ ...sampleExecutor, id, idHash });

/** Of all places that a value looks from. */
function nearestOfAll(value: number, executors: readonly Executor[]): string | undefined {
  const all = executors.flatMap((executor) =>
    Array.from({ length: 21 }, (_, probe) => {
      const from = mixed(value, probe);
      const distances = [0, 1, 2, 3].map((n) => (mixed(executor.idHash, ~n) - from) >>> 0);
      return { executor, distance: Math.min(...distances) };
    }),
  );
  const isNearer = (a: Nearest, b: Nearest) =>
    a.distance < b.distance || (a.distance === b.distance && a.executor.id < b.executor.id);
  return all.reduce<Nearest | null>(
    (best, one) => (best === null || isNearer(one, best) ? one : best),
    null,
  )?.executor.id;
}

describe('Ring', () => {
  it('finds the nearest of those that may be, whoever has come and gone, also at one place', () => {
    const places = fc.array(fc.oneof(fc.nat(2 ** 32 - 1), fc.constantFrom(0, 7, 2 ** 32 - 1)), {
      minLength: 1,
      maxLength: 30,
    });
    const property = fc.property(places, fc.nat(2 ** 32 - 1), fc.nat(3), (hashes, value, off) => {
      const all = hashes.map((hash, index) => named(`x${index}`, hash));
      const half = all.filter((_, index) => index % 2 === 0);
      const ring = new Ring(half);
      for (const executor of all) if (!half.includes(executor)) ring.add(executor);
      const left = all.filter((_, index) => index % 4 !== off);
      for (const executor of all) if (!left.includes(executor)) ring.remove(executor);
      const found = ring.nearest(value, () => true)?.executor.id;
      expect(found).to.equal(nearestOfAll(value, left));
      const some = left.filter((_, index) => index % 3 === 0);
      const [one, other] = [new Ring(some), new Ring(left.filter((x) => !some.includes(x)))];
      const mayBe = (executor: Executor) => some.includes(executor);
      expect(ring.nearest(value, mayBe)?.executor.id).to.equal(nearestOfAll(value, some));
      const all2 = () => true;
      const joined = other.nearest(value, all2, one.nearest(value, all2));
      expect(joined?.executor.id).to.equal(nearestOfAll(value, left));
    });
    fc.assert(property, { numRuns: 200 });
  });

  it('looks at few of ten thousand, and gives up where hardly anybody may be', () => {
    const ring = new Ring(Array.from({ length: 10_000 }, (_, index) => named(`encoder-${index}`)));
    let lookCount = 0;
    for (let value = 0; value < 1_000; value++) {
      ring.nearest(hashOf(`${value}`), () => ++lookCount > 0);
    }
    expect(lookCount).to.be.below(21_000);
    lookCount = 0;
    const nobody = ring.nearest(1, () => ++lookCount < 0);
    expect({ nobody, lookCount }).to.deep.equal({ nobody: null, lookCount: ROUTE_MISS_COUNT });
  });
});
