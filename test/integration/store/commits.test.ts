/** What commits of many namespaces at once cost a database: counted, not timed. */
import { expect } from 'chai';
import { inNamespace } from '../../../master/application/namespace.ts';
import { createClock } from '../../../master/infrastructure/system.ts';
import { NO_SETTINGS } from '../../../master/domain/state/state.ts';
import { commit, task } from '../../contract/sample.ts';
import type { DefaultStore } from '../../contract/subjects.ts';
import { NOW } from '../../helpers/task.ts';
import { type Counts, describeCountedStores } from './counted-store.ts';

const NAMESPACE_COUNT = 50;
const COMMIT_COUNT = 10;

describeCountedStores('commits', (open) => {
  let store: DefaultStore;
  let counts: Counts;
  let ids: number[];

  beforeEach(async () => {
    ({ store, counts } = await open());
    await store.open(NOW);
    ids = [0];
    for (let n = 1; n < NAMESPACE_COUNT; n++) {
      const record = { name: `n-${n}`, createdAt: NOW, retention: 'normal' } as const;
      ids.push((await store.createNamespace({ ...record, ...NO_SETTINGS })).id);
    }
    for (const id of ids) await store.tasks(id).takeTerm('m-1', NOW);
    counts.reset();
  });

  it('of many namespaces, a transaction for each round of them', async () => {
    await Promise.all(
      ids.map(async (id) => {
        const tasks = store.tasks(id);
        for (let n = 1; n <= COMMIT_COUNT; n++) {
          const lane = inNamespace(id, 1);
          const inserts = [task(inNamespace(id, n), { id: `t-${n}`, lane })];
          await tasks.commit(commit(1, { inserts }));
        }
      }),
    );
    expect(counts.commitCount).to.equal(COMMIT_COUNT);
    expect(counts.statementCount, 'a fence, and one insert').to.equal(COMMIT_COUNT * 2);
    for (const id of ids) expect(await store.tasks(id).countLanes()).to.have.length(1);
  });

  it('of turns that begin soon, each by the clock of its namespace, share transactions', async () => {
    await Promise.all(
      ids.map(async (id) => {
        const clock = createClock();
        const tasks = store.tasks(id);
        for (let n = 1; n <= COMMIT_COUNT; n++) {
          await new Promise<void>((resolve) => clock.soon(resolve));
          const lane = inNamespace(id, 1);
          const inserts = [task(inNamespace(id, n), { id: `t-${n}`, lane })];
          await tasks.commit(commit(1, { inserts }));
        }
      }),
    );
    // Where the machine is slow, a round takes several pieces of the event loop.
    expect(counts.commitCount).to.be.below((NAMESPACE_COUNT * COMMIT_COUNT) / 4);
    expect(counts.statementCount, 'a fence, and one insert').to.equal(counts.commitCount * 2);
  });

  it('of one that the database refuses takes no others along', async () => {
    // What no column holds: one database refuses the first, the other the second.
    const odd = { id: 'x'.repeat(99), orderTime: 0.5 };
    const [spoilt = 0] = ids.slice(-1);
    const outcomes = await Promise.allSettled(
      ids.map((id) => {
        const inserts = [task(inNamespace(id, 1), id === spoilt ? odd : { id: 't-1' })];
        return store.tasks(id).commit(commit(1, { inserts }));
      }),
    );
    const failed = ids.filter((_, at) => outcomes[at]?.status === 'rejected');
    expect(failed).to.deep.equal([spoilt]);
    for (const id of ids.slice(0, -1)) {
      expect((await store.tasks(id).findIds(['t-1'])).size).to.equal(1);
    }
    await store.tasks(spoilt).commit(commit(1, { inserts: [task(inNamespace(spoilt, 2))] }));
  });
});
