/** Which days a report of the console is about. */
import { expect } from 'chai';
import { daysOf, months, PRESET_SPAN } from '../../../console/pages/reports/spans.ts';

describe('the days of a report', () => {
  const now = Date.UTC(2026, 10, 22, 18, 40, 12);

  it('are those that the URL says, and for a quarter of an hour the same', () => {
    expect(daysOf('today', now)).to.deep.equal({});
    expect(daysOf('7d', now)).to.deep.equal({ from: '2026-11-16T18:30:00.000Z' });
    expect(daysOf('7d', now + 60_000)).to.deep.equal(daysOf('7d', now));
    expect(daysOf('30d', now)).to.deep.equal({ from: '2026-10-24T18:30:00.000Z' });
    expect(daysOf('2028-02', now)).to.deep.equal({ from: '2028-02-01', to: '2028-02-29' });
    for (const wrong of ['ever', '9999-12', '0000-01', '0099-05']) {
      expect(daysOf(wrong, now), wrong).to.deep.equal(daysOf(PRESET_SPAN, now));
    }
  });

  it('may be a month for as long as days are kept', () => {
    const all = months(now);
    expect([all[0], all[1], all.at(-1)]).to.deep.equal(['2026-11', '2026-10', '2025-11']);
  });
});
