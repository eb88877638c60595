/** Calendars of others: what is read of an ICS file, and rules held against those that another library reads. */
import { expect } from 'chai';
import ICAL from 'ical.js';
import { daysOfIcs, type IcsCalendar, IcsRefused } from '../../../master/access/calendars/ics.ts';
import { runAtOnce } from '../../../master/access/body/pieces.ts';
import { dateOf, dayOfDate } from '../../../master/domain/schedule/local-time.ts';

const today = dayOfDate('2026-11-23') ?? 0;
const read = (lines: readonly string[], dayCountMax = 4_000) =>
  runAtOnce(
    daysOfIcs(
      ['BEGIN:VCALENDAR', 'VERSION:2.0', ...lines, 'END:VCALENDAR'].join('\r\n'),
      today,
      dayCountMax,
    ) as Iterator<void, IcsCalendar>,
  );
const event = (...lines: string[]) => ['BEGIN:VEVENT', ...lines, 'END:VEVENT'];

describe('an ICS file', () => {
  it('has days off, of several days each, and days that make up for them', () => {
    const { days, name, warnings } = read([
      'X-WR-CALNAME:中国\\, 节假日',
      ...event('DTSTART;VALUE=DATE:20261001', 'DTEND;VALUE=DATE:20261003', 'SUMMARY:国庆节（休）'),
      ...event('DTSTART;VALUE=DATE:20261010', 'SUMMARY:国庆节', ' （班）'),
      ...event('DTSTART;VALUE=DATE:20260504', 'SUMMARY:青年节'),
      ...event('DTSTART:20260504T090000Z', 'SUMMARY:休 at nine'),
      ...event('DTSTART;VALUE=DATE:20260601', 'SUMMARY:休', 'STATUS:CANCELLED'),
    ]);
    expect(days).to.deep.equal([
      { date: '2026-10-01', kind: 'off', label: '国庆节（休）' },
      { date: '2026-10-02', kind: 'off', label: '国庆节（休）' },
      { date: '2026-10-10', kind: 'work', label: '国庆节（班）' },
    ]);
    expect(name).to.equal('中国, 节假日');
    expect(warnings).to.deep.equal([
      'left out 1 event of less than whole days',
      'left out 1 event without a word on whether days are off or worked',
    ]);
  });

  it('has in place of an instance of a series what replaces it, unless that is canceled', () => {
    const of = (date: string, ...lines: string[]) =>
      event('UID:a', `RECURRENCE-ID;VALUE=DATE:${date}`, ...lines);
    const series = ['DTSTART;VALUE=DATE:20261001', 'RRULE:FREQ=DAILY;COUNT=5', 'RDATE:20261020'];
    const lines = [
      ...of('20261002', 'DTSTART;VALUE=DATE:20261012', 'SUMMARY:moved'),
      ...event('UID:a', ...series, 'SUMMARY:series'),
      ...of('20261003', 'DTSTART;VALUE=DATE:20261003', 'STATUS:CANCELLED'),
      ...of('20261004', 'DTSTART:20261004T090000Z', 'SUMMARY:half of it'),
      ...of('20261020', 'DTSTART;VALUE=DATE:20261020', 'STATUS:CANCELLED'),
      ...event('UID:b', 'DTSTART;VALUE=DATE:20261003', 'SUMMARY:another'),
    ];
    const days = read(lines).days.map(({ date, label }) => `${date} ${label}`);
    expect(days).to.deep.equal([
      '2026-10-01 series',
      '2026-10-03 another',
      '2026-10-05 series',
      '2026-10-12 moved',
    ]);
    const future = event(
      'RECURRENCE-ID;VALUE=DATE;RANGE=THISANDFUTURE:20261002',
      'DTSTART;VALUE=DATE:20261012',
    );
    expect(() => read(future)).to.throw(IcsRefused, '20261012: RANGE=THISANDFUTURE is not');
  });

  it('has only days off where no event says what it is', () => {
    const lines = [
      ...event('DTSTART;VALUE=DATE:20260101', 'SUMMARY:New Year'),
      ...event('DTSTART;VALUE=DATE:20260704', 'DURATION:P1W', 'SUMMARY:Independence'),
    ];
    const { days, warnings } = read(lines);
    expect(days.filter(({ kind }) => kind === 'off')).to.have.lengthOf(8);
    expect(warnings).to.deep.equal([]);
  });

  it('says by category, or by what a known vendor writes, that a day is worked', () => {
    const { days } = read([
      ...event('DTSTART;VALUE=DATE:20260104', 'CATEGORIES:Work Day', 'SUMMARY:One'),
      ...event(
        'DTSTART;VALUE=DATE:20260214',
        'X-APPLE-SPECIAL-DAY:ALTERNATE-WORKDAY',
        'SUMMARY:Two',
      ),
      ...event('DTSTART;VALUE=DATE:20260214', 'SUMMARY:Three (holiday)'),
    ]);
    expect(days.map(({ kind, label }) => [kind, label])).to.deep.equal([
      ['work', 'One'],
      ['work', 'Two'],
    ]);
  });

  it('may say that a day comes each year, but for some', () => {
    const { days } = read(
      event(
        'DTSTART;VALUE=DATE:20241225',
        'RRULE:FREQ=YEARLY;COUNT=4',
        'EXDATE;VALUE=DATE:20251225',
        'RDATE;VALUE=DATE:20261224',
      ),
    );
    expect(days.map(({ date }) => date)).to.deep.equal([
      '2024-12-25',
      '2026-12-24',
      '2026-12-25',
      '2027-12-25',
    ]);
  });

  // Random ones would be better, but for some that never come ical.js looks for ever.
  const rules = [
    'FREQ=YEARLY',
    'FREQ=YEARLY;INTERVAL=2',
    'FREQ=YEARLY;BYMONTH=11;BYDAY=4TH',
    'FREQ=YEARLY;BYMONTH=5;BYDAY=-1MO',
    'FREQ=YEARLY;BYMONTH=3,9;BYMONTHDAY=15',
    'FREQ=MONTHLY;INTERVAL=3',
    'FREQ=MONTHLY;BYMONTHDAY=-1',
    'FREQ=MONTHLY;BYMONTHDAY=29,30',
    'FREQ=MONTHLY;BYDAY=1MO,-1FR;COUNT=9',
    'FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13',
    'FREQ=WEEKLY',
    'FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,FR',
    'FREQ=WEEKLY;INTERVAL=2;BYDAY=SU,MO;WKST=SU',
    'FREQ=WEEKLY;BYDAY=SA,SU;COUNT=13',
    'FREQ=DAILY;INTERVAL=3;COUNT=20',
    'FREQ=DAILY;UNTIL=20220301',
  ];
  for (const rule of rules) {
    it(`comes by ${rule} on the days that others find`, () => {
      const iteratorFrom = (date: string) =>
        ICAL.Recur.fromString(rule).iterator(ICAL.Time.fromDateString(date));
      // An event begins with a day of its rule.
      const first = iteratorFrom('2022-01-01').next()?.toString() ?? '';
      const iterator = iteratorFrom(first);
      const theirs: string[] = [];
      for (let next = iterator.next(); next; next = iterator.next()) {
        if (next.toString() > '2027-01-01') break;
        theirs.push(next.toString());
      }
      const { days } = read(
        event(`DTSTART;VALUE=DATE:${first.replaceAll('-', '')}`, `RRULE:${rule}`),
      );
      const ours = days.map(({ date }) => date).filter((date) => date <= '2027-01-01');
      expect(ours).to.deep.equal(theirs);
    });
  }

  const refused: Readonly<Record<string, [readonly string[], string]>> = {
    'a rule by the second': [
      event('DTSTART;VALUE=DATE:20260101', 'RRULE:FREQ=SECONDLY'),
      'the rule of the event of 2026-01-01: expected FREQ as one of YEARLY, MONTHLY, WEEKLY, DAILY',
    ],
    'a rule that it does not know': [
      event('DTSTART;VALUE=DATE:20260101', 'RRULE:FREQ=YEARLY;BYSETPOS=1'),
      'the rule of the event of 2026-01-01: BYSETPOS is not supported',
    ],
    'an event of years': [
      event('DTSTART;VALUE=DATE:20260101', 'DTEND;VALUE=DATE:20360101'),
      'the event of 2026-01-01 lasts more than 400 days',
    ],
    'an event that ends before it begins': [
      event('DTSTART;VALUE=DATE:20261003', 'DTEND;VALUE=DATE:20261001'),
      'the event of 2026-10-03 ends before it begins, on 2026-10-01',
    ],
    'an event of a length that no date has': [
      event('DTSTART;VALUE=DATE:20260101', 'DURATION:P99999999999D'),
      'the event of 2026-01-01 lasts more than 400 days',
    ],
    'a length that is none': [
      event('DTSTART;VALUE=DATE:20260101', 'DURATION:2 days'),
      'the DURATION of the event of 2026-01-01 is none',
    ],
    'a day that there is not': [event('DTSTART;VALUE=DATE:20261345'), 'there is no day 20261345'],
    'an event without its end': [
      event('DTSTART;VALUE=DATE:20260101').slice(0, -1),
      'the event of 20260101 has no END:VEVENT',
    ],
    'an event in an event': [
      ['BEGIN:VEVENT', ...event('DTSTART;VALUE=DATE:20260101')],
      'an event has no END:VEVENT',
    ],
    'too many days': [
      event('DTSTART;VALUE=DATE:20200101', 'RRULE:FREQ=DAILY'),
      'it has more than 100 days',
    ],
  };
  for (const [what, [lines, message]] of Object.entries(refused)) {
    it(`is refused with ${what}`, () => {
      expect(() => read(lines, 100)).to.throw(IcsRefused, message);
    });
  }

  it('that is none is refused, and what is hostile ends in pieces', () => {
    const refuse = (text: string) =>
      expect(() => runAtOnce(daysOfIcs(text, today, 4_000) as Iterator<void>)).to.throw(IcsRefused);
    refuse('');
    refuse('<html>');
    // A download that was cut off is not the whole of it.
    const cut = ['BEGIN:VCALENDAR', ...event('DTSTART;VALUE=DATE:20261001')].join('\n');
    refuse(cut);
    expect(() => runAtOnce(daysOfIcs(cut, today, 9))).to.throw('it ends before END:VCALENDAR');
    // It never comes, and there are many of it.
    const never = event('DTSTART;VALUE=DATE:19000101', 'RRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30');
    const all = Array.from({ length: 20 }, () => never).flat();
    const text = ['BEGIN:VCALENDAR', ...all, 'END:VCALENDAR'].join('\n');
    const work = daysOfIcs(text, today, 4_000);
    let pieceCount = 0;
    expect(() => {
      while (work.next().done !== true) pieceCount += 1;
    }).to.throw(IcsRefused, 'its rules have too many days');
    expect(pieceCount).to.be.above(200);
  });

  const dates = (count: number) =>
    Array.from({ length: count }, (_, at) => dateOf(today + at).replaceAll('-', ''));
  const list = (key: string, of: readonly string[]) =>
    Array.from({ length: Math.ceil(of.length / 1_000) }, (_, at) => {
      return `${key}:${of.slice(at * 1_000, (at + 1) * 1_000).join(',')}`;
    });
  const year = ['DTSTART;VALUE=DATE:20261001', 'DTEND;VALUE=DATE:20271031'];
  const hostile: Record<string, [lines: readonly string[], refused: string | null]> = {
    'days of a year each, on many dates': [
      event(...year, ...list('RDATE', dates(3_000))),
      'its rules have too many days',
    ],
    'one date again and again, of a year': [
      event(
        ...year,
        ...list(
          'RDATE',
          Array.from({ length: 99_000 }, () => '20261001'),
        ),
      ),
      null,
    ],
    'a rule of which each day is a year': [
      event(...year, 'RRULE:FREQ=DAILY'),
      'its rules have too many days',
    ],
    'a line that never ends': [
      Array.from({ length: 500_000 }, () => ' '),
      'it has more than 200000 lines',
    ],
    'series and instances of one id': [
      [
        ...Array.from({ length: 2_000 }, () => event(...year)).flat(),
        ...dates(2_000).flatMap((date) => event(`RECURRENCE-ID:${date}`, `DTSTART:${date}`)),
      ],
      'its rules have too many days',
    ],
  };
  for (const [what, [lines, refused]] of Object.entries(hostile)) {
    it(`is read in pieces with ${what}`, () => {
      const text = ['BEGIN:VCALENDAR', ...lines, 'END:VCALENDAR'].join('\n');
      const work = daysOfIcs(text, today, 4_000);
      let pieceCount = 0;
      const readAll = () => {
        while (work.next().done !== true) pieceCount += 1;
      };
      if (refused === null) readAll();
      else expect(readAll).to.throw(IcsRefused, refused);
      expect(pieceCount).to.be.at.least(90);
    });
  }
});
