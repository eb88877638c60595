/** Cron expressions: held against those that another library reads, and what is said of those that are refused. */
import { expect } from 'chai';
import { Cron } from 'croner';
import * as fc from 'fast-check';
import { CronRefused, cronOf, leastGapOf } from '../../../master/domain/schedule/cron.ts';
import { timesOf } from '../../../master/domain/schedule/times.ts';
import { spec } from './samples.ts';

const numbers = (min: number, max: number) => {
  const one = fc.integer({ min, max });
  const range = fc.tuple(one, one).map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`);
  const step = fc.integer({ min: 1, max });
  const part = fc.oneof(
    one.map(String),
    range,
    fc.tuple(range, step).map(([of, by]) => `${of}/${by}`),
    step.map((by) => `*/${by}`),
  );
  const list = fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join(','));
  return fc.oneof(fc.constant('*'), list);
};

const ofMonth = fc.oneof(
  { weight: 4, arbitrary: numbers(1, 31) },
  fc.constantFrom('L', 'LW', '?', '1W', '15W', '31W', '1,L', '10,20W'),
);
const ofWeek = fc.oneof(
  { weight: 3, arbitrary: numbers(0, 7) },
  fc.constantFrom('MON', 'MON-FRI', 'sun', 'MON#1', '5#5', 'FRI#L', '6L', 'TUE,THU#2', '1-5/2'),
);
const months = fc.oneof(numbers(1, 12), fc.constantFrom('JAN', 'FEB', 'JUN-AUG', 'feb,DEC'));

describe('a cron expression', () => {
  it('says the same to others', function () {
    const fields = fc.tuple(
      numbers(0, 59),
      numbers(0, 59),
      numbers(0, 23),
      ofMonth,
      months,
      ofWeek,
    );
    fc.assert(
      fc.property(fields, fc.integer({ min: 0, max: 4e9 }), (parts, seconds) => {
        const expression = parts.join(' ');
        const theirs = new Cron(expression, { utcOffset: 0, paused: true });
        let refused = false;
        try {
          cronOf(expression);
        } catch {
          refused = true;
        }
        const after = seconds * 1_000;
        const next = theirs.nextRun(new Date(after))?.getTime() ?? null;
        const times = timesOf(spec({ cron: refused ? '0 0 1 1 *' : expression }), {
          anchorAt: 0,
          armedAt: null,
        });
        expect(refused ? null : times.next(after), expression).to.equal(next);
      }),
      { numRuns: 300 },
    );
  });

  const refused: Readonly<Record<string, string>> = {
    '* * * *':
      'expected 5 fields (minute, hour, day of month, month, day of week), or 6 with the second first: found 4',
    '0 0 3 * * * 2027': 'expected 5 or 6 fields, not 7: a year is given by start_at and end_at',
    '@daily': 'expected fields: write 0 0 * * *',
    '60 * * * *': 'expected in the minute 0 to 59, not 60',
    '0 24 * * *': 'expected in the hour 0 to 23, not 24',
    '0 0 * * 8': 'expected in the day of week 0 to 7, or SUN to SAT, not 8',
    '0 0 * MAI *': 'expected in the month 1 to 12, or JAN to DEC, not MAI',
    '5/15 * * * *': 'expected in the minute a range before the /: 5-59/15, not 5/15',
    '*/0 * * * *': 'expected in the minute a step of 1 to 59, not */0',
    '0 22-6 * * *': 'expected in the hour the smaller one first: 22-23,0-6, not 22-6',
    '0 0 * * <b>': 'expected in the day of week 0 to 7, or SUN to SAT',
    '0 0 30 2 *':
      'expected a date that exists: none of its months has more than 29 days (L: the last one)',
    '0 0 31 4,6 *':
      'expected a date that exists: none of its months has more than 30 days (L: the last one)',
  };
  for (const [expression, message] of Object.entries(refused)) {
    it(`is refused: ${expression}`, () => {
      expect(() => cronOf(expression)).to.throw(CronRefused, message);
    });
  }

  it('takes no longer for a year of seconds than for a day', () => {
    const times = timesOf(spec({ cron: '* * * * * *' }), { anchorAt: 0, armedAt: null });
    const year = 365 * 86_400_000;
    expect(times.count(0, year)).to.equal(365 * 86_400);
    expect(times.last(0, year)).to.equal(year - 1_000);
  });

  it('has a least time between two of its times, also over midnight', () => {
    const gaps = {
      '*/5 * * * *': 300,
      '0,59 9 * * *': 3_540,
      '0,59 * * * *': 60,
      '30 0,23 * * *': 3_600,
      '0 8 * * 1': 86_400,
      '*/7 * * * * *': 4,
      '0,59 0,1 12 * * *': 1,
      '0,20 0 12 * * *': 20,
    };
    for (const [expression, gap] of Object.entries(gaps)) {
      expect(leastGapOf(cronOf(expression)), expression).to.equal(gap);
    }
  });
});
