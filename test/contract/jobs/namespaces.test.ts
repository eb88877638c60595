/** Namespaces with jobs: which of them are to be led, and when one may be deleted. */
import { expect } from 'chai';
import type { Store, TaskStore } from '../../../master/application/ports.ts';
import type { RowWrite } from '../../../master/domain/changes.ts';
import { idleActivity } from '../../../master/domain/model/job.ts';
import { sampleJob, sampleTrigger } from '../../helpers/jobs/sample-job.ts';
import { NOW } from '../../helpers/task.ts';
import { commit } from '../sample.ts';
import { describeStores } from '../subjects.ts';

const settings = { paused: null, retention: 'normal', maxWaiting: null, maxRunning: null } as const;

describeStores('namespaces with jobs', (open) => {
  let store: Store;
  let films: TaskStore;
  let other: number;
  let term: number;

  const make = () => store.createNamespace({ name: 'films', createdAt: NOW, ...settings });

  beforeEach(async () => {
    store = await open();
    await store.open(NOW);
    other = (await make()).id;
    films = store.tasks(other);
    ({ term } = await films.takeTerm('m-1', NOW));
  });

  it('names those with jobs that fire, or whose runs have ended and were not looked at', async () => {
    const row = sampleTrigger({ nextAt: null });
    const key = [row.job, row.name] as const;
    await films.commit(commit(term, { writes: [{ op: 'put', table: 'trigger', key, row }] }));
    expect(await store.withWork()).to.deep.equal([]);
    const due: RowWrite = { op: 'put', table: 'trigger', key, row: { ...row, nextAt: NOW } };
    await films.commit(commit(term, { writes: [due] }));
    expect(await store.withWork()).to.deep.equal([other]);
    const activity = { ...idleActivity(row.job), liveCount: 1 };
    await films.commit(
      commit(term, {
        writes: [
          { op: 'put', table: 'trigger', key, row },
          { op: 'put', table: 'jobActivity', key: row.job, row: activity },
        ],
      }),
    );
    expect(await store.withWork()).to.deep.equal([other]);
  });

  it('deletes none that has a job, and leaves what became of its times as history', async () => {
    const job = sampleJob({ isEnabled: false });
    const write = (...writes: RowWrite[]) => films.commit(commit(term, { writes }));
    const of = { job: job.name, trigger: 'default', nominal: NOW, rerun: 0, until: NOW, count: 1 };
    const said = { state: 'skipped', reason: 'x', calendar: null, taskId: null } as const;
    await write(
      { op: 'put', table: 'job', key: job.name, row: job },
      {
        ...{ op: 'put', table: 'occurrence', key: [job.name, 'default', NOW, 0] },
        row: { ...of, ...said, noticedAt: NOW },
      },
    );
    expect(await store.deleteNamespace(other)).to.equal(false);
    await write({ op: 'remove', table: 'job', key: job.name, expect: 'any' });
    expect(await store.deleteNamespace(other)).to.equal(true);
    await make();
    const query = { trigger: null, state: null, from: null, to: null, noticedFrom: null };
    const left = await films.jobs.listOccurrences({
      ...query,
      job: job.name,
      after: null,
      limit: 9,
    });
    expect(left.occurrences).to.have.length(1);
  });
});
