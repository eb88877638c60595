/** How many jobs there may be: counted once, and from then on by what is made and deleted. */
import { expect } from 'chai';
import type { CommandOutcome } from '../../../master/domain/effects.ts';
import { JOBS_MAX } from '../../../master/domain/bounds.ts';
import { ALL } from '../../../master/domain/model/task-filter.ts';
import type { Job } from '../../../master/domain/model/job.ts';
import { Scheduler } from '../../helpers/domain.ts';
import { sampleJob } from '../../helpers/jobs/sample-job.ts';

const ASKED = { triggers: [], expect: null, isTrial: false, by: null, within: ALL };
const NONE = { triggers: [], renewed: [], run: null, byHandAt: null, taken: null, refusal: null };

describe('the bound of jobs', () => {
  it('refuses one more, also to try it, until one is deleted; what there is may be changed', () => {
    const scheduler = new Scheduler();
    const replyTo = (...command: Parameters<Scheduler['command']>): CommandOutcome | undefined => {
      const { effects } = scheduler.command(...command);
      return effects.flatMap((one) =>
        one.type === 'reply' ? [one.reply as CommandOutcome] : [],
      )[0];
    };
    const set = (name: string, job: Job | null, jobCount: number | null, more = {}) => {
      const { name: _, ...definition } = sampleJob({ template: `{"task":"${name}"}` });
      const found = { ...NONE, job, jobCount };
      return replyTo({ type: 'jobSet', name, definition, ...ASKED, ...more, found })?.kind;
    };
    expect(set('last', null, JOBS_MAX - 1)).to.equal('done');
    expect(set('more', null, null)).to.equal('full');
    expect(set('more', null, null, { isTrial: true })).to.equal('full');
    expect(set('last', sampleJob({ name: 'last' }), null)).to.equal('done');
    const found = { ...NONE, job: sampleJob({ name: 'last' }), jobCount: null };
    const removed = replyTo({ type: 'jobRemoved', name: 'last', expect: null, within: ALL, found });
    expect(removed?.kind).to.equal('done');
    expect(set('more', null, null)).to.equal('done');
    expect(set('again', null, null)).to.equal('full');
  });
});
