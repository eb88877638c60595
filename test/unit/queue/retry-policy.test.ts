/** The wait before the next attempt, by the three forms of `interval`. */
import { expect } from 'chai';
import { assert, constantFrom, double, integer, property } from 'fast-check';
import { backoffMs } from '../../../master/domain/model/retry-policy.ts';
import type { RetryPolicy } from '../../../master/domain/model/task.ts';

function waitsMs(interval: RetryPolicy['interval'], count: number, random01 = 0): number[] {
  const policy = { maxAttempts: 0, interval };
  return Array.from({ length: count }, (_, i) => backoffMs(policy, i + 1, random01));
}

describe('backoffMs', () => {
  it('above 0: doubles from one second up to the interval (A-23)', () => {
    expect(waitsMs(10, 6)).to.deep.equal([1000, 2000, 4000, 8000, 10_000, 10_000]);
    expect(waitsMs(600, 11).at(-2)).to.equal(512_000);
    expect(waitsMs(600, 11).at(-1)).to.equal(600_000);
  });

  it('below 0: always the same (A-24)', () => {
    expect(waitsMs(-90, 3)).to.deep.equal([90_000, 90_000, 90_000]);
  });

  it('a list: that list, its last value repeated (A-25)', () => {
    expect(waitsMs([5, 0, 60], 5)).to.deep.equal([5000, 0, 60_000, 60_000, 60_000]);
    expect(waitsMs([7], 3)).to.deep.equal([7000, 7000, 7000]);
  });

  it('0, or an empty list: at once', () => {
    expect(waitsMs(0, 3)).to.deep.equal([0, 0, 0]);
    expect(waitsMs([], 2)).to.deep.equal([0, 0]);
  });

  it('a fraction of a second is kept to the millisecond', () => {
    expect(waitsMs(0.5, 2)).to.deep.equal([500, 500]);
    expect(waitsMs([0.0015], 1)).to.deep.equal([2]);
  });

  it('adds between 0 and 10 %', () => {
    expect(waitsMs(-100, 1, 0.5)).to.deep.equal([105_000]);
    expect(waitsMs([100], 1, 0.999_999)).to.deep.equal([110_000]);
  });

  it('is within 10 % above its floor, and finite, for any number of attempts', () => {
    assert(
      property(
        constantFrom<RetryPolicy['interval']>(600, 31_536_000, -600, [1, 2, 3], 0.1),
        integer({ min: 1, max: 1_000_000 }),
        double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (interval, attemptsUsed, random01) => {
          const floor = backoffMs({ maxAttempts: 0, interval }, attemptsUsed, 0);
          const wait = backoffMs({ maxAttempts: 0, interval }, attemptsUsed, random01);
          expect(wait).to.be.within(floor, Math.ceil(floor * 1.1));
        },
      ),
    );
  });
});
