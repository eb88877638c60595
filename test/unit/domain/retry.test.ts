/** What follows a failed attempt: how long it waits, and when there is no more trying. */
import { expect } from 'chai';
import {
  BEGIN,
  ended,
  finished,
  HOUR,
  offers,
  outcomes,
  Scheduler,
  SECOND,
} from '../../helpers/domain.ts';

/** Every attempt of task `a` fails as soon as it is offered, until it is not tried any more. */
function failForever(scheduler: Scheduler): number[] {
  const waitsMs: number[] = [];
  scheduler.connect('x');
  scheduler.submit({ id: 'a', retry: { maxAttempts: 5, interval: 3 } });
  while (scheduler.state.tasks.has('a')) {
    scheduler.accept('x');
    scheduler.fail('x');
    const task = scheduler.state.tasks.get('a');
    if (task === undefined) break;
    waitsMs.push(task.dueAt - scheduler.now);
    scheduler.pass(task.dueAt - scheduler.now);
  }
  return waitsMs;
}

describe('a failed attempt', () => {
  let scheduler: Scheduler;
  beforeEach(() => {
    scheduler = new Scheduler();
    scheduler.connect('x');
  });

  it('is recorded, and the task waits for its interval', () => {
    const task = scheduler.run('x', { retry: { maxAttempts: 10, interval: -60 } });
    const out = scheduler.fail('x', { error: { message: 'boom', name: 'Boom' } });
    expect(ended(out)[0]).to.deep.include({
      outcome: 'failed',
      attempt: 1,
      executorId: 'x',
      startedAt: BEGIN,
      endedAt: BEGIN,
      error: { message: 'boom', name: 'Boom' },
    });
    expect(task).to.include({ state: 'waiting', attemptsUsed: 1 });
    expect(task.executorId, 'of the newest attempt').to.equal('x');
    expect(task.dueAt - BEGIN).to.be.within(60_000, 66_000);
    expect(offers(out)).to.deep.equal([]);
    expect(offers(scheduler.pass(66 * SECOND))).to.deep.equal(['a -> x']);
  });

  it('waits 1, 2, then at most `interval` seconds, with up to 10 % on top', () => {
    const waitsMs = failForever(scheduler);
    const floors = [1000, 2000, 3000, 3000];
    expect(waitsMs).to.have.length(floors.length);
    for (const [i, floor] of floors.entries()) {
      expect(waitsMs[i]).to.be.within(floor, floor * 1.1);
    }
  });

  it('loses its priority: a head start larger than the wait would cancel the wait (A-20)', () => {
    const task = scheduler.run('x', { priority: 3600, retry: { maxAttempts: 10, interval: -60 } });
    expect(task.orderTime).to.equal(BEGIN - HOUR);
    scheduler.fail('x');
    expect(task.orderTime).to.equal(task.dueAt);
    expect(task.priority, 'it is kept for a retry by hand').to.equal(3600);
  });

  it('keeps its priority where it is to be tried again at once: there is no wait to cancel (A-18)', () => {
    const retry = { maxAttempts: 10, interval: [0, 60] };
    const task = scheduler.run('x', { priority: 3600, retry });
    scheduler.fail('x');
    expect(task.orderTime).to.equal(task.dueAt - HOUR);
    scheduler.pass(100);
    scheduler.accept('x');
    scheduler.fail('x');
    expect(task.orderTime, 'a minute is a wait').to.equal(task.dueAt);
    scheduler.pass(task.dueAt - scheduler.now);
    scheduler.accept('x');
    scheduler.fail('x', { retryAfterMs: 0 });
    expect(task.orderTime, 'also if the executor says so').to.equal(task.dueAt - HOUR);
  });

  it('waits as long as the executor says, if it says so', () => {
    scheduler.run('x');
    scheduler.fail('x', { retryAfterMs: 90 * SECOND });
    expect(scheduler.task('a').dueAt).to.equal(BEGIN + 90 * SECOND);
    scheduler.pass(90 * SECOND);
    scheduler.accept('x');
    scheduler.fail('x', { retryAfterMs: 0 });
    expect(scheduler.task('a').dueAt, 'at once').to.equal(scheduler.now + 100);
  });

  it('waits a little even where it is to be tried again at once: nothing may spin', () => {
    scheduler.run('x', { retry: { maxAttempts: 0, interval: [0] } });
    for (let attempt = 1; attempt < 5; attempt++) {
      scheduler.fail('x');
      expect(scheduler.task('a').dueAt).to.equal(scheduler.now + 100);
      scheduler.pass(100);
      scheduler.accept('x');
    }
  });

  it('ends the task when the executor says that trying again is of no use', () => {
    scheduler.run('x');
    const out = scheduler.fail('x', { retryable: false, error: { message: 'no such file' } });
    expect(finished(out)[0]).to.deep.include({
      state: 'failed',
      failureReason: 'non_retryable',
      attemptsUsed: 1,
      error: { message: 'no such file' },
    });
    expect(outcomes(out)).to.deep.equal(['failed']);
  });

  it('ends the task when its input is not there, and uses up no attempt', () => {
    scheduler.run('x');
    const out = scheduler.fail('x', { retryable: false, isInputUnavailable: true });
    expect(finished(out)[0]).to.deep.include({
      state: 'failed',
      failureReason: 'input_unavailable',
      attemptsUsed: 0,
      lastOutcome: 'failed',
    });
    expect(outcomes(out)).to.deep.equal(['failed']);
  });

  it('ends the task when the attempts are used up', () => {
    const task = scheduler.run('x', { retry: { maxAttempts: 2, interval: 1 } });
    expect(finished(scheduler.fail('x'))).to.deep.equal([]);
    scheduler.pass(2 * SECOND);
    scheduler.accept('x');
    const out = scheduler.fail('x');
    expect(finished(out)).to.deep.equal([task]);
    expect(task).to.include({
      state: 'failed',
      failureReason: 'attempts_exhausted',
      attempt: 2,
      attemptsUsed: 2,
      finishedAt: scheduler.now,
    });
    expect(scheduler.state.tasks.size).to.equal(0);
  });

  it('is tried until success when max_attempts is 0', () => {
    scheduler.run('x', { retry: { maxAttempts: 0, interval: 1 } });
    for (let i = 0; i < 100; i++) {
      scheduler.fail('x');
      scheduler.pass(2 * SECOND);
      scheduler.accept('x');
    }
    expect(scheduler.task('a')).to.include({ state: 'running', attemptsUsed: 100, attempt: 101 });
    expect(finished(scheduler.end('x'))[0]).to.include({ state: 'succeeded', error: null });
  });

  it('keeps the checkpoint for the next one', () => {
    scheduler.run('x', { retry: { maxAttempts: 10, interval: 1 } });
    scheduler.progress('x', { percent: 40, checkpoint: '{"at":40}' });
    scheduler.fail('x');
    scheduler.pass(2 * SECOND);
    expect(scheduler.task('a')).to.include({ checkpoint: '{"at":40}', progressPercent: null });
  });

  it('counts as failed when the handler gave up though nobody told it to', () => {
    scheduler.run('x');
    expect(outcomes(scheduler.end('x', { outcome: 'canceled' }))).to.deep.equal(['failed']);
    expect(scheduler.task('a').attemptsUsed).to.equal(1);
  });

  it('that the executor gives back costs nothing, and goes to another', () => {
    scheduler.connect('y');
    scheduler.run('x');
    const out = scheduler.end('x', { outcome: 'returned' });
    expect(outcomes(out)).to.deep.equal(['returned']);
    expect(offers(out), 'not to the same again for the cool-down').to.deep.equal(['a -> y']);
    expect(scheduler.task('a')).to.include({ attemptsUsed: 0, crashCount: 0 });
  });

  it('that is given back more than three times unasked is a failure', () => {
    scheduler.run('x', { retry: { maxAttempts: 2, interval: -1 } });
    const giveBack = () => {
      const out = scheduler.end('x', { outcome: 'returned' });
      scheduler.pass(10 * SECOND);
      scheduler.accept('x');
      return outcomes(out);
    };
    for (let i = 0; i < 3; i++) expect(giveBack()).to.deep.equal(['returned']);
    scheduler.progress('x', { checkpoint: '{"at":1}' });
    for (let i = 0; i < 3; i++)
      expect(giveBack(), 'it had got further').to.deep.equal(['returned']);
    expect(giveBack()).to.deep.equal(['failed']);
    const out = scheduler.end('x', { outcome: 'returned' });
    expect(finished(out)[0]).to.include({ state: 'failed', failureReason: 'attempts_exhausted' });
    const message = 'given back 5 times, and nobody had asked for it';
    expect(finished(out)[0]?.error).to.deep.equal({ message });
  });

  it('that an executor gives back which is about to leave costs nothing, however often', () => {
    scheduler.run('x');
    for (let i = 0; i < 10; i++) {
      scheduler.beat('x', undefined, true);
      expect(outcomes(scheduler.end('x', { outcome: 'returned' }))).to.deep.equal(['returned']);
      scheduler.connect('x', { sessionId: `x/${i + 2}` });
      while (scheduler.task('a').state !== 'offered') scheduler.pass(SECOND);
      scheduler.accept('x');
    }
    expect(scheduler.task('a')).to.include({ attempt: 11, attemptsUsed: 0 });
  });

  it('waits the same in every run with the same seed', () => {
    const again = new Scheduler();
    expect(failForever(scheduler)).to.deep.equal(failForever(again));
  });
});

describe('crash budget', () => {
  const budget = 3;
  let scheduler: Scheduler;
  beforeEach(() => {
    scheduler = new Scheduler({ crashBudget: budget });
  });

  /** An executor takes the task and dies; each has its own name. */
  function crash(n: number) {
    const id = `crash-${n}`;
    scheduler.connect(id);
    scheduler.accept(id);
    return scheduler.disconnect(id, true);
  }

  it('ends a task that kills its executors, without using up its attempts', () => {
    scheduler.submit({});
    const task = scheduler.task('a');
    expect(finished(crash(1))).to.deep.equal([]);
    expect(finished(crash(2))).to.deep.equal([]);
    expect(task).to.include({ state: 'waiting', crashCount: 2, attemptsUsed: 0 });
    const out = crash(3);
    expect(outcomes(out)).to.deep.equal(['lost']);
    expect(finished(out)).to.deep.equal([task]);
    expect(task).to.include({ state: 'failed', failureReason: 'crash_budget', attemptsUsed: 0 });
  });

  it('gives the task back to the queue at once, in its old place', () => {
    scheduler.submit({ id: 'a' });
    scheduler.now += 1;
    scheduler.submit({ id: 'b' });
    crash(1);
    expect(offers(scheduler.connect('y'))).to.deep.equal(['a -> y']);
  });

  it('begins anew with a new checkpoint', () => {
    scheduler.submit({});
    crash(1);
    crash(2);
    scheduler.connect('x');
    scheduler.accept('x');
    scheduler.progress('x', { checkpoint: '1' });
    expect(scheduler.task('a').crashCount).to.equal(0);
    scheduler.disconnect('x', true);
    expect(scheduler.task('a')).to.include({ state: 'waiting', crashCount: 1 });
  });

  it('does not begin anew with the same checkpoint again', () => {
    scheduler.submit({});
    scheduler.connect('x');
    scheduler.accept('x');
    scheduler.progress('x', { checkpoint: '1' });
    scheduler.disconnect('x', true);
    scheduler.connect('y');
    scheduler.accept('y');
    scheduler.progress('y', { checkpoint: '1' });
    expect(scheduler.task('a').crashCount).to.equal(1);
  });

  it('is not touched by an executor that died before it accepted', () => {
    scheduler.submit({});
    for (let i = 0; i < 5; i++) {
      scheduler.connect(`x${i}`);
      expect(outcomes(scheduler.disconnect(`x${i}`, true))).to.deep.equal(['assign_timeout']);
    }
    expect(scheduler.task('a')).to.include({ state: 'waiting', crashCount: 0, attemptsUsed: 0 });
  });
});
