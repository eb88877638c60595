/** Times to come, found one by one: what came before decides of those after it. */
import { expect } from 'chai';
import type { Trigger } from '../../../master/domain/model/job.ts';
import { ALL } from '../../../master/domain/model/task-filter.ts';
import type { TriggerSpec } from '../../../master/domain/schedule/trigger-spec.ts';
import { MINUTE } from '../../helpers/domain.ts';
import { JobMaster } from '../../helpers/jobs/job-master.ts';

describe('the times to come of a job', () => {
  let master: JobMaster;
  beforeEach(() => {
    master = new JobMaster();
  });
  afterEach(() => master.stop());

  async function next(spec: Partial<TriggerSpec>, trigger: Partial<Trigger>, count: number) {
    await master.start(master.rows('a', spec, {}, trigger));
    const jobs = master.harness.master.jobs(ALL);
    const shown = await jobs.show('a');
    if (shown === null) return expect.fail('it is there');
    return jobs.next(shown.job, shown.triggers, master.begin, count);
  }

  it('are as many as it has runs left', async () => {
    expect(await next({ maxRuns: 5 }, { firedCount: 3 }, 9)).to.have.lengthOf(2);
  });

  it('do not overtake one another, whatever their jitter', async () => {
    const timing = { kind: 'every', everyMs: 1_000 } as const;
    const times = await next({ timing, jitterMs: MINUTE }, {}, 50);
    const ats = times.map(({ coming }) => coming.at ?? 0);
    expect(ats).to.have.lengthOf(50);
    expect(ats).to.deep.equal(ats.toSorted((a, b) => a - b));
  });
});
