/** Executors that die, stand still, refuse, answer late or never end: no task is lost or run on. */
import { expect } from 'chai';
import type { TaskView } from '@soda-scheduler/client';
import { describeSystem } from '../helpers/system.ts';
import { eventually } from '../helpers/wait.ts';

const outcomes = (task: TaskView) => task.timeline.map(({ outcome }) => outcome);

describeSystem('an executor', ({ start }) => {
  it('that stood still past its lease ends what it ran by itself, and its result is refused', async () => {
    const system = await start();
    const stopped = await system.executor({ id: 'a' });
    const taskId = await system.submit([[{ hold: true }]], {
      notify_url: system.receiver.url('stood'),
    });
    await system.started(taskId);
    const other = await system.executor({ id: 'b' });

    stopped.signal('SIGSTOP');
    await system.started(taskId, 2);
    // Its handler finds the way open at the very moment when the process goes on.
    stopped.write(taskId);
    stopped.signal('SIGCONT');
    await eventually('the first attempt is over', () => system.runs(taskId, 'end').length === 1);
    await system.executorIs('a', 'idle');
    expect(await system.task(taskId)).to.include({ state: 'running', attempt: 2 });

    other.write(taskId);
    const task = await system.ended(taskId);
    expect(task).to.include({ state: 'succeeded', attempt: 2, attempts_used: 0 });
    expect(task.result).to.include({ by: 'b', attempt: 2 });
    expect(outcomes(task)).to.deep.equal(['lost', 'succeeded']);
    await eventually('the callback has come', () => system.receiver.at('stood').length > 0);
    expect(system.receiver.at('stood')).to.have.length(1);
    expect(system.runs(taskId).map(({ executor }) => executor)).to.deep.equal(['a', 'b']);
  });

  it('that stood still past its lease aborts a handler that goes on', async () => {
    const system = await start();
    const stopped = await system.executor({ id: 'a' });
    const taskId = await system.submit([[{ hold: true }], []]);
    await system.started(taskId);
    stopped.signal('SIGSTOP');
    await system.executor({ id: 'b' });
    expect(await system.ended(taskId)).to.include({ state: 'succeeded', executor_id: 'b' });

    stopped.signal('SIGCONT');
    const end = await eventually('its handler has ended', () =>
      system.runs(taskId, 'end').find(({ executor }) => executor === 'a'),
    );
    expect(end).to.include({ how: 'failed', aborted: 'lease_lost' });
    await system.executorIs('a', 'idle');
  });
});
