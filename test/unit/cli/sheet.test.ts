/** `soda calendar preview`: a year as months, side by side. */
import { expect } from 'chai';
import { yearSheet } from '../../../cli/calendar/sheet.ts';

describe('a year of a calendar, printed', () => {
  const days = [
    { date: '2026-10-01', kind: 'off' as const, label: 'National Day' },
    { date: '2026-10-03', kind: 'off' as const },
    { date: '2026-10-10', kind: 'work' as const },
    { date: '2027-10-04', kind: 'off' as const },
  ];
  const sheet = yearSheet({ days, weekend: [6, 0] }, 2026);
  const lines = sheet.split('\n');

  it('has twelve months, three beside one another, with weeks that begin on Monday', () => {
    expect(lines[0]).to.match(/^January 2026 +February 2026 +March 2026$/);
    // The first of January was a Thursday, the first of February a Sunday.
    expect(lines[2]).to.match(/^ {14}1 {3}2 {3}3 {3}4 +1 +1$/);
    expect(sheet.match(/2026/g)).to.have.length(12);
  });

  it('marks what is not as its weekday would have it, of that year only', () => {
    expect(sheet).to.contain('  1*  2   3   4 ');
    expect(sheet).to.contain(' 10+ 11 ');
    expect(sheet.match(/\d\*/g)).to.deep.equal(['1*']);
  });
});
