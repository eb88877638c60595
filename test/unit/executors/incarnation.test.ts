/** Several processes under one executor id: what one runs is nobody else's. */
import { expect } from 'chai';
import {
  closed,
  ended,
  offers,
  outcomes,
  Scheduler,
  SECOND,
  written,
} from '../../helpers/domain.ts';

const LEASE_MS = 15 * SECOND;
const first = { incarnation: 'one', sessionId: 'x/1', bootId: 'host 1', leaseMs: LEASE_MS };
const second = { incarnation: 'two', sessionId: 'x/2', bootId: 'host 1', leaseMs: LEASE_MS };

describe('another process under the same executor id', () => {
  let scheduler: Scheduler;
  beforeEach(() => {
    scheduler = new Scheduler({ leaseMs: LEASE_MS });
    scheduler.connect('x', first);
    scheduler.run('x');
    scheduler.disconnect('x');
    scheduler.pass(5 * SECOND);
  });

  it('ends nothing that the first one runs, and gets other work', () => {
    const out = scheduler.connect('x', second);
    expect(outcomes(out)).to.deep.equal([]);
    expect(closed(out)).to.deep.equal(['x/1 superseded']);
    expect(scheduler.task('a').state).to.equal('running');
    expect(offers(scheduler.submit({ id: 'b' }))).to.deep.equal(['b -> x']);
    scheduler.accept('x');
    expect(scheduler.task('b').incarnation).to.equal('two');
    const rest = scheduler.pass(LEASE_MS - 5 * SECOND);
    expect(ended(rest)[0]).to.include({ outcome: 'lost', incarnation: 'one' });
    expect(scheduler.task('b').state).to.equal('running');
  });

  it('cannot say that it runs it, nor how it ended', () => {
    const running = [{ taskId: 'a', attempt: 1, state: 'running' as const }];
    const out = scheduler.connect('x', { ...second, running });
    expect(outcomes(out)).to.deep.equal([]);
    expect(written(out)).to.deep.equal(['put leftover']);
    const lie = scheduler.end('x', { taskId: 'a', attempt: 1, result: '"PWNED"' });
    expect(written(lie)).to.deep.equal(['remove leftover']);
    expect(scheduler.task('a')).to.include({ state: 'running', incarnation: 'one' });
  });

  it('gives the attempt back to the first one when that returns within its lease', () => {
    scheduler.connect('x', second);
    scheduler.disconnect('x');
    const running = [{ taskId: 'a', attempt: 1, state: 'running' as const }];
    const out = scheduler.connect('x', { ...first, sessionId: 'x/3', running });
    expect(outcomes(out)).to.deep.equal([]);
    expect(outcomes(scheduler.pass(2 * LEASE_MS)), 'its lease goes on').to.deep.equal([]);
    scheduler.end('x', { taskId: 'a', attempt: 1 });
    expect(scheduler.state.tasks.has('a')).to.equal(false);
  });

  it('that saw it dead on its own host ends the attempt at once', () => {
    const out = scheduler.connect('x', { ...second, died: ['one'] });
    expect(ended(out)[0]).to.include({ outcome: 'lost', incarnation: 'one' });
    expect(offers(out)).to.deep.equal(['a -> x']);
  });

  it('is not believed that it saw it dead from another host, or from nowhere', () => {
    for (const bootId of ['host 2', '']) {
      const out = scheduler.connect('x', { ...second, bootId, died: ['one'] });
      expect(outcomes(out), bootId).to.deep.equal([]);
    }
  });

  it('is not believed about the processes of other ids', () => {
    const out = scheduler.connect('y', { ...second, sessionId: 'y/1', died: ['one'] });
    expect(outcomes(out)).to.deep.equal([]);
  });

  it('drains where the first one was drained', () => {
    scheduler.command({
      type: 'drainRequested',
      executorId: 'x',
      timeoutMs: null,
      reason: null,
      by: null,
    });
    scheduler.connect('x', second);
    expect(offers(scheduler.submit({ id: 'b' }))).to.deep.equal([]);
  });
});

describe('after a restart of the master', () => {
  it('only the process that has the attempt gets it back', () => {
    const scheduler = new Scheduler({ leaseMs: LEASE_MS });
    scheduler.connect('x', first);
    scheduler.run('x');
    const task = { ...scheduler.task('a') };
    const { scheduler: next } = Scheduler.restored({ active: [task] }, { leaseMs: LEASE_MS });
    const running = [{ taskId: 'a', attempt: 1, state: 'running' as const }];
    expect(outcomes(next.connect('x', { ...second, running }))).to.deep.equal([]);
    expect(next.state.elders.size).to.equal(1);
    next.disconnect('x');
    next.connect('x', { ...first, running });
    expect(next.executor('x').occupation).to.include({ taskId: 'a', accepted: true });
    expect([...next.state.elders.keys()], 'it says that it runs it').to.deep.equal(['x two']);
  });

  it('another one that saw it end is believed, whatever came between', () => {
    const scheduler = new Scheduler({ leaseMs: LEASE_MS });
    scheduler.connect('x', first);
    scheduler.run('x');
    const task = { ...scheduler.task('a') };
    const { scheduler: next } = Scheduler.restored({ active: [task] }, { leaseMs: LEASE_MS });
    for (const other of [
      { ...second, bootId: '', died: ['one'] },
      { ...second, died: ['three'] },
    ]) {
      expect(outcomes(next.connect('x', other))).to.deep.equal([]);
    }
    const out = next.connect('x', { ...second, died: ['one'] });
    expect(ended(out)[0]).to.include({ outcome: 'lost', incarnation: 'one' });
    expect(next.task('a').crashCount, 'of the time without a master').to.equal(0);
    expect(next.state.elders.size).to.equal(0);
    expect(offers(next.pass(SECOND)).concat(offers(out))).to.deep.equal(['a -> x']);
  });

  it('whoever claims a row that is older than incarnations gets it', () => {
    const scheduler = new Scheduler();
    scheduler.connect('x', first);
    scheduler.run('x');
    const task = { ...scheduler.task('a'), incarnation: null };
    const { scheduler: next } = Scheduler.restored({ active: [task] });
    next.connect('x', { ...first, running: [{ taskId: 'a', attempt: 1, state: 'running' }] });
    expect(next.task('a').incarnation).to.equal('one');
    next.end('x');
    expect(next.state.tasks.size).to.equal(0);
  });
});

describe('an attempt without its proof', () => {
  let scheduler: Scheduler;
  beforeEach(() => {
    scheduler = new Scheduler();
    scheduler.connect('x', { ...first, usesMac: true });
    scheduler.run('x');
  });
  const unproven = {
    sessionId: 'x/1',
    frameSeq: 9,
    taskId: 'a',
    attempt: 1,
    isUnproven: true,
  } as const;

  it('is stale, in whatever is said about it', () => {
    for (const event of [
      { type: 'attemptAccepted' },
      { type: 'attemptRejected', code: 400, message: '' },
      { type: 'progressReported', percent: 5, state: undefined, checkpoint: '1', detail: '{}' },
      { type: 'eventTold', name: 'note', n: 1, data: undefined },
      {
        type: 'attemptEnded',
        outcome: 'succeeded',
        result: '"PWNED"',
        error: null,
        retryable: true,
        retryAfterMs: null,
      },
    ] as const) {
      const out = scheduler.send({ ...event, executorId: 'x', ...unproven });
      expect(out.changes, event.type).to.deep.equal([]);
      expect(out.observed, event.type).to.deep.include({
        event: 'stale_attempt',
        taskId: 'a',
        attempt: 1,
        executorId: 'x',
      });
    }
    expect(scheduler.task('a')).to.include({ state: 'running', progressPercent: null });
  });

  it('does not count as held', () => {
    const running = [{ taskId: 'a', attempt: 1, state: 'running', isUnproven: true }] as const;
    scheduler.beat('x', running);
    expect(outcomes(scheduler.beat('x', running))).to.deep.equal(['lost_contact']);
  });
});

describe('a frame that can never be taken', () => {
  it('fails its attempt, once and for good', () => {
    const scheduler = new Scheduler();
    scheduler.connect('x', first);
    scheduler.run('x');
    const refused = (about: { taskId: string; attempt: number } | null) =>
      scheduler.send({
        type: 'frameRefused',
        executorId: 'x',
        sessionId: 'x/1',
        about,
        problem: 'percent: too big',
      });
    expect(outcomes(refused({ taskId: 'other', attempt: 1 }))).to.deep.equal([]);
    const out = refused({ taskId: 'a', attempt: 1 });
    expect(ended(out)[0]).to.include({ outcome: 'failed' });
    expect(ended(out)[0]?.error?.message).to.equal(
      'A frame of attempt 1 of a was refused: percent: too big',
    );
    expect(scheduler.state.tasks.size, 'not retried').to.equal(0);
    expect(refused(null).changes).to.deep.equal([]);
  });
});
