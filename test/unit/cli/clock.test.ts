/** What `soda doctor` says of the clocks, by an answer that took its time. */
import { expect } from 'chai';
import { clockFinding } from '../../../cli/check/clock.ts';

const AT = Date.UTC(2027, 0, 15, 8);

describe('the clock of this machine', () => {
  /** `aheadMs`: of the clock that the answer is from, which looked `tookMs` before it was heard. */
  const seen = (aheadMs: number, tookMs: number) => {
    const date = new Date(AT - aheadMs).toUTCString();
    const { state, detail } = clockFinding(date, { askedAt: AT, heardAt: AT + tookMs });
    return `${state}: ${detail}`;
  };

  it('is as the master where the time that the answer took tells no more', () => {
    for (const tookMs of [0, 3, 900]) expect(seen(0, tookMs)).to.equal('ok: as the master');
    // On the same machine, which is busy.
    const within = 'ok: as the master, within the time the answer took';
    expect(seen(-3_000, 3_000)).to.equal(within);
    expect(seen(0, 3_000)).to.equal(within);
  });

  it('is off by the least that it must be', () => {
    expect(seen(10_000, 100)).to.equal('ok: 9 s ahead of the master');
    expect(seen(-10_000, 4_000)).to.equal('ok: 6 s behind the master');
    expect(seen(62_000, 100)).to.equal('failed: 61 s ahead of the master');
    expect(seen(-65_000, 4_000)).to.equal('failed: 61 s behind the master');
    expect(clockFinding(null, { askedAt: AT, heardAt: AT }).state).to.equal('warning');
  });
});
