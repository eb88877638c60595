/** A job that was disabled, and is enabled by being put: its times meanwhile were none. */
import { expect } from 'chai';
import { renewedTriggers } from '../../../master/domain/jobs/set.ts';
import { JobReader } from '../../../master/application/jobs/read-jobs.ts';
import { MemoryTaskStore } from '../../../master/infrastructure/memory/task-store.ts';
import { ALL } from '../../../master/domain/model/task-filter.ts';
import { HOUR, MINUTE, Scheduler } from '../../helpers/domain.ts';
import { sampleJob, sampleSpec, sampleTrigger } from '../../helpers/jobs/sample-job.ts';
import { templatesIn } from '../../helpers/jobs/templates.ts';
import { commit } from '../../contract/sample.ts';
import { NOW } from '../../helpers/task.ts';

const held = sampleTrigger({ decidedUntil: NOW, nextAt: null, nextNominal: null });
const later = NOW + HOUR;

describe('a job that is put again', () => {
  it('decides no time up to now once more, also where its times are the same', () => {
    const spec = sampleSpec({ misfire: 'skip' });
    const defined = {
      name: 'default',
      kind: 'every',
      isCalendared: true,
      source: null,
      spec,
    } as const;
    const [renewed] = renewedTriggers('nightly', [held], [defined], later);
    expect(renewed).to.include({ anchorAt: held.anchorAt, decidedUntil: later });
  });

  it('counts from the end of its run still, where its delay is another', () => {
    const spec = sampleSpec({ timing: { kind: 'delay', delayMs: 2 * MINUTE }, startAt: NOW });
    const named = { name: 'default', kind: 'delay', isCalendared: true, source: null } as const;
    const running = sampleTrigger({ kind: 'delay', armedAt: null, nextAt: null });
    const [renewed] = renewedTriggers('nightly', [running], [{ ...named, spec }], later);
    expect(renewed?.armedAt).to.equal(null);
  });

  it('goes on with the next time, where it was disabled and is as it was; others have their turns between its triggers', async () => {
    const store = new MemoryTaskStore();
    const { term } = await store.takeTerm('test', NOW);
    const job = sampleJob({ isEnabled: false });
    await store.commit(
      commit(term, {
        writes: [
          { op: 'put', table: 'job', key: job.name, row: job },
          { op: 'put', table: 'trigger', key: [job.name, held.name], row: held },
        ],
      }),
    );
    let breathCount = 0;
    const breathe = async () => void (breathCount += 1);
    const reader = new JobReader({ store, templates: templatesIn(), breathe });
    const spec = sampleSpec();
    const event = {
      type: 'jobSet',
      request: 1,
      name: job.name,
      expect: null,
      isTrial: false,
      by: null,
      definition: { ...job, isEnabled: true },
      triggers: Array.from({ length: 32 }, (_, at) => {
        const name = at === 0 ? 'default' : `t${at}`;
        return { name, kind: 'every' as const, isCalendared: true, source: null, spec };
      }),
      within: ALL,
    } as const;
    const [found] = await reader.read(new Scheduler().state, { type: 'job', event }, later + 1);
    if (found?.type !== 'jobSet') return expect.fail('it is the command, with its rows');
    expect(found.found?.renewed[0]?.nextAt).to.equal(later + MINUTE);
    expect(breathCount).to.equal(32);
  });
});
