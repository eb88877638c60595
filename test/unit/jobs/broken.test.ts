/** A trigger of a zone, or an expression, that another runtime knew and this one does not: it is paused, and no other. */
import { expect } from 'chai';
import { idleActivity, type JobEnd } from '../../../master/domain/model/job.ts';
import { ALL } from '../../../master/domain/model/task-filter.ts';
import type { TriggerSpec } from '../../../master/domain/schedule/trigger-spec.ts';
import { MINUTE } from '../../helpers/domain.ts';
import { activityRow, JobMaster } from '../../helpers/jobs/job-master.ts';
import { sampleJob, sampleSpec } from '../../helpers/jobs/sample-job.ts';

const NOWHERE = {
  timing: { kind: 'cron', expression: '* * * * *' },
  zone: 'Mars/Olympus',
} as const;
const GARBLED = { timing: { kind: 'cron', expression: 'H H * * *' } } as const;

describe('a trigger whose times cannot be told', () => {
  let master: JobMaster;
  beforeEach(() => {
    master = new JobMaster();
  });
  afterEach(() => master.stop());

  const pausesOf = async (job: string) => (await master.trigger(job))?.paused?.reason;

  it('is paused once it is due, with the reason, and all others fire', async () => {
    await master.start([
      ...master.rows('a', NOWHERE),
      ...master.rows('b', {}),
      ...master.rows('c', GARBLED),
    ]);
    await master.pass(MINUTE);
    expect(await pausesOf('a')).to.match(/^this master cannot tell its times: .*Mars\/Olympus/);
    expect(await pausesOf('c')).to.match(/^this master cannot tell its times: /);
    await master.pass(MINUTE);
    expect((await master.records('b')).map(({ state }) => state)).to.include('ran');
  });

  it('has no times that could be shown until then', async () => {
    await master.start(master.rows('a', NOWHERE));
    const jobs = master.harness.master.jobs(ALL);
    const shown = await jobs.show('a');
    if (shown === null) return expect.fail('it is there');
    expect(await jobs.next(shown.job, shown.triggers, master.begin, 5)).to.deep.equal([]);
  });

  it('is paused where many were missed', async () => {
    const missed = { nextAt: master.begin - MINUTE, decidedUntil: master.begin - 2 * MINUTE };
    const names = Array.from({ length: 30 }, (_, at) => `job-${at}`);
    await master.start(
      names.flatMap((name, at) => master.rows(name, at === 7 ? NOWHERE : {}, {}, missed)),
    );
    await master.pass(MINUTE);
    expect(await pausesOf('job-7')).to.match(/Mars/);
    expect(await pausesOf('job-8')).to.equal(undefined);
  });

  it('keeps nobody from a change of its job, of a calendar, or from deleting it', async () => {
    await master.start([...master.rows('a', NOWHERE), ...master.rows('d', NOWHERE)]);
    await master.harness.master.jobs(ALL).changeCalendar({
      ...{ name: '', text: '{"blackouts":[]}', expect: null, isForced: false, by: null },
    });
    await master.looked();
    expect(await pausesOf('d')).to.match(/Mars/);
    await master.change({ type: 'jobEnabled', name: 'a', isEnabled: true });
    expect(await pausesOf('a')).to.match(/Mars/);
    const removed = await master.change({ type: 'jobRemoved', name: 'a', expect: null });
    expect(removed.kind).to.equal('done');
  });

  it('is none whose run a fault of the master fails: that rebuilds the state, and it fires', async () => {
    const { templates, recorder } = master.harness;
    const taskOf = templates.taskOf.bind(templates);
    let failedCount = 0;
    templates.taskOf = (...of) => {
      failedCount += 1;
      if (failedCount === 1) throw new RangeError('Maximum call stack size exceeded');
      return taskOf(...of);
    };
    await master.start(master.rows('a', {}));
    const { forgetCount } = recorder;
    await master.pass(2 * MINUTE);
    // The state was thrown away, as after any failure.
    expect(recorder.forgetCount).to.equal(forgetCount + 1);
    expect(await pausesOf('a')).to.equal(undefined);
    expect((await master.records('a')).map(({ state }) => state)).to.include('ran');
  });

  it('is paused alone where a fault of the master lasts, with the reason, and all others fire', async () => {
    const { templates, recorder } = master.harness;
    const taskOf = templates.taskOf.bind(templates);
    templates.taskOf = (job, ...of) => {
      if (job.name === 'a' || job.name === 'c') throw new TypeError('no such function');
      return taskOf(job, ...of);
    };
    const observed: unknown[] = [];
    recorder.observe = (...of: unknown[]) => void observed.push(...of);
    await master.start(['a', 'b', 'c'].flatMap((name) => master.rows(name, {})));
    const { forgetCount } = recorder;
    await master.pass(10 * MINUTE);
    // Once, since such a fault may be over then: not once for each of them.
    expect(recorder.forgetCount).to.equal(forgetCount + 1);
    for (const job of ['a', 'c']) {
      const why = 'a fault of the master, again and again: no such function';
      expect(await pausesOf(job)).to.equal(why);
      const told = {
        event: 'trigger_paused',
        job,
        trigger: 'default',
        reason: why,
      };
      expect(observed).to.deep.include(told);
    }
    expect((await master.records('b')).filter(({ state }) => state === 'ran')).not.to.be.empty;
  });

  it('is paused alone where no next time can be found for it, whatever is asked', async () => {
    await master.start([...master.rows('a', {}), ...master.rows('b', {})]);
    const timing = { kind: 'rotate', days: 1, time: null } as unknown as TriggerSpec['timing'];
    const broken = sampleSpec({ timing });
    const named = { name: 'default', kind: 'every', isCalendared: true, source: null } as const;
    const definition = { ...sampleJob({ name: 'a' }), spec: '{"tags":[]}' };
    const triggers = [{ ...named, spec: broken }];
    const how = { expect: null, isTrial: false, by: null } as const;
    const set = { type: 'jobSet', name: 'a', definition, triggers, ...how } as const;
    const { forgetCount } = master.harness.recorder;
    await master.change(set).catch(() => undefined);
    await master.pass(2 * MINUTE);
    await master.change(set);
    expect(await pausesOf('a')).to.match(/^a fault of the master, again and again: /);
    await master.change({ type: 'jobEnabled', name: 'a', isEnabled: true });
    await master.pass(2 * MINUTE);
    expect(master.harness.recorder.forgetCount).to.equal(forgetCount + 1);
    expect((await master.records('b')).filter(({ state }) => state === 'ran')).not.to.be.empty;
  });

  it('is paused where it waits for another job, by days of such a zone', async () => {
    const timing = { kind: 'on', job: 'source', state: 'succeeded' } as const;
    const onlyOn = { calendar: 'office', days: 'work', label: null } as const;
    const end: JobEnd = {
      ...{ name: 'source', version: 1, trigger: 'default', nominal: 1, taskId: 't' },
      ...{ startedAt: null, at: master.begin, error: null },
      state: 'succeeded',
    };
    await master.start([
      ...master.rows('source', {}),
      ...master.rows('later', { timing, onlyOn, zone: 'Mars/Olympus' }),
      activityRow({ ...idleActivity('source'), ends: [end] }),
    ]);
    expect(await pausesOf('later')).to.match(/Mars/);
    expect(master.harness.engine.state?.jobs.activities.size).to.equal(0);
  });
});
