/** Bodies of calendars and jobs at their largest: read and checked in slices. */
import { expect } from 'chai';
import { canonicalJson } from '../../../master/access/body/canonical-json.ts';
import { runAtOnce } from '../../../master/access/body/pieces.ts';
import { Problem } from '../../../master/access/http/problem.ts';
import { calendarText, readCalendar } from '../../../master/access/routes/jobs/calendar-body.ts';
import { digestOf } from '../../../master/access/routes/jobs/calendar-digest.ts';
import { readJob } from '../../../master/access/routes/jobs/job-body.ts';
import { dateOf } from '../../../master/domain/schedule/local-time.ts';

const dayAt = (at: number) => ({ date: dateOf(20_000 + at), kind: 'off', label: `day ${at}` });
const bodyOf = (value: unknown) => Buffer.from(JSON.stringify(value));
const many = Array.from({ length: 4_000 }, (_, at) => dayAt(at));

function counted<T>(work: Generator<void, T>): { value: T; pieceCount: number } {
  for (let pieceCount = 1; ; pieceCount++) {
    const step = work.next();
    if (step.done === true) return { value: step.value, pieceCount };
  }
}

function refusalOf(value: unknown): unknown {
  try {
    runAtOnce(readCalendar(bodyOf(value)));
    return null;
  } catch (error) {
    return error instanceof Problem ? error.errors : error;
  }
}

describe('a body of many days', () => {
  it('is checked and kept in slices, as one text', () => {
    const asked = counted(readCalendar(bodyOf({ days: many.toReversed(), description: 'd' })));
    expect(asked.pieceCount).to.be.at.least(20);
    const { value: text, pieceCount } = counted(calendarText(asked.value));
    expect(pieceCount).to.be.at.least(20);
    const whole = { days: many, weekend: [0, 6], description: 'd' };
    expect(text).to.equal(canonicalJson(JSON.stringify(whole)));
    const row = { name: 'c', version: 1, text, changedAt: 0, by: null, replanAfter: null };
    expect(digestOf(row)).to.deep.include({ dayCount: 4_000, workCount: 0, from: many[0]?.date });
    expect(digestOf(row)).to.equal(digestOf(row));
  });

  it('is refused with the place of what is wrong, and at once where it is too long', () => {
    const wrong = many.with(333, { ...dayAt(333), kind: 'half' });
    expect(refusalOf({ days: wrong })).to.deep.include.members([
      { field: 'days[333].kind', message: 'expected one of off, work' },
    ]);
    expect(refusalOf({ days: Array.from({ length: 10_000 }, () => 1) })).to.deep.equal([
      {
        field: 'days',
        message: 'expected at most 4000 entries, given a list of 10000 entries',
      },
    ]);
    expect(refusalOf({ days: [], weekend: [7] })).to.have.length(1);
    expect(refusalOf({ days: 'all' })).to.have.length(1);
    expect(refusalOf(null)).to.have.length(1);
  });

  it('of a job yields after each trigger', () => {
    const triggers = Array.from({ length: 32 }, (_, n) => ({ name: `t${n}`, cron: '0 3 * * *' }));
    const template = { task: { type: 'echo' }, user: { group: 'g' } };
    const rules = { refusalOf: () => null, rulesOf: () => null, hasCalendar: () => true };
    const { value, pieceCount } = counted(readJob('j', bodyOf({ template, triggers }), rules));
    expect(value.triggers).to.have.length(32);
    expect(pieceCount).to.be.at.least(35);
  });
});
