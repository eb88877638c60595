/** What calendars, black-outs and people make of the times of a trigger; Chinese holidays against a table made by hand. */
import { expect } from 'chai';
import { Calendar, calendarWarnings, yearsOf } from '../../../master/domain/schedule/calendar.ts';
import {
  behind,
  type Coming,
  comingOf,
  jitterOf,
  type Surroundings,
} from '../../../master/domain/schedule/coming.ts';
import { dayOfDate } from '../../../master/domain/schedule/local-time.ts';
import { haveSameTimes } from '../../../master/domain/schedule/trigger-spec.ts';
import { china2026, holidays2026, workdays2026 } from './china-2026.ts';
import { around, spec } from './samples.ts';

const china = new Calendar('china', china2026);
const calendars = new Map([['china', china]]);
const workdays = { calendar: 'china', days: 'work', label: null } as const;
const at = (text: string): number => Date.parse(text);
const iso = (instant: number | null): string | null =>
  instant === null ? null : new Date(instant).toISOString().slice(0, 16);
const shown = ({ nominal, to, count, at, outcome }: Coming) =>
  `${iso(nominal)}${count === 1 ? '' : `..${iso(to)} x${count}`} ${outcome}${at === null ? '' : ` ${iso(at)}`}`;

function list(parts: Parameters<typeof spec>[0], from: string, countMax: number, more = {}) {
  const surroundings = around({ calendars, changedAt: at('2025-01-01T00:00Z'), ...more });
  return comingOf(spec(parts), surroundings, at(from) - 1, countMax).coming.map(shown);
}

describe('what becomes of the times of a trigger', () => {
  it('on working days of China in 2026 is that of a table made by hand', () => {
    const { coming } = comingOf(
      spec({ cron: '0 9 * * *', zone: 'Asia/Shanghai', onlyOn: workdays }),
      around({ calendars }),
      at('2025-12-31T16:00Z') - 1,
      400,
    );
    const ran = new Set(
      coming
        .filter(({ outcome }) => outcome === 'runs')
        .map(({ nominal }) => new Date(nominal + 8 * 3_600_000).toISOString().slice(0, 10)),
    );
    for (let day = at('2026-01-01'); day < at('2027-01-01'); day += 86_400_000) {
      const date = new Date(day).toISOString().slice(0, 10);
      const isWeekend = [0, 6].includes(new Date(day).getUTCDay());
      const isWork = workdays2026.has(date) || (!isWeekend && !holidays2026.has(date));
      expect(ran.has(date), date).to.equal(isWork);
    }
  });

  it('says for a run of days off which days, how many times and why, once', () => {
    const { coming } = comingOf(
      spec({ timing: { kind: 'every', everyMs: 1_000 }, zone: 'Asia/Shanghai', onlyOn: workdays }),
      around({ calendars }),
      at('2026-10-01T00:00+08:00') - 1,
      3,
    );
    expect(coming[0]).to.deep.equal({
      nominal: at('2026-10-01T00:00+08:00'),
      to: at('2026-10-07T23:59:59+08:00'),
      count: 7 * 86_400,
      at: null,
      outcome: 'skipped',
      reason: 'a day off (国庆节)',
      calendar: 'china',
    });
    expect(iso(coming[1]?.at ?? null)).to.equal('2026-10-07T16:00');
  });

  it('is moved to the next day or the previous one, and made up for once', () => {
    const weekends = { cron: '0 9,15 * * 6,0', onlyOn: workdays, zone: 'Asia/Shanghai' };
    // 10 October 2026 is a make-up Saturday.
    expect(list({ ...weekends, shift: 'next' }, '2026-10-03T00:00Z', 6)).to.deep.equal([
      '2026-10-03T01:00 shifted 2026-10-08T01:00',
      '2026-10-03T07:00..2026-10-04T07:00 x3 merged',
      '2026-10-10T01:00 runs 2026-10-10T01:00',
      '2026-10-10T07:00 runs 2026-10-10T07:00',
      '2026-10-11T01:00 shifted 2026-10-12T01:00',
      '2026-10-11T07:00 merged',
    ]);
    expect(list({ ...weekends, shift: 'previous' }, '2026-10-11T00:00Z', 3)).to.deep.equal([
      '2026-10-11T01:00..2026-10-11T07:00 x2 merged',
      '2026-10-17T01:00 shifted 2026-10-16T01:00',
      '2026-10-17T07:00..2026-10-18T07:00 x3 merged',
    ]);
  });

  it('is merged with the first time of the day to which it is moved', () => {
    const daily = { onlyOn: workdays, zone: 'Asia/Shanghai', shift: 'next' } as const;
    expect(list(daily, '2026-11-20T16:00Z', 2)).to.deep.equal([
      '2026-11-20T19:00..2026-11-21T19:00 x2 merged',
      '2026-11-22T19:00 runs 2026-11-22T19:00',
    ]);
  });

  it('is moved to a day of which no time runs, and is merged with none that somebody has skipped', () => {
    const { onlyOn, zone } = { onlyOn: workdays, zone: 'Asia/Shanghai' };
    const next = { cron: '0 9 * * 6,0,1', onlyOn, zone, shift: 'next' } as const;
    const saturday = '2026-11-20T16:00Z';
    const monday = at('2026-11-23T01:00Z');
    const moved = ['2026-11-21T01:00 shifted 2026-11-23T01:00', '2026-11-22T01:00 merged'];
    expect(list(next, saturday, 3, { skips: new Set([monday]) })).to.deep.equal([
      ...moved,
      '2026-11-23T01:00 skipped',
    ]);
    const blackouts = [{ from: monday - 1, to: monday + 1, reason: null }];
    const later = { ...next, cron: '0 9,15 * * 6,0,1' };
    expect(list(later, saturday, 3, { blackouts })).to.deep.equal([
      '2026-11-21T01:00..2026-11-22T07:00 x4 merged',
      '2026-11-23T01:00 skipped',
      '2026-11-23T07:00 runs 2026-11-23T07:00',
    ]);
    const skips = new Set([at('2026-11-21T01:00Z')]);
    expect(list({ ...next, cron: '0 9 * * 6,0' }, saturday, 2, { skips })).to.deep.equal([
      '2026-11-21T01:00 skipped',
      '2026-11-22T01:00 shifted 2026-11-23T01:00',
    ]);
  });

  it('does not count on times that were of an earlier version, nor on days that have passed', () => {
    const weekends = { cron: '0 15 * * 6,0', onlyOn: workdays } as const;
    const sunday = { changedAt: at('2026-11-22T00:00Z') };
    const [next] = list({ ...weekends, shift: 'next' }, '2026-11-22T00:00:01Z', 1, sunday);
    expect(next).to.equal('2026-11-22T15:00 shifted 2026-11-23T15:00');
    const [previous] = list({ ...weekends, shift: 'previous' }, '2026-11-22T00:00:01Z', 1, sunday);
    expect(previous).to.equal('2026-11-22T15:00 skipped');
  });

  it('is nothing in a black-out, and where somebody has skipped it', () => {
    const blackouts = [
      { from: at('2026-11-24T00:00Z'), to: at('2026-11-26T03:00Z'), reason: 'sale' },
    ];
    const skips = new Set([at('2026-11-27T03:00Z')]);
    expect(list({}, '2026-11-23T00:00Z', 5, { blackouts, skips })).to.deep.equal([
      '2026-11-23T03:00 runs 2026-11-23T03:00',
      '2026-11-24T03:00..2026-11-25T03:00 x2 skipped',
      '2026-11-26T03:00 runs 2026-11-26T03:00',
      '2026-11-27T03:00 skipped',
      '2026-11-28T03:00 runs 2026-11-28T03:00',
    ]);
  });

  it('is told of a black-out of decades a year at a time, and of some years in one answer', () => {
    const blackouts = [
      { from: at('2026-01-01T00:00Z'), to: at('2099-01-01T00:00Z'), reason: null },
    ];
    const after = at('2026-01-01T00:00Z') - 1;
    const cron = '*/7 * * * * *';
    const { coming, until } = comingOf(
      spec({ cron, zone: 'Europe/Berlin' }),
      around({ blackouts }),
      after,
      100,
    );
    expect(until).to.equal(coming.at(-1)?.to);
    expect(coming.length).to.be.within(2, 10);
    for (const [index, { nominal, to, count, outcome }] of coming.entries()) {
      expect(outcome).to.equal('skipped');
      expect(to - nominal).to.be.at.most(400 * 86_400_000);
      expect(count).to.be.at.least((to - nominal) / 7_000);
      if (index > 0) expect(nominal - (coming[index - 1]?.to ?? 0)).to.be.at.most(7_000);
    }
  });

  it('is nothing while its calendar is not there, and does not look for ever', () => {
    const onlyOn = { calendar: 'gone', days: 'work', label: null } as const;
    const page = comingOf(spec({ onlyOn }), around(), at('2026-01-01'), 500);
    expect(page.coming.every(({ outcome }) => outcome === 'skipped')).to.equal(true);
    expect(page.coming[0]?.reason).to.equal('there is no such calendar');
    expect(page.until).to.equal(page.coming.at(-1)?.to);
  });

  it('ends with end_at, and with max_runs', () => {
    const bounds = { startAt: at('2026-11-23T03:00Z'), endAt: at('2026-11-25T03:00Z') };
    expect(list(bounds, '2026-01-01', 9)).to.deep.equal([
      '2026-11-23T03:00 runs 2026-11-23T03:00',
      '2026-11-24T03:00 runs 2026-11-24T03:00',
    ]);
    expect(list(bounds, '2026-01-01', 9, { runsLeft: 1 })).to.have.lengthOf(1);
  });

  it('is late by its jitter, the same each time and never behind the next one', () => {
    const page = comingOf(
      spec({ timing: { kind: 'every', everyMs: 1_000 }, jitterMs: 60_000 }),
      around(),
      0,
      200,
    );
    let last = 0;
    for (const { nominal, at } of page.coming) {
      expect(at).to.be.within(Math.max(last, nominal), nominal + 60_000);
      last = at ?? last;
    }
    expect(jitterOf(60_000, 'a/b', 1_000)).to.equal(jitterOf(60_000, 'a/b', 1_000));
  });
});

describe('times that are asked for one by one', () => {
  it('are those that are told at once: as many as may still fire, and none before the one before', () => {
    const every = spec({ timing: { kind: 'every', everyMs: 1_000 }, jitterMs: 60_000 });
    const asked = around({ runsLeft: 7 });
    const all = comingOf(every, asked, 0, 50).coming;
    const each: Coming[] = [];
    let [rest, from]: [Surroundings, number | null] = [asked, 0];
    while (from !== null) {
      const { coming, until } = comingOf(every, rest, from, 1);
      each.push(...coming);
      [rest, from] = [behind(rest, coming), until];
    }
    expect(each).to.have.lengthOf(7).and.to.deep.equal(all);
  });
});

describe('what a trigger counts from', () => {
  it('is when its times were set, and stays so where they are the same', () => {
    const every = spec({ timing: { kind: 'every', everyMs: 60_000 } });
    expect(haveSameTimes(every, { ...every, graceMs: 1 })).to.equal(true);
    expect(haveSameTimes(every, { ...every, zone: 'Asia/Shanghai' })).to.equal(false);
    const { coming } = comingOf(every, around({ anchorAt: 500 }), 500, 1);
    expect(coming[0]?.nominal).to.equal(60_500);
  });

  it('of a delay is the end of a run', () => {
    const delay = spec({ timing: { kind: 'delay', delayMs: 60_000 } });
    expect(comingOf(delay, around(), 0, 5).coming).to.deep.equal([]);
    const { coming } = comingOf(delay, around({ armedAt: 90_000 }), 0, 5);
    expect(coming.map(shown)).to.deep.equal(['1970-01-01T00:01 runs 1970-01-01T00:01']);
  });

  it('of days is the first, at that time of the clocks of the zone', () => {
    const rotate = { kind: 'rotate', days: 2, time: '19:00' } as const;
    const startAt = at('2026-10-23T19:00+02:00');
    expect(list({ timing: rotate, zone: 'Europe/Berlin', startAt }, '2026-01-01', 2)).to.deep.equal(
      ['2026-10-23T17:00 runs 2026-10-23T17:00', '2026-10-25T18:00 runs 2026-10-25T18:00'],
    );
  });
});

describe('a calendar', () => {
  it('warns of a coming year that is missing, from October on', () => {
    const years = yearsOf(china2026.days);
    const warned = (date: string) => calendarWarnings(years, dayOfDate(date) ?? 0).length;
    expect([warned('2026-09-30'), warned('2026-10-01'), warned('2027-01-01')]).to.deep.equal([
      0, 1, 1,
    ]);
  });
});
