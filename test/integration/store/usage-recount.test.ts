/** What was counted as it happened equals what is counted afterwards, whatever has happened meanwhile. */
import { expect } from 'chai';
import { RandomTasks } from '../../helpers/usage/random-tasks.ts';
import { asCounted, asTold, runTimes } from '../../helpers/usage/recount.ts';
import { describeCountedStores } from './counted-store.ts';

const TASK_COUNT = 1_500;

describeCountedStores('usage of random tasks', (open) => {
  it('equals a recount in SQL, across kills of the master, retries and deletes', async () => {
    const { store, readers } = await open();
    const tasks = new RandomTasks(store, 1, { executorCount: 40, roundsOfMaster: 4 });
    await store.open(tasks.clock.now());
    await tasks.run(TASK_COUNT);
    await store.foldUsage();
    const [counted, told] = [await asCounted(readers), await asTold(readers)];
    expect(counted).to.deep.equal(told);
    expect(await readers.rows('SELECT * FROM usage_delta')).to.deep.equal([]);
    const [countedMs, ms] = await runTimes(readers);
    expect(countedMs).to.equal(ms);
    // Otherwise it has not been tried.
    const figures = new Set(Object.keys(counted).map((name) => name.split(' ').at(-1)));
    expect([...figures]).to.include.members(['failed', 'canceled', 'expired', 'timed_out', 'lost']);
    expect(countedMs).to.be.above(0);
    expect(tasks.killCount).to.be.above(0);
  });
});
