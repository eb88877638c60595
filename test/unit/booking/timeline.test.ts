/** How much is taken when, against a count of all claims; with so many of them that there are several blocks. */
import { expect } from 'chai';
import { array, assert, boolean, nat, property, record } from 'fast-check';
import { type Claim, Timeline } from '../../../master/domain/plan/timeline.ts';

const END = 400;

/** At each instant, however the claims lie. */
function naiveLoads(claims: readonly Claim[]): number[] {
  return Array.from({ length: 2 * END }, (_, at) => {
    const open = claims.filter(({ from, to }) => from <= at && at < to);
    return open.reduce((load, { count }) => load + count, 0);
  });
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
        const loads = naiveLoads(claims);
        for (let from = 0; from < END; from += 7) {
          expect(timeline.loadAt(from)).to.equal(loads[from]);
          for (const to of [from + 1, from + 30, END + 50]) {
            expect(timeline.peak(from, to)).to.equal(Math.max(...loads.slice(from, to)));
            const found = Array.from({ length: to - from }, (): number[] => []);
            for (const one of timeline.stretches({ from, to }, () => 2)) {
              for (let at = one.from; at < one.to; at++) found[at - from]?.push(one.load);
            }
            const wanted = loads.slice(from, to).map((load) => (load > 2 ? [load] : []));
            expect(found.join(';')).to.equal(wanted.join(';'));
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
