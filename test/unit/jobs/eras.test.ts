/** Calendars that change faster than triggers find their times anew: each change has all of them begin again. */
import { expect } from 'chai';
import { ERAS_MAX } from '../../../master/domain/bounds.ts';
import { Scheduler } from '../../helpers/domain.ts';

const calendar = { name: 'cn', expect: null, isForced: false, isUsed: false, by: null };

describe('changes of calendars', () => {
  it('wait once so many have not come to all triggers, and what held before each stays known', () => {
    const scheduler = new Scheduler();
    const change = (text: string | null) =>
      scheduler.command({ type: 'calendarSet', ...calendar, text }).reply;
    const set = (n: number) => change(`{"days":[],"weekend":[${n}]}`);
    for (let n = 0; n < ERAS_MAX; n++) expect(set(n)?.kind).to.equal('done');
    const { eras } = scheduler.state.jobs;
    expect(set(ERAS_MAX)).to.deep.equal({
      kind: 'full',
      message:
        'triggers are yet to find their times after the last 8 changes of calendars and black-outs',
    });
    expect(change(null)?.kind).to.equal('full');
    // One that changes nothing is none.
    expect(set(ERAS_MAX - 1)?.kind).to.equal('done');
    expect(scheduler.state.jobs.eras).to.equal(eras);
    expect(eras[0]?.calendars.size).to.equal(0);
    scheduler.send({ type: 'replanLoaded', triggers: [], after: 'a/b' });
    expect(set(ERAS_MAX)?.kind).to.equal('full');
    scheduler.send({ type: 'replanLoaded', triggers: [], after: null });
    expect(set(ERAS_MAX)?.kind).to.equal('done');
  });
});
