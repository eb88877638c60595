/** Ends of runs, and what follows from them: each is looked at once, few at a time, whatever was deleted meanwhile. */
import { expect } from 'chai';
import { idleActivity, type JobEnd } from '../../../master/domain/model/job.ts';
import { ENDS_MAX } from '../../../master/domain/bounds.ts';
import { createOutput } from '../../../master/domain/effects.ts';
import { activityOf, runEnded } from '../../../master/domain/jobs/activity.ts';
import { MINUTE, Scheduler, SECOND } from '../../helpers/domain.ts';
import { sampleTask } from '../../helpers/task.ts';
import { activityRow, JobMaster } from '../../helpers/jobs/job-master.ts';

describe('ends of runs', () => {
  let master: JobMaster;
  beforeEach(() => {
    master = new JobMaster();
  });
  afterEach(() => master.stop());

  const endOf = (name: string, state: JobEnd['state'], change: Partial<JobEnd> = {}): JobEnd => ({
    ...{ name, version: 1, trigger: 'default', nominal: master.begin, taskId: `t-${name}` },
    ...{ state, startedAt: null, at: master.begin, error: null },
    ...change,
  });
  const allow = { kind: 'allow' } as const;
  const on = (job: string) => ({ timing: { kind: 'on', job, state: 'succeeded' } as const });

  it('are looked at once, where the job was deleted before', async () => {
    await master.start(master.rows('nightly', {}));
    await master.pass(MINUTE);
    await master.change({ type: 'jobRemoved', name: 'nightly', expect: null });
    await master.end('nightly');
    expect(master.harness.engine.state?.jobs.activities.size).to.equal(0);
  });

  it('begin runs of others a hundred at a time, and each of them one', async () => {
    const ends = Array.from({ length: 50 }, (_, at) =>
      endOf('source', 'succeeded', { at: master.begin + at }),
    );
    const names = Array.from({ length: 9 }, (_, at) => `listener-${at}`);
    await master.start([
      ...master.rows('source', {}),
      activityRow({ ...idleActivity('source'), ends }),
      ...names.flatMap((name) => master.rows(name, { ...on('source'), overlap: allow })),
    ]);
    expect(master.live).to.have.length(450);
    expect(Math.max(...master.begun)).to.equal(126);
    expect(master.harness.engine.state?.jobs.unsettled.size).to.equal(0);
  });

  it('are waited for by the newest time alone, and those it replaces are no runs', async () => {
    const live = { ...idleActivity('nightly'), liveCount: 1, liveIds: ['slow-to-end'] };
    const replace = { overlap: { kind: 'replace' }, maxRuns: 2 } as const;
    await master.start([...master.rows('nightly', replace), activityRow(live)]);
    await master.pass(4 * MINUTE);
    expect(await master.trigger('nightly')).to.include({ firedCount: 1 });
    expect(master.harness.engine.state?.jobs.activities.get('nightly')?.pending).to.have.length(1);
  });

  it('that come faster than they are looked at are counted, and whoever waits for them has a record of those', async () => {
    const bursts = new Scheduler();
    const { begin: nominal } = master;
    const job = { name: 'source', version: 1, trigger: 'default', nominal, backfill: null };
    const task = sampleTask({ job });
    const out = createOutput();
    for (let n = 0; n < ENDS_MAX + 40; n++) {
      const state = n % 4 === 0 ? 'failed' : 'succeeded';
      runEnded(bursts.state, { ...task, id: `t-${n}`, state }, master.begin + n, out);
    }
    const row = activityOf(bursts.state, 'source');
    expect(row.ends).to.have.length(ENDS_MAX);
    expect(row.ends[0]?.taskId).to.equal('t-40');
    expect(row.lostEnds).to.deep.equal([
      { state: 'failed', count: 10, from: master.begin, to: master.begin + 36 },
      { state: 'succeeded', count: 30, from: master.begin + 1, to: master.begin + 39 },
    ]);
    await master.start([
      ...master.rows('source', {}),
      activityRow({ ...row, ends: row.ends.slice(0, 2) }),
      ...master.rows('listener', { ...on('source'), overlap: allow }),
      ...master.rows('held', { ...on('source'), isEnabled: false }),
    ]);
    const [run, lost, ...others] = await master.records('listener');
    expect(others).to.deep.equal([]);
    expect(lost).to.include({ state: 'skipped', reason: 'overflow', count: 30 });
    expect(run).to.include({ state: 'ran' });
    expect(await master.records('held')).to.deep.equal([]);
    expect(master.harness.engine.state?.jobs.activities.get('source')).to.equal(undefined);
  });

  it('that nobody waits for are looked at all at once, whoever waits for others', async () => {
    const ends = Array.from({ length: 900 }, () => endOf('source', 'canceled'));
    await master.start([
      ...master.rows('source', {}),
      activityRow({ ...idleActivity('source'), ends }),
      ...Array.from({ length: 60 }, (_, at) => master.rows(`listener-${at}`, on('source'))).flat(),
    ]);
    const written = master.harness.store.commits.flatMap(({ writes }) =>
      writes.filter(({ table }) => table === 'jobActivity'),
    );
    expect(master.harness.engine.state?.jobs.unsettled.size).to.equal(0);
    expect(written.length).to.be.below(3);
  });

  it('keep those of other jobs from their turn no longer than for one page', async () => {
    const many = Array.from({ length: 3 }, (_, at) =>
      endOf('many', 'succeeded', { at: master.begin + at }),
    );
    await master.start([
      ...master.rows('many', {}),
      ...master.rows('one', {}),
      activityRow({ ...idleActivity('many'), ends: many }),
      activityRow({ ...idleActivity('one'), ends: [endOf('one', 'succeeded')] }),
      ...Array.from({ length: 99 }, (_, at) => `of-many-${at}`).flatMap((name) =>
        master.rows(name, { ...on('many'), overlap: { kind: 'skip' } }),
      ),
      ...master.rows('of-one', on('one')),
    ]);
    const page = master.harness.store.commits.findIndex(({ writes }) =>
      writes.some((one) => one.table === 'occurrence' && one.key[0] === 'of-one'),
    );
    const first = master.harness.store.commits.findIndex(({ writes }) =>
      writes.some(({ table }) => table === 'occurrence'),
    );
    expect(first).to.be.at.least(0);
    expect(page - first).to.be.within(0, 1);
  });

  it('begin runs of all that wait for them, however large their templates', async () => {
    const template = JSON.stringify({
      task: { type: 'echo', params: { text: 'x'.repeat(200_000) } },
      user: { group: 'g' },
    });
    const names = Array.from({ length: 6 }, (_, at) => `large-${at}`);
    await master.start([
      ...master.rows('source', {}),
      activityRow({ ...idleActivity('source'), ends: [endOf('source', 'succeeded')] }),
      ...names.flatMap((name) => master.rows(name, on('source'), { template })),
    ]);
    expect(master.live.map(({ job }) => job?.name)).to.have.members(names);
  });

  for (const [names, firedCount] of [
    [['first', 'later'], 1],
    [['later', 'first'], 0],
  ] as const) {
    it(`pause a trigger, and fire it for the end of another job, without losing either: ${names.join(', ')}`, async () => {
      const ends = { first: endOf('first', 'succeeded'), later: endOf('later', 'failed') };
      await master.start([
        ...master.rows('first', {}),
        ...master.rows('later', on('first'), { spec: '{"pause_after":1}' }),
        ...names.map((name) => activityRow({ ...idleActivity(name), ends: [ends[name]] })),
      ]);
      const trigger = await master.trigger('later');
      expect(trigger).to.include({ firedCount, failureCount: 1, nextAt: null });
      expect(trigger?.paused?.reason).to.match(/^1 runs in a row/);
    });
  }

  describe('after which one that counts from them', () => {
    const delay = { timing: { kind: 'delay', delayMs: MINUTE } } as const;

    it('runs what waited, and has its delay after that', async () => {
      await master.start(master.rows('nightly', delay, {}, { armedAt: master.begin + MINUTE }));
      await master.change({ type: 'jobRun', name: 'nightly', key: 'k', params: null });
      await master.pass(MINUTE);
      expect((await master.records('nightly')).map(({ state }) => state)).to.include('pending');
      await master.end('nightly');
      expect((await master.trigger('nightly'))?.nextAt).to.equal(null);
      await master.pass(30 * SECOND);
      await master.end('nightly');
      await master.pass(MINUTE - 1);
      expect(master.live).to.deep.equal([]);
      await master.pass(1);
      expect(master.live).to.have.length(1);
    });

    it('has it from then on where what waited is refused', async () => {
      const noticedAt = master.begin;
      const pending = [{ trigger: 'default', nominal: noticedAt, rerun: 0, noticedAt }];
      const template = '{"task":{"type":"echo","notify_url":"nowhere"},"user":{"group":"g"}}';
      const unarmed = { nextAt: null, nextNominal: null };
      await master.start([
        ...master.rows('nightly', delay, { template }, unarmed),
        activityRow({ ...idleActivity('nightly'), pending }),
      ]);
      expect((await master.records('nightly')).map(({ state }) => state)).to.include('refused');
      expect((await master.trigger('nightly'))?.nextAt).to.equal(master.begin + MINUTE);
    });
  });
});
