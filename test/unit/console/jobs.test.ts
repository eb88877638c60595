/** Of the console pages of jobs what needs no browser: times in words and by days of a zone, and the form of a job. */
import { firesOf, type NextFire } from '@soda-scheduler/protocol';
import { expect } from 'chai';
import { cronWords } from '../../../console/pages/jobs/cron-words.ts';
import { jobFields, withTyped } from '../../../console/pages/jobs/define/job-fields.ts';
import {
  byDay,
  comingTurn,
  countsOf,
  nearest,
  pastTurn,
  type Turn,
} from '../../../console/pages/jobs/month/turns.ts';
import { dayIn, instantOf, startOf, timeIn } from '../../../console/pages/jobs/month/zones.ts';
import { isDay, isMonth, monthAfter, weeksOf } from '../../../console/parts/days.ts';
import { speak, speakOfAll } from '../../../console/words/words.ts';

describe('the console pages of jobs', () => {
  before(async () => {
    await speak('en');
    await speakOfAll();
  });

  it('say when a job is fired of a master that tells only the next times, as one before this one', () => {
    const time = (trigger: string, nominal: string, at: string | null) => {
      return { trigger, nominal, at, outcome: 'runs', reason: null } as unknown as NextFire;
    };
    const [left, first, other] = [time('a', '1', null), time('a', '2', '2'), time('b', '3', '3')];
    const next = [left, first, other, time('a', '4', '4')];
    expect(firesOf({ next })).to.deep.equal([first, other]);
    expect(firesOf({ next, fires: [other] })).to.deep.equal([other]);
  });

  it('say a cron expression in words, where there are better ones', () => {
    const words = {
      '* * * * *': 'every minute',
      '*/15 * * * *': 'every 15 minutes',
      '5 * * * *': 'every hour at :05',
      '0 3 * * ?': 'every day at 03:00',
      '0 0 9,17 * * *': 'every day at 09:00, 17:00',
      '30 19 * * 1-5': 'Mon–Fri at 19:30',
      '0 8 * * MON,7': 'Mon, Sun at 08:00',
      '0 6 15 * *': 'on day 15 of each month at 06:00',
      '0 6 L * *': 'on the last day of each month at 06:00',
    };
    for (const [expression, said] of Object.entries(words)) {
      expect(cronWords(expression), expression).to.equal(said);
    }
    for (const same of ['*/7 * * * *', '0 3 1 1 *', '0 3 1 * 1', '1-5 3 * * *', '0 3 * * FRI#L']) {
      expect(cronWords(same)).to.equal(same);
    }
  });

  it('know when a day begins by the clocks of a zone, also where they are set', () => {
    expect(new Date(startOf('Asia/Shanghai', '2026-11-23')).toISOString()).to.equal(
      '2026-11-22T16:00:00.000Z',
    );
    for (const [zone, day] of [
      ['Europe/Berlin', '2026-03-29'],
      ['Europe/Berlin', '2026-03-30'],
      ['Europe/Berlin', '2026-10-26'],
      ['America/Santiago', '2026-09-06'],
      ['UTC', '2026-01-01'],
    ] as const) {
      const at = startOf(zone, day);
      expect([dayIn(zone, at), dayIn(zone, at - 1) < day], `${zone} ${day}`).to.deep.equal([
        day,
        true,
      ]);
    }
    expect(timeIn('Asia/Shanghai', Date.parse('2026-11-22T19:00:00Z'))).to.equal('03:00');
    expect(timeIn('UTC', Date.parse('2026-11-22T19:00:07Z'))).to.equal('19:00:07');
    expect(monthAfter('2026-12', 1)).to.equal('2027-01');
    const days = ['2026-02-28', '2026-02-29', '2026-02-zz', '2026-99-01', '2026-02', undefined];
    expect(days.filter(isDay)).to.deep.equal(['2026-02-28']);
    const months = ['1970-01', '9998-12', '1969-12', '9999-12', '0000-01', '0099-05', '2026-13'];
    expect(months.filter(isMonth)).to.deep.equal(['1970-01', '9998-12']);
    const weeks = weeksOf('2026-11');
    expect([weeks[0]?.[6], weeks[1]?.[0], weeks.length]).to.deep.equal([
      '2026-11-01',
      '2026-11-02',
      6,
    ]);
  });

  it('know when the clocks of a zone show something, also twice or never', () => {
    const shown = {
      'Asia/Shanghai 2026-11-23T03:00': '2026-11-22T19:00',
      'Europe/Berlin 2026-03-29T02:30': '2026-03-29T01:30',
      'Europe/Berlin 2026-10-25T02:30': '2026-10-25T00:30',
      'America/Havana 2026-11-01T00:00': '2026-11-01T04:00',
      'Australia/Lord_Howe 2026-10-04T02:15': '2026-10-03T15:45',
    };
    for (const [asked, instant] of Object.entries(shown)) {
      const [zone = '', local = ''] = asked.split(' ');
      expect(new Date(instantOf(zone, local)).toISOString(), asked).to.equal(`${instant}:00.000Z`);
    }
  });

  it('tell of a day what comes next first, and below it what was, back from now', () => {
    const at = (hour: number, isToCome: boolean): Turn => {
      const nominal = new Date(Date.UTC(2026, 10, 28, hour)).toISOString();
      return {
        ...{ key: String(hour), trigger: 'a', nominal, to: nominal, at: null, state: 'runs' },
        ...{ count: 1, reason: null, calendar: null, taskId: null, isToCome },
      };
    };
    const hours = Array.from({ length: 40 }, (_, hour) => hour);
    const shown = nearest(hours.map((hour) => at(hour, hour >= 3))).map(({ key }) => Number(key));
    expect(shown).to.deep.equal([...hours.slice(3, 33), 2, 1, 0]);
  });

  it('put each time on the day on which it is looked for, one that is moved on both', () => {
    const next = {
      ...{ trigger: 'a', count: 1, local: null, zone: 'UTC', reason: 'a day off', calendar: 'c' },
      ...{ nominal: '2026-11-21T19:00:00.000Z', to: '2026-11-21T19:00:00.000Z' },
      at: '2026-11-22T19:00:00.000Z',
      outcome: 'shifted' as const,
    };
    const ran = {
      ...{
        trigger: 'a',
        rerun: 0,
        reason: null,
        message: null,
        calendar: null,
        noticed_at: '',
        count: 1,
      },
      ...{ nominal: '2026-11-20T19:00:00.000Z', to: '2026-11-20T19:00:00.000Z' },
      ...{ state: 'ran' as const, task_id: 't-1' },
    };
    const turns = [comingTurn(next), pastTurn(ran, new Map([['t-1', 'failed']]))];
    const days = byDay(turns, 'Asia/Shanghai');
    const states = [...days].map(([day, of]) => [day, ...of.map(({ state }) => state)]);
    expect(states).to.deep.equal([
      ['2026-11-21', 'failed'],
      ['2026-11-22', 'shifted'],
      ['2026-11-23', 'runs'],
    ]);
    const weekend = {
      ...next,
      ...{ outcome: 'skipped' as const, at: null, count: 2 },
      ...{ nominal: '2026-11-21T02:00:00.000Z', to: '2026-11-22T02:00:00.000Z' },
    };
    const both = [...byDay([comingTurn(weekend)], 'Asia/Shanghai')];
    expect(both.map(([day, [one]]) => [day, one?.state, one?.count])).to.deep.equal([
      ['2026-11-21', 'skipped', 2],
      ['2026-11-22', 'skipped', 0],
    ]);
    const merged = { ...ran, state: 'merged' as const, count: 40 };
    const counts = countsOf([pastTurn(merged, new Map()), pastTurn(ran, new Map())]);
    expect([...counts]).to.deep.equal([
      ['merged', 40],
      ['ran', 1],
    ]);
  });

  it('change a job by a form, and leave what it does not touch as it is written', () => {
    const definition =
      '{"template":{"task":{"type":"push","params":{"big":12345678901234567890}},"user":{"group":"a"}},"triggers":[{"cron":"0 3 * * *","zone":"UTC","jitter":5},{"name":"b","every":60}],"overlap":"max:3"}';
    expect(withTyped(definition, {})).to.equal(definition);
    const changed = withTyped(definition, {
      'template.task.priority': '5',
      tags: 'live night',
      overlap: '',
      'triggers[0].zone': 'Asia/Shanghai',
      'triggers[1].kind': '',
      'triggers[2].kind': 'on',
      'triggers[2].name': 'c',
      'triggers[2].on.job': 'other',
    });
    expect(changed).to.include('"params":{"big":12345678901234567890}');
    expect(JSON.parse(changed)).to.deep.include({
      triggers: [
        { cron: '0 3 * * *', zone: 'Asia/Shanghai', jitter: 5 },
        { on: { job: 'other' }, name: 'c' },
      ],
      tags: ['live', 'night'],
    });
    expect(JSON.parse(changed)).to.not.have.property('overlap');
    expect(() => withTyped(definition, { 'template.task.params': '{' })).to.throw();
    // What is written as JSON may be no trigger: whoever looks at it as a form is shown one to choose.
    const empty = '{"triggers":[null,{"on":null}]}';
    expect(withTyped(empty, {})).to.equal(empty);
    const names = jobFields(definition, { 'triggers[0].kind': 'every' }).map(({ name }) => name);
    expect(names).to.include('triggers[0].every').and.not.include('triggers[0].cron');
  });
});
