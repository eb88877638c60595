/** When recurring bookings are: by the clock on the wall where they are days apart. */
import { expect } from 'chai';
import { answerTo, type Asked, FROM } from './asked.ts';
import { HOUR, MINUTE, Scheduler } from '../../helpers/domain.ts';
import {
  beginsAt,
  occurrencesOf,
  type Recurrence,
} from '../../../master/domain/plan/recurrence.ts';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const at = (text: string): number => Date.parse(text);

const recurring = (from: string, more: Partial<Recurrence> = {}): Recurrence => ({
  from: at(from),
  to: at(from) + 2 * HOUR_MS,
  everyMs: DAY_MS,
  zone: 'Europe/Berlin',
  skips: new Set(),
  ...more,
});

const beginnings = (recurrence: Recurrence, after: string, until: string, countMax = 100) =>
  occurrencesOf(recurrence, { after: at(after), until: at(until), countMax }).map(({ from }) =>
    new Date(from).toISOString().slice(0, 16),
  );

describe('occurrences of a booking', () => {
  it('keep the time of the day where the clock is changed', () => {
    const evening = recurring('2026-03-27T19:00Z');
    expect(beginnings(evening, '2026-03-27T00:00Z', '2026-03-31T00:00Z')).to.deep.equal([
      '2026-03-27T19:00',
      '2026-03-28T19:00',
      '2026-03-29T18:00',
      '2026-03-30T18:00',
    ]);
    const weekly = recurring('2026-10-21T06:00Z', { everyMs: 7 * DAY_MS });
    expect(beginnings(weekly, '2026-10-21T00:00Z', '2026-11-05T00:00Z')).to.deep.equal([
      '2026-10-21T06:00',
      '2026-10-28T07:00',
      '2026-11-04T07:00',
    ]);
  });

  it('begin right after an hour that is skipped, and the first time in one that comes twice', () => {
    const night = recurring('2026-03-27T01:30Z');
    expect(beginnings(night, '2026-03-28T12:00Z', '2026-03-30T12:00Z')).to.deep.equal([
      '2026-03-29T01:00',
      '2026-03-30T00:30',
    ]);
    const autumn = recurring('2026-10-24T00:30Z');
    expect(beginnings(autumn, '2026-10-24T12:00Z', '2026-10-26T12:00Z')).to.deep.equal([
      '2026-10-25T00:30',
      '2026-10-26T01:30',
    ]);
  });

  it('go by time that passes where they are not days apart', () => {
    const hours = recurring('2026-03-28T22:00Z', { everyMs: 6 * HOUR_MS });
    expect(beginnings(hours, '2026-03-28T20:00Z', '2026-03-29T12:00Z')).to.deep.equal([
      '2026-03-28T22:00',
      '2026-03-29T04:00',
      '2026-03-29T10:00',
    ]);
  });

  it('are one where a zone has left out a day', () => {
    const daily = recurring('2011-12-29T20:00Z', { zone: 'Pacific/Apia' });
    expect(beginnings(daily, '2011-12-29T00:00Z', '2012-01-01T00:00Z')).to.deep.equal([
      '2011-12-29T20:00',
      '2011-12-30T10:00',
      '2011-12-30T20:00',
      '2011-12-31T20:00',
    ]);
  });

  it('of whole days do not overlap where a day has 23 hours', () => {
    const from = at('2026-03-27T23:00Z');
    const days = recurring('2026-03-27T23:00Z', { to: from + DAY_MS });
    const of = { after: from, until: from + 4 * DAY_MS, countMax: 4 };
    const found = occurrencesOf(days, of);
    for (const [index, { to }] of found.entries()) {
      expect(to).to.be.at.most(found[index + 1]?.from ?? to);
    }
    expect(found.map((one) => (one.to - one.from) / HOUR_MS)).to.deep.equal([24, 23, 24, 24]);
  });

  it('are those asked for: that end after, begin before, are not skipped, and so many', () => {
    const daily = recurring('2026-07-01T10:00Z', { zone: 'UTC' });
    expect(beginnings(daily, '2026-07-02T12:00Z', '2026-07-04T10:00Z')).to.deep.equal([
      '2026-07-03T10:00',
    ]);
    expect(beginnings(daily, '2026-07-02T11:59Z', '2026-07-04T10:01Z').length).to.equal(3);
    const skips = new Set([at('2026-07-03T10:00Z')]);
    expect(
      beginnings({ ...daily, skips }, '2026-07-02T12:00Z', '2026-07-09T00:00Z', 2),
    ).to.deep.equal(['2026-07-04T10:00', '2026-07-05T10:00']);
    const once = recurring('2026-07-01T10:00Z', { everyMs: null });
    expect(beginnings(once, '2026-06-01T00:00Z', '2026-09-01T00:00Z')).to.deep.equal([
      '2026-07-01T10:00',
    ]);
  });

  it('are known by when they begin', () => {
    const daily = recurring('2026-03-27T19:00Z', { skips: new Set([at('2026-03-29T18:00Z')]) });
    for (const [instant, expected] of [
      ['2026-03-27T19:00Z', true],
      ['2026-03-29T18:00Z', true],
      ['2026-03-29T19:00Z', false],
      ['2036-07-29T18:00Z', true],
      ['2026-03-26T19:00Z', false],
    ] as const) {
      expect(beginsAt(daily, at(instant)), instant).to.equal(expected);
    }
    expect(
      beginsAt(recurring('2026-03-27T19:00Z', { everyMs: null }), at('2026-03-28T19:00Z')),
    ).to.equal(false);
  });

  it('cost as little ten thousand days later', () => {
    const minutely = recurring('1990-01-01T00:00Z', {
      everyMs: 60_000,
      to: at('1990-01-01T00:01Z'),
    });
    expect(beginnings(minutely, '2026-07-02T12:00Z', '2026-07-02T12:02Z').length).to.equal(2);
  });
});

describe('a booking that recurs, and does not fit', () => {
  const DAY = 24 * HOUR;
  let scheduler: Scheduler;
  const book = (fields: Partial<Asked>) => {
    const reply = answerTo(scheduler, fields);
    const message = reply && 'message' in reply ? (reply.message ?? '') : '';
    return { kind: reply?.kind, message, free: (reply && 'free' in reply && reply.free) || [] };
  };

  beforeEach(() => {
    scheduler = new Scheduler();
    scheduler.connect('e1');
    for (const day of [3, 4, 5, 6, 7]) book({ id: `d${day}`, firstFrom: FROM + day * DAY });
  });

  it('is said to in each of its windows', () => {
    const at = (day: number) => new Date(FROM + day * DAY).toISOString().replace('.000', '');
    const { message } = book({ id: 'daily', everyMs: DAY });
    expect(message).to.contain(`from ${at(3)} to `);
    const begins = `${at(4)}, ${at(5)}, ${at(6)}, …`;
    expect(message.endsWith(`, nor in 4 more of its next 30 windows: ${begins}`)).to.equal(true);
  });

  it('is told of times at which all of them do', () => {
    // What is free after the first of these is not on the next day.
    book({ id: 'later', firstFrom: FROM + 4 * DAY + 10 * MINUTE });
    const { free } = book({ id: 'daily', everyMs: DAY });
    const begins = free.map(({ from }) => from);
    expect(begins).to.include(FROM - 10 * MINUTE);
    expect(begins).to.not.include(FROM + 10 * MINUTE);
    for (const { from, to, count } of free) {
      expect([to - from, count]).to.deep.equal([10 * MINUTE, 1]);
      const id = `daily-${from}`;
      expect(book({ id, everyMs: DAY, firstFrom: from }).kind).to.equal('done');
      scheduler.command({ type: 'bookingCanceled', bookingId: id, groups: null });
    }
  });

  it('is told of none where there is none', () => {
    const whole = { firstFrom: FROM - HOUR + MINUTE, windowMs: 20 * DAY, everyMs: 21 * DAY };
    expect(book({ id: 'monthly', ...whole })).to.deep.include({ kind: 'conflict', free: [] });
  });
});
