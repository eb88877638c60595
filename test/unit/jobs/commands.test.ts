/** What a command on a job decides of its times: those of what it changes, a page at a time, and of nothing else. */
import { expect } from 'chai';
import type { RowWrite } from '../../../master/domain/changes.ts';
import type { JobChange } from '../../../master/domain/jobs/job-events.ts';
import { BY_HAND } from '../../../master/domain/model/job.ts';
import { MINUTE, SECOND } from '../../helpers/domain.ts';
import { JobMaster } from '../../helpers/jobs/job-master.ts';
import { sampleJob, sampleSpec } from '../../helpers/jobs/sample-job.ts';

describe('a command on a job', () => {
  let master: JobMaster;
  beforeEach(() => {
    master = new JobMaster();
  });
  afterEach(() => master.stop());

  const name = 'nightly';
  const enable: JobChange = { type: 'jobEnabled', name, isEnabled: true };
  const stranger = { types: null, groups: ['other'] };

  it('to run it leaves the records of runs before it, though the clock was set back', async () => {
    const record = (nominal: number): RowWrite => {
      const of = { job: name, trigger: BY_HAND, nominal, rerun: 0, until: nominal, count: 1 };
      const ran = { state: 'ran', reason: null, calendar: null, noticedAt: nominal } as const;
      const row = { ...of, ...ran, taskId: `run-${nominal - master.begin}` };
      return { op: 'put', table: 'occurrence', key: [name, BY_HAND, nominal, 0], row };
    };
    const before = [0, 1, 2, 5].map((ms) => record(master.begin + ms));
    await master.start([...master.rows(name, {}), ...before]);
    for (const key of ['a', 'b', 'c']) {
      await master.change({ type: 'jobRun', name, key, params: null });
    }
    const told = (await master.records(name)).toReversed().map(({ nominal, taskId }) => {
      return `${nominal - master.begin} ${taskId}`;
    });
    expect(told).to.deep.equal([
      ...['0 run-0', '1 run-1', '2 run-2', '3 nightly.manual.a', '4 nightly.manual.b'],
      ...['5 run-5', '6 nightly.manual.c'],
    ]);
  });

  describe('while jitter holds a time back', () => {
    /** Each fires later than the minute that has passed. */
    const held = { jitterMs: 50 * MINUTE };
    beforeEach(async () => {
      await master.start(master.rows(name, held));
      await master.pass(MINUTE);
      expect(master.live).to.deep.equal([]);
    });

    const trigger = { name: 'default', kind: 'every', isCalendared: true, source: null } as const;
    const other = { ...trigger, kind: 'on', source: name } as const;
    const jobSet = (change: Partial<Extract<JobChange, { type: 'jobSet' }>>): JobChange => ({
      ...{ type: 'jobSet', name, definition: sampleJob(), expect: null, isTrial: false, by: null },
      triggers: [{ ...trigger, spec: sampleSpec({ ...held, graceMs: 1 }) }],
      ...change,
    });
    const toItself = sampleSpec({ timing: { kind: 'on', job: name, state: 'succeeded' } });

    for (const { title, change, sight } of [
      { title: 'that it is as asked for', change: enable },
      { title: 'of a stranger', change: { ...enable, isEnabled: false }, sight: stranger },
      {
        title: 'to delete it at another version',
        change: { type: 'jobRemoved', name, expect: 7 } as const,
      },
      { title: 'to set it at another version', change: jobSet({ expect: 7 }) },
      {
        title: 'that would have it wait for itself',
        change: jobSet({ triggers: [{ ...other, spec: toItself }] }),
      },
    ]) {
      it(`leaves that time to come, ${title}`, async () => {
        const before = await master.trigger(name);
        await master.change(change, sight);
        expect(master.live).to.deep.equal([]);
        expect(await master.trigger(name)).to.deep.equal(before);
        expect(await master.records(name)).to.deep.equal([]);
      });
    }

    it('decides it, where it changes the trigger', async () => {
      const outcome = await master.change(jobSet({}));
      expect(outcome.kind).to.equal('done');
      expect(master.live).to.have.length(1);
    });
  });

  it('to enable it leaves the triggers alone that fire', async () => {
    const paused = { paused: { at: master.begin, reason: 'broken' }, nextAt: null };
    await master.start([
      ...master.rows(name, { jitterMs: 50 * MINUTE }),
      ...master.rows(name, {}, {}, { name: 'other', ...paused }),
    ]);
    await master.pass(MINUTE);
    const before = await master.trigger(name);
    await master.change(enable);
    expect(await master.trigger(name)).to.deep.equal(before);
    const { paused: still, nextAt } = (await master.trigger(name, 'other')) ?? {};
    expect([still, nextAt]).to.deep.equal([null, master.begin + 2 * MINUTE]);
  });

  it('begins a hundred runs at a time of all that jitter holds back', async () => {
    const timing = { kind: 'every', everyMs: SECOND } as const;
    const spec = { timing, jitterMs: 86_400 * SECOND, overlap: { kind: 'allow' } } as const;
    const first = { nextAt: master.begin + 1_000 * SECOND };
    await master.start(
      ['a', 'b', 'c'].flatMap((one) => master.rows(name, spec, {}, { name: one, ...first })),
    );
    await master.pass(100 * SECOND);
    await master.change({ ...enable, isEnabled: false });
    expect(master.live).to.have.length(300);
    expect(master.begun).to.deep.equal([128, 128, 44]);
  });
});
