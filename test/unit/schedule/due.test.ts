/** What is due: each nominal time exactly once, whatever the policy and however late it is noticed. */
import { expect } from 'chai';
import { assert, constantFrom, integer, oneof, property, record } from 'fast-check';
import { Calendar } from '../../../master/domain/schedule/calendar.ts';
import { type Surroundings } from '../../../master/domain/schedule/coming.ts';
import { type Due, dueOf } from '../../../master/domain/schedule/due.ts';
import { timesOf } from '../../../master/domain/schedule/times.ts';
import type { Misfire, TriggerSpec } from '../../../master/domain/schedule/trigger-spec.ts';
import { china2026 } from './china-2026.ts';
import { around, spec } from './samples.ts';

const at = (text: string): number => Date.parse(text);
const MINUTE = 60_000;
const limits = { countMax: 1_000, lateCountMax: 100 };
const shown = ({ nominal, to, count, state }: Due) =>
  `${state} ${nominal / MINUTE}${count === 1 ? '' : `..${to / MINUTE} x${count}`}`;

describe('what is due', () => {
  const everyMinute = (misfire: Misfire, graceMs = 0): TriggerSpec =>
    spec({ timing: { kind: 'every', everyMs: MINUTE }, misfire, graceMs });
  const after = (misfire: Misfire, graceMs: number, now: number) =>
    dueOf(everyMinute(misfire, graceMs), around(), 0, now * MINUTE, limits).due.map(shown);

  it('after an hour is one record, and one run where it is late', () => {
    expect(after('once', 0, 60.5)).to.deep.equal(['merged 1..59 x59', 'run 60']);
    expect(after('after_current', 0, 60.5)).to.deep.equal(['merged 1..59 x59', 'run 60']);
    expect(after('skip', 0, 60.5)).to.deep.equal(['skipped 1..60 x60']);
    expect(after('all', 0, 3.5)).to.deep.equal(['run 1', 'run 2', 'run 3']);
  });

  it('is run by a time that is not late, where there is one', () => {
    expect(after('once', MINUTE, 60.5)).to.deep.equal(['merged 1..59 x59', 'run 60']);
    expect(after('once', 2 * MINUTE, 60)).to.deep.equal([
      'merged 1..57 x57',
      'run 58',
      'run 59',
      'run 60',
    ]);
    expect(after('skip', MINUTE, 60.5)).to.deep.equal(['skipped 1..59 x59', 'run 60']);
  });

  it('is all of it by `all`, but no more than a hundred late ones', () => {
    const due = after('all', 0, 150.5);
    expect(due[0]).to.equal('skipped 1..50 x50');
    expect(due).to.have.lengthOf(101);
    expect(due[100]).to.equal('run 150');
  });

  it('is run late by `all`, though more is in time than one look finds', () => {
    const few = { ...limits, countMax: 4 };
    const look = (now: number) =>
      dueOf(everyMinute('all', 5 * MINUTE), around(), 0, now * MINUTE, few);
    const { due, isMore } = look(12.5);
    expect(isMore).to.equal(true);
    expect(due.map(shown).slice(0, 7)).to.deep.equal(
      [1, 2, 3, 4, 5, 6, 7].map((one) => `run ${one}`),
    );
  });

  it('of a year of seconds takes milliseconds', () => {
    const second = spec({ cron: '* * * * * *', zone: 'Europe/Berlin', misfire: 'once' });
    const from = at('2026-01-01T00:00Z');
    const to = at('2027-01-01T00:00Z');
    const { due } = dueOf(second, around(), from, to, limits);
    expect(due.reduce((sum, { count }) => sum + count, 0)).to.equal(365 * 86_400);
    expect(due.filter(({ state }) => state === 'run')).to.have.lengthOf(61);
  });

  it('waits for the day to which it is moved, unless the trigger is changed before', () => {
    const onlyOn = { calendar: 'china', days: 'work', label: null } as const;
    const saturdays = spec({ cron: '0 9 * * 6', onlyOn, shift: 'next' });
    const surroundings = around({
      calendars: new Map([['china', new Calendar('china', china2026)]]),
    });
    const from = at('2026-11-20T00:00Z');
    const sunday = at('2026-11-22T00:00Z');
    const asked = [saturdays, surroundings, from] as const;
    expect(dueOf(...asked, sunday, limits).due).to.deep.equal([]);
    const [edited] = dueOf(...asked, sunday, { ...limits, isEdited: true }).due;
    expect(edited?.state).to.equal('skipped');
    expect(edited?.reason).to.match(/moved to 2026-11-23, and was changed before$/);
    const [monday] = dueOf(...asked, at('2026-11-23T09:00Z'), limits).due;
    expect([monday?.state, monday?.isLate]).to.deep.equal(['run', false]);
  });

  it('of a delay is one, however late', () => {
    const delay = spec({ timing: { kind: 'delay', delayMs: MINUTE }, graceMs: 0 });
    const armed = around({ armedAt: MINUTE });
    expect(dueOf(delay, armed, 0, 9 * MINUTE, limits).due.map(shown)).to.deep.equal(['run 1']);
  });

  it('covers each nominal time exactly once, however it is looked at', () => {
    const calendars = new Map([['china', new Calendar('china', china2026)]]);
    const days = constantFrom(
      null,
      { calendar: 'china', days: 'work', label: null } as const,
      { calendar: 'china', days: 'off', label: null } as const,
      { calendar: 'china', days: null, label: '班' } as const,
      { calendar: 'gone', days: 'work', label: null } as const,
    );
    const timing = oneof(
      integer({ min: 1, max: 200_000 }).map((seconds) => ({
        kind: 'every' as const,
        everyMs: seconds * 1_000,
      })),
      constantFrom('0 3 * * *', '30 2,14 * * 6,0', '*/7 * * * *', '0 0 L * *', '* * 9 * * *').map(
        (expression) => ({ kind: 'cron' as const, expression }),
      ),
      integer({ min: 1, max: 9 }).map((count) => ({
        kind: 'rotate' as const,
        days: count,
        time: '02:30',
      })),
    );
    const specs = record({
      timing,
      zone: constantFrom('UTC', 'Asia/Shanghai', 'America/New_York', 'Australia/Lord_Howe'),
      misfire: constantFrom('skip', 'once', 'all', 'after_current'),
      graceMs: constantFrom(0, 60_000, 86_400_000),
      jitterMs: constantFrom(0, 0, 5_000, 3_600_000),
      onlyOn: days,
      except: days,
      shift: constantFrom('skip', 'next', 'previous'),
    });
    const start = at('2026-01-01T00:00Z');
    assert(
      property(specs, integer({ min: 1, max: 2 ** 31 }), (parts, seed) => {
        const asked = spec(parts);
        const surroundings: Surroundings = around({
          calendars,
          anchorAt: start,
          changedAt: start,
          blackouts: [{ from: start + 40 * 86_400_000, to: start + 42 * 86_400_000, reason: null }],
        });
        let random = seed;
        const draw = (max: number) => {
          random = Math.imul(random, 1_103_515_245) + 12_345;
          return (random >>> 8) % max;
        };
        const times = timesOf(asked, surroundings);
        let until = start;
        let now = start;
        for (let looks = 0; looks < 60; looks++) {
          now += draw(2) === 0 ? draw(120_000) : draw(3 * 86_400_000);
          const isEdited = draw(9) === 0;
          const asking = { countMax: 64, lateCountMax: 100, isEdited };
          const { due } = dueOf(asked, surroundings, until, now, asking);
          for (const one of due) {
            // It begins where the last has ended, and counts what is in between.
            expect(one.nominal).to.equal(times.next(until));
            expect(one.count).to.equal(times.count(one.nominal, one.to + 1));
            expect(one.to).to.equal(times.last(one.nominal, one.to + 1));
            if (one.state === 'run') expect([one.count, one.at <= now]).to.deep.equal([1, true]);
            until = one.to;
          }
        }
      }),
      { numRuns: 60 },
    );
  });
});
