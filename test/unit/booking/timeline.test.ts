/** How much is taken when, against a count of all claims; with so many of them that there are several blocks. */
import { expect } from 'chai';
import { array, assert, boolean, nat, property, record } from 'fast-check';
import { type Claim, Timeline } from '../../../master/domain/plan/timeline.ts';

const END = 400;

function naiveLoad(claims: readonly Claim[], at: number): number {
  let load = 0;
  for (const { from, to, count } of claims) if (from <= at && at < to) load += count;
  return load;
}

function naivePeak(claims: readonly Claim[], from: number, to: number): number {
  let peak = 0;
  for (let at = from; at < to; at++) peak = Math.max(peak, naiveLoad(claims, at));
  return peak;
}

describe('Timeline', () => {
  const operation = record({ from: nat(END), length: nat(40), count: nat(3), removes: boolean() });

  it('knows the load and its peak, whatever was added and removed', () => {
    assert(
      property(array(operation, { minLength: 200, maxLength: 500 }), (operations) => {
        const timeline = new Timeline();
        const claims: Claim[] = [];
        for (const { from, length, count, removes } of operations) {
          if (removes && claims.length > 0) {
            const [claim] = claims.splice(from % claims.length, 1);
            timeline.remove(claim as Claim);
          } else {
            const claim = { from, to: from + length + 1, count: count + 1, pin: null };
            claims.push(claim);
            timeline.add(claim);
          }
        }
        for (let from = 0; from < END; from += 7) {
          expect(timeline.loadAt(from)).to.equal(naiveLoad(claims, from));
          for (const to of [from + 1, from + 30, END + 50]) {
            expect(timeline.peak(from, to)).to.equal(naivePeak(claims, from, to));
            const stretches = [...timeline.stretches({ from, to }, () => 2)];
            for (let at = from; at < to; at++) {
              const load = naiveLoad(claims, at);
              const found = stretches.filter((one) => one.from <= at && at < one.to);
              expect(found.map((one) => one.load)).to.deep.equal(load > 2 ? [load] : []);
            }
            const begun = claims.filter((claim) => claim.from >= from && claim.from < to);
            const told = new Set(timeline.begunWithin(from, to));
            expect(told.size).to.equal(begun.length);
            expect(begun.every((claim) => told.has(claim))).to.equal(true);
          }
        }
        for (const claim of claims) timeline.remove(claim);
        expect(timeline.isEmpty).to.equal(true);
      }),
      { numRuns: 20 },
    );
  });

  it('knows when it changes, the nearest times before an instant and after it', () => {
    const timeline = new Timeline();
    for (let from = 0; from < 3_000; from += 10) {
      timeline.add({ from, to: from + 5, count: 1, pin: null });
    }
    const near = timeline.changesNear(1_502, 3).sort((a, b) => a - b);
    expect(near).to.deep.equal([1_490, 1_495, 1_500, 1_505, 1_510, 1_515]);
    expect(timeline.changesNear(-10, 2)).to.deep.equal([0, 5]);
  });
});
