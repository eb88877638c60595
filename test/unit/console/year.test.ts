/** What the sheet of a year shows of a calendar, and what a change of some days makes of it. */
import { expect } from 'chai';
import { monthsOf, spansOf, withDays } from '../../../console/pages/calendars/year.ts';

const days = [
  { date: '2026-10-10', kind: 'work', label: 'make-up' },
  { date: '2026-10-01', kind: 'off', label: 'National Day' },
  { date: '2026-10-02', kind: 'off', label: 'National Day' },
  { date: '2026-12-31', kind: 'off' },
  { date: '2027-01-01', kind: 'off' },
] as const;
const calendar = { days: [...days], weekend: [6, 0] };

describe('a year of a calendar', () => {
  it('has its days in weeks that begin on Monday', () => {
    const [january, february] = monthsOf(calendar, 2028);
    expect([january?.month, january?.blankCount, january?.days.length]).to.eql(['2028-01', 5, 31]);
    expect([february?.blankCount, february?.days.length]).to.eql([1, 29]);
  });

  it('says of each what it is, and how that is called', () => {
    const october = monthsOf(calendar, 2026)[9];
    const said = (date: string) => october?.days.find((day) => day.date === date);
    expect(said('2026-10-01')).to.eql({ date: '2026-10-01', kind: 'off', label: 'National Day' });
    expect(said('2026-10-03')?.kind).to.equal('weekend');
    expect(said('2026-10-05')?.kind).to.equal('work');
    expect(said('2026-10-10')).to.include({ kind: 'made-up', label: 'make-up' });
  });

  it('tells days in a row of which the same is said as one, within the year', () => {
    expect(spansOf(days, 2026)).to.eql([
      { from: '2026-10-01', to: '2026-10-02', kind: 'off', label: 'National Day' },
      { from: '2026-10-10', to: '2026-10-10', kind: 'work', label: 'make-up' },
      { from: '2026-12-31', to: '2026-12-31', kind: 'off', label: undefined },
    ]);
  });

  it('has something else said of some of them, the others as they were', () => {
    const off = withDays(days, '2026-10-02', '2026-10-03', { kind: 'off', label: 'trip' });
    expect(off.map(({ date, label }) => `${date} ${label}`)).to.eql([
      '2026-10-01 National Day',
      '2026-10-02 trip',
      '2026-10-03 trip',
      '2026-10-10 make-up',
      '2026-12-31 undefined',
      '2027-01-01 undefined',
    ]);
    expect(withDays(days, '2026-10-01', '2026-12-31', null)).to.eql([days[4]]);
  });
});
