/** Calendars that change faster than triggers find their times anew: each change is a further round for all of them. */
import { expect } from 'chai';
import { ERAS_LENGTH_MAX, ERAS_MAX } from '../../../master/domain/bounds.ts';
import { ALL_JOBS } from '../../../master/domain/model/job.ts';
import { Scheduler } from '../../helpers/domain.ts';

const calendar = { name: 'cn', expect: null, isForced: false, isUsed: false, by: null };

describe('changes of calendars', () => {
  let scheduler: Scheduler;
  beforeEach(() => {
    scheduler = new Scheduler();
  });

  const change = (text: string | null) =>
    scheduler.command({ type: 'calendarSet', ...calendar, text }).reply;
  const set = (n: number) => change(`{"days":[],"weekend":[${n}]}`);
  const reach = (after: string | null) =>
    scheduler.send({ type: 'replanLoaded', triggers: [], after });
  const reached = () => scheduler.state.jobs.replan?.after;
  /** Where a master that begins would go on. */
  const kept = () => scheduler.state.jobs.calendars.get('')?.replanAfter;

  it('have no trigger find its time once more before all have, and then all of them', () => {
    for (let n = 0; n < 20; n++) {
      expect(set(n)?.kind).to.equal('done');
      reach(`job-${n}/default`);
      expect(reached()).to.equal(`job-${n}/default`);
    }
    expect(kept()).to.equal('');
    reach(null);
    expect(scheduler.state.jobs.eras).to.have.length(19);
    expect([reached(), kept()]).to.deep.equal(['', '']);
    reach('job-0/default');
    expect(kept()).to.equal('job-0/default');
    reach(null);
    expect(scheduler.state.jobs.eras).to.deep.equal([]);
    expect([reached(), kept()]).to.deep.equal([undefined, null]);
  });

  it('are of one round, where it has found no time yet', () => {
    set(1);
    set(2);
    reach('job-0/default');
    expect(kept()).to.equal('job-0/default');
    reach(null);
    expect(reached()).to.equal(undefined);
  });

  it('write black-outs once, however many pages of triggers find their times', () => {
    const text = '{"blackouts":[{"from":1,"to":2,"reason":"release"}]}';
    scheduler.command({ type: 'calendarSet', ...calendar, name: ALL_JOBS, text });
    const pages = ['a/default', 'b/default', null];
    const written = pages.flatMap((after) => reach(after).changes);
    expect(written).to.have.length(3);
    expect(JSON.stringify(written)).not.to.include('release');
    expect(kept()).to.equal(null);
    expect(scheduler.state.jobs.calendars.get(ALL_JOBS)).to.include({ text, version: 1 });
  });

  it('wait once what was before them would be too much, and what held before each stays known', () => {
    for (let n = 0; n < ERAS_MAX; n++) expect(set(n)?.kind).to.equal('done');
    const { eras } = scheduler.state.jobs;
    expect(set(ERAS_MAX)?.kind).to.equal('full');
    expect(change(null)?.kind).to.equal('full');
    // One that changes nothing is none.
    expect(set(ERAS_MAX - 1)?.kind).to.equal('done');
    expect(scheduler.state.jobs.eras).to.equal(eras);
    expect(eras[0]?.calendars.size).to.equal(0);
    reach('a/b');
    expect(set(ERAS_MAX)?.kind).to.equal('full');
    reach(null);
    expect(set(ERAS_MAX)?.kind).to.equal('done');
  });

  it('wait where these are long', () => {
    const long = (n: number) =>
      change(`{"days":[],"description":"${String(n).repeat(ERAS_LENGTH_MAX / 4)}"}`);
    const kinds = [1, 2, 3, 4, 5, 6].map((n) => long(n)?.kind);
    expect(kinds).to.deep.equal(['done', 'done', 'done', 'done', 'full', 'full']);
    reach(null);
    expect(long(7)?.kind).to.equal('done');
  });
});
