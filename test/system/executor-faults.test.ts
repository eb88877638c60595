/** Executors that die, stand still, refuse, answer late or never end: no task is lost or run on. */
import { expect } from 'chai';
import { EXECUTOR } from '../helpers/system/executors.ts';
import { describeOnOneMaster, outcomesOf } from '../helpers/system/system.ts';
import { eventually } from '../helpers/system/wait.ts';

describeOnOneMaster('an executor', ({ start }) => {
  it('that stood still past its lease cannot change what another has taken over', async () => {
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
    expect(outcomesOf(task), 'it came back: it did not die').to.deep.equal([
      'lost_contact',
      'succeeded',
    ]);
    await eventually('the callback has come', () => system.receiver.at('stood').length > 0);
    expect(system.receiver.at('stood')).to.have.length(1);
    expect(system.runs(taskId).map(({ executor }) => executor)).to.deep.equal(['a', 'b']);
  });

  it('that rejects a task costs it nothing and is not asked again at once', async () => {
    const system = await start();
    await system.executor({ id: 'a', accepts: 'never' });
    const taskId = await system.submit();
    const waiting = await eventually('the task waits again', async () => {
      const task = await system.task(taskId);
      return task.state === 'waiting' && task.attempt > 0 && task;
    });
    expect(waiting.waiting).to.include({ reason: 'cooling_down' });
    await system.executor({ id: 'b' });
    const task = await system.ended(taskId);
    expect(task).to.include({ state: 'succeeded', executor_id: 'b', attempts_used: 0 });
    // On a busy machine it is asked again before the other one is there.
    expect(outcomesOf(task).filter((outcome) => outcome !== 'rejected')).to.deep.equal([
      'succeeded',
    ]);
    expect(task.timeline[0]?.error).to.include({ message: 'not for me' });
  });

  it('that runs past the execution timeout, or stalls, is told to end, at the cost of an attempt', async () => {
    const system = await start();
    await system.executor({ id: 'a' });
    await system.executor({ id: 'b' });
    await system.executor({ id: 'c' });
    const retry = { interval: -0.1 };
    const [slow, stalled, moving] = await Promise.all([
      system.submit([[{ hold: true }], []], { execution_timeout: 0.5, retry }),
      system.submit([[{ hold: true }], []], { stall_timeout: 0.5, retry }),
      system.submit([[{ work: 3_000 }]], { stall_timeout: 2, retry }),
    ]);
    for (const [taskId, aborted] of [
      [slow, 'execution_timeout'],
      [stalled, 'stalled'],
    ] as const) {
      const task = await system.ended(taskId);
      expect(task).to.include({ state: 'succeeded', attempt: 2, attempts_used: 1 });
      expect(outcomesOf(task)).to.deep.equal(['timed_out', 'succeeded']);
      expect(system.runs(taskId, 'end')[0]).to.include({ aborted });
    }
    expect(await system.ended(moving)).to.include({ state: 'succeeded', attempt: 1 });
  });

  it('is not killed for ever by one poisonous task, and other tasks go on', async () => {
    const system = await start();
    const poison = await system.submit([[{ crash: true }]], {
      notify_url: system.receiver.url('poison'),
    });
    const isOver = system.ended(poison).then(() => null);
    for (;;) {
      // As a supervisor would: again, under the same id.
      const exit = await Promise.race([isOver, system.spawnExecutor({ id: 'a' }).exited]);
      if (exit === null) break;
      expect(exit).to.include({ signal: 'SIGKILL' });
    }
    const task = await system.task(poison);
    expect(task).to.include({
      state: 'failed',
      failure_reason: 'crash_budget',
      attempts_used: 0,
    });
    const outcomes = outcomesOf(task);
    const died = outcomes.filter((outcome) => outcome === 'lost');
    expect(died).to.have.length(3);
    // On a busy machine one may answer too late, or not be heard of for so long that it ends itself.
    const cut = outcomes.filter((outcome) => outcome === 'lost_contact');
    expect(['lost', 'lost_contact', 'assign_timeout', 'returned']).to.include.members(outcomes);
    expect(system.runs(poison)).to.have.length(died.length + cut.length);
    expect(await system.ended(await system.submit())).to.include({ state: 'succeeded' });
    const [delivery] = await system.delivered('poison');
    expect(delivery?.body).to.include({ code: 501, state: 'failed' });
  });

  it('hands the checkpoint to the next attempt, and what got further is no poison', async () => {
    const system = await start();
    const steps = [1, 2, 3, 4].map((at) => [
      { checkpoint: 'x'.repeat(at) },
      { hold: true } as const,
    ]);
    const taskId = await system.submit([...steps, []]);
    for (const at of [1, 2, 3, 4]) {
      const victim = system.spawnExecutor({ id: 'a', script: EXECUTOR });
      await eventually('the checkpoint is stored', async () => {
        const { checkpoint_bytes } = await system.task(taskId);
        return checkpoint_bytes === at + '""'.length;
      });
      await victim.end('SIGKILL');
    }
    await system.executor({ id: 'a' });
    const task = await system.ended(taskId);
    expect(task).to.include({ state: 'succeeded', attempt: 5, attempts_used: 0 });
    expect(system.runs(taskId).map(({ checkpoint }) => checkpoint)).to.deep.equal([
      undefined,
      'x',
      'xx',
      'xxx',
      'xxxx',
    ]);
  });

  it('that stood still past its lease ends by itself what it was running', async () => {
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

  it('that stands still past its lease has nothing at work beside the next attempt', async () => {
    const system = await start();
    // With the files of the SDK as they are shipped: what watches over its children is a process of its own.
    const stopped = await system.executor({ id: 'a', script: EXECUTOR });
    const taskId = await system.submit([[{ tick: true }]]);
    const ticks = (attempt: number) => {
      return system.runs(taskId, 'tick').filter((mark) => mark.attempt === attempt);
    };
    await eventually('what it has started is at work', () => ticks(1).length > 0);
    stopped.signal('SIGSTOP');
    await system.executor({ id: 'b' });
    await eventually('so is that of the next attempt', () => ticks(2).length > 5);
    const next = await system.started(taskId, 2);
    expect(ticks(1).at(-1)?.at).to.be.below(next.at);

    stopped.signal('SIGCONT');
    const end = await eventually('its handler has ended', () => system.runs(taskId, 'end')[0]);
    expect(end, 'of its program, or of the lease').to.include({ executor: 'a', how: 'failed' });
    await system.executorIs('a', 'idle');
    expect(await system.task(taskId)).to.include({ state: 'running', attempt: 2 });
  });

  it('whose handler blocks its thread for longer than the lease keeps its task', async () => {
    const system = await start();
    await system.executor({ id: 'a' });
    await system.executor({ id: 'b' });
    const taskId = await system.submit([[{ block: 7_000 }]]);
    const task = await system.ended(taskId);
    expect(task).to.include({ state: 'succeeded', attempt: 1 });
    expect(system.runs(taskId)).to.have.length(1);
  });

  it('that does not answer holds up neither the task nor the others', async () => {
    const system = await start();
    const other = await system.executor({ id: 'b' });
    const held = await system.submit([[{ hold: true }]]);
    await system.started(held);
    await system.executor({ id: 'a', accepts: 'silent' });
    const taskId = await system.submit([[]], { assign_timeout: 3 });
    await eventually('a was asked', () => system.runs(taskId, 'offered').length === 1);
    other.write(held);
    const quick = await system.ended(await system.submit());
    expect(quick).to.include({ state: 'succeeded', executor_id: 'b', attempt: 1 });
    const task = await system.ended(taskId);
    expect(task).to.include({ state: 'succeeded', executor_id: 'b', attempts_used: 0 });
    expect(outcomesOf(task)).to.deep.equal(['assign_timeout', 'succeeded']);
  });

  it('that answers too late does not begin what another runs', async () => {
    const system = await start();
    const late = await system.executor({ id: 'a', accepts: 'late' });
    const taskId = await system.submit([[{ hold: true }]], { assign_timeout: 1 });
    await eventually('a was asked', () => system.runs(taskId, 'offered').length === 1);
    const other = await system.executor({ id: 'b' });
    await system.started(taskId, 2);
    late.write(`accept:${taskId}`);
    // It is free for other work once its late answer has been dealt with.
    const next = await system.submit([[]]);
    await eventually('a was asked for the next', () => system.runs(next, 'offered').length === 1);
    late.write(`accept:${next}`);
    expect(await system.ended(next)).to.include({ state: 'succeeded', executor_id: 'a' });
    other.write(taskId);
    const task = await system.ended(taskId);
    expect(outcomesOf(task)).to.deep.equal(['assign_timeout', 'succeeded']);
    expect(system.runs(taskId).map(({ executor }) => executor)).to.deep.equal(['b']);
  });

  it('whose handler does not end when told ends with its process, and another goes on', async () => {
    const system = await start({ SODA_CANCEL_GRACE: '1' });
    const deaf = await system.executor({ id: 'a' });
    const retry = { interval: -0.1 };
    const taskId = await system.submit([[{ ignore: true }], []], {
      execution_timeout: 0.3,
      retry,
    });
    await system.started(taskId);
    await system.executor({ id: 'b' });
    expect(await deaf.exited).to.include({ signal: 'SIGKILL' });
    const task = await system.ended(taskId);
    expect(task).to.include({ state: 'succeeded', executor_id: 'b', attempts_used: 1 });
    expect(outcomesOf(task)).to.deep.equal(['timed_out', 'succeeded']);
  });

  it('keeps its id and its task while it lives, whoever else says that it has that id', async () => {
    const system = await start();
    const old = await system.executor({ id: 'a' });
    const taskId = await system.submit([[{ hold: true }]]);
    await system.started(taskId);
    const young = system.spawnExecutor({ id: 'a' });
    await young.said('why it is not let in', ({ fields }) => fields['event'] === 'unreachable');
    old.write(taskId);
    const task = await system.ended(taskId);
    expect(task).to.include({ state: 'succeeded', attempts_used: 0, attempt: 1 });
  });

  it('that is told to stop gives its task back at no cost, and exits with 0', async () => {
    const system = await start();
    const leaving = await system.executor({ id: 'a', drainTimeoutMs: 0 });
    const taskId = await system.submit([[{ checkpoint: 'half' }, { hold: true }], []]);
    await system.started(taskId);
    await system.executor({ id: 'b' });
    expect(await leaving.end('SIGTERM')).to.deep.equal({ code: 0, signal: null });
    const task = await system.ended(taskId);
    expect(task).to.include({ state: 'succeeded', executor_id: 'b', attempts_used: 0 });
    expect(outcomesOf(task)).to.deep.equal(['returned', 'succeeded']);
    expect(task.result).to.include({ checkpoint: 'half' });
  });
});
