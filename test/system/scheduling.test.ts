/** What is promised of the order of work, with real processes and an idle fleet. */
import { expect } from 'chai';
import { describeSystem } from '../helpers/system.ts';

describeSystem('scheduling', ({ start }) => {
  it('starts the one task of an empty store at once on an idle executor', async () => {
    const system = await start();
    await system.executor({ id: 'a' });
    const taskId = await system.submit([[]]);
    const acceptedAt = Date.now();
    const { at } = await system.started(taskId);
    expect(at - acceptedAt).to.be.below(1_000);
    const task = await system.ended(taskId);
    expect(task).to.include({ state: 'succeeded', attempt: 1, executor_id: 'a' });
  });
});
