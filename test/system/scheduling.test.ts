/** What is promised of when tasks run and in which order, with an idle or a busy fleet. */
import { expect } from 'chai';
import { describeOnEither, describeOnOneMaster, outcomesOf } from '../helpers/system/system.ts';
import { eventually } from '../helpers/system/wait.ts';

const AT_ONCE_MS = 300;

describeOnEither('a system with nothing to do', ({ start }) => {
  it('starts the one task of an empty store at once on an idle executor', async () => {
    const system = await start();
    await system.executor({ id: 'a' });
    // A machine that is busy is slow now and then; whoever waits for a timer is so each time.
    let leastMs = Number.POSITIVE_INFINITY;
    for (let count = 0; count < 5 || (leastMs >= AT_ONCE_MS && count < 100); count++) {
      const taskId = await system.submit([[]]);
      const acceptedAt = Date.now();
      const { at } = await system.started(taskId);
      leastMs = Math.min(leastMs, at - acceptedAt);
      const task = await system.ended(taskId);
      expect(task).to.include({ state: 'succeeded', attempt: 1, executor_id: 'a' });
    }
    expect(leastMs).to.be.below(AT_ONCE_MS);
  });
});

describeOnOneMaster('scheduling', ({ start }) => {
  it('gives what belongs together to one executor, or to any where that takes too long', async () => {
    const system = await start();
    for (const id of ['a', 'b', 'c']) await system.executor({ id });
    const keepFor = (wait: number) =>
      system.client.types.put('work', { route: { rule: 'sticky', pointer: '/camera', wait } });
    // Longer than any of them may be slow to answer, or late to be free.
    await keepFor(60);
    const submit = (camera: string, steps: object[]) =>
      system.submit([], { params: { camera, attempts: [steps] } });
    const holderOf = async (taskId: string) => (await system.ended(taskId)).executor_id;
    const homes = new Map<string, string | null>();
    for (const camera of ['1', '2', '3', '4', '5']) {
      homes.set(camera, await holderOf(await submit(camera, [])));
    }
    expect(new Set(homes.values()).size, 'all go to one').to.be.above(1);
    for (const [camera, home] of homes) {
      expect(await holderOf(await submit(camera, []))).to.equal(home);
    }
    const blocking = await submit('1', [{ hold: true }]);
    await system.started(blocking);
    const second = await submit('1', []);
    const { waiting } = await system.task(second);
    expect(waiting?.message).to.include(`keeps it for executor ${homes.get('1')}`);
    await keepFor(0);
    expect(await holderOf(second)).not.to.equal(homes.get('1'));
    await system.client.cancel(blocking);
  });

  it('starts a task at its time, and neither before nor long after', async () => {
    const system = await start();
    await system.executor({ id: 'a' });
    const runAt = Date.now() + 2_000;
    const taskId = await system.submit([[]], { run_at: runAt });
    const muchLater = await system.submit([[]], { run_at: runAt + 3_600_000 });
    expect((await system.task(muchLater)).waiting).to.include({ reason: 'not_due' });
    const { at } = await system.started(taskId);
    expect(at - runAt).to.be.within(-20, 5_000);
  });

  it('waits after a failure, counts it, and gives up when the attempts are used up', async () => {
    const system = await start();
    await system.executor({ id: 'a' });
    await system.executor({ id: 'b' });
    const [twice, fatal] = await Promise.all([
      system.submit([[{ fail: { message: 'no luck' } }]], {
        retry: { max_attempts: 2, interval: -1 },
        notify_url: system.receiver.url('failed'),
      }),
      system.submit([[{ fail: { retryable: false } }]]),
    ]);
    const task = await system.ended(twice);
    expect(task).to.include({
      state: 'failed',
      failure_reason: 'attempts_exhausted',
      attempts_used: 2,
    });
    expect(task.error).to.include({ message: 'no luck' });
    const [end] = system.runs(twice, 'end');
    const [, again] = system.runs(twice);
    expect((again?.at ?? 0) - (end?.at ?? 0)).to.be.within(980, 6_000);
    const [delivery] = await system.delivered('failed');
    expect(delivery?.body).to.include({ code: 500, attempts: 2 });
    expect(await system.ended(fatal)).to.include({
      failure_reason: 'non_retryable',
      attempts_used: 1,
    });
  });

  it('ends a canceled task, waiting or running, and says so', async () => {
    const system = await start();
    await system.executor({ id: 'a' });
    const running = await system.submit([[{ hold: true }]]);
    await system.started(running);
    const waiting = await system.submit([[]], { notify_url: system.receiver.url('canceled') });
    await system.client.cancel(waiting);
    await system.client.cancel(running);
    expect(await system.ended(waiting)).to.include({ state: 'canceled', attempt: 0 });
    expect(outcomesOf(await system.ended(running))).to.deep.equal(['canceled']);
    const [delivery] = await system.delivered('canceled');
    expect(delivery?.body).to.include({ code: 499, state: 'canceled', attempts: 0 });
    await eventually('the executor is free', async () => {
      const task = await system.ended(await system.submit());
      return task.state === 'succeeded';
    });
    expect(system.runs(waiting)).to.deep.equal([]);
  });

  it('never lets a type without executors hold up another', async () => {
    const system = await start();
    await system.executor({ id: 'a' });
    const orphans = Array.from({ length: 50 }, () =>
      system.submit([[]], { type: 'nobody', priority: 'urgent' }),
    );
    const [orphan = ''] = await Promise.all(orphans);
    const task = await system.ended(await system.submit());
    expect(task).to.include({ state: 'succeeded', attempt: 1 });
    const waiting = await system.task(orphan);
    expect(waiting).to.include({ state: 'waiting', attempt: 0 });
    expect(waiting.waiting).to.include({ reason: 'no_executor' });
  });

  it('keeps reserved executors for the work they are reserved for', async () => {
    const system = await start();
    await system.executor({ id: 'reserved', labels: ['gpu'], reserve: ['vip'] });
    const common = await system.submit();
    const vip = await system.ended(await system.submit([[]], { labels: ['vip'] }));
    expect(vip).to.include({ state: 'succeeded', executor_id: 'reserved' });
    expect(await system.task(common)).to.include({ state: 'waiting', attempt: 0 });
    await system.executor({ id: 'common' });
    expect(await system.ended(common)).to.include({ executor_id: 'common' });
    const picky = await system.submit([[]], { requires: ['gpu'] });
    expect((await system.task(picky)).waiting).to.include({ reason: 'labels_unmatched' });
  });

  it('takes urgent tasks first, and the others in the order in which they were accepted', async () => {
    const system = await start();
    const executor = await system.executor({ id: 'a' });
    const first = await system.submit([[{ hold: true }]]);
    await system.started(first);
    const waiting: string[] = [];
    for (const priority of ['normal', 'normal', 'urgent', 'normal'] as const) {
      waiting.push(await system.submit([[]], { priority }));
    }
    executor.write(first);
    for (const taskId of waiting) await system.ended(taskId);
    const order = system.marks.filter(({ mark }) => mark === 'start').map(({ task }) => task);
    const [one, two, urgent, three] = waiting;
    expect(order).to.deep.equal([first, urgent, one, two, three]);
  });

  it('ends a running task at its deadline', async () => {
    const system = await start();
    await system.executor({ id: 'a' });
    const taskId = await system.submit([[{ hold: true }]], {
      deadline: Date.now() + 3_000,
      notify_url: system.receiver.url('deadline'),
    });
    const task = await system.ended(taskId);
    expect(task).to.include({ state: 'expired', failure_reason: 'deadline' });
    expect(outcomesOf(task)).to.deep.equal(['timed_out']);
    expect(system.runs(taskId, 'end')[0]).to.include({ aborted: 'deadline' });
    const [delivery] = await system.delivered('deadline');
    expect(delivery?.body).to.include({ code: 408, state: 'expired' });
  });
});
