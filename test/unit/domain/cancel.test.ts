/** Ending a task or its attempt on request: the wish is durable, the report or the grace ends it. */
import { expect } from 'chai';
import {
  ended,
  finished,
  inserted,
  MINUTE,
  offers,
  outcomes,
  Scheduler,
  SECOND,
  stops,
  written,
} from '../../helpers/domain.ts';

describe('cancel', () => {
  let scheduler: Scheduler;
  const cancel = (taskId = 'a') => scheduler.command({ type: 'cancelRequested', taskId });
  beforeEach(() => {
    scheduler = new Scheduler();
  });

  it('ends a waiting task at once', () => {
    scheduler.submit({});
    const out = cancel();
    expect(out.reply).to.deep.equal({ kind: 'done' });
    expect(finished(out)[0]).to.include({ id: 'a', state: 'canceled', failureReason: null });
    expect(scheduler.state.waitingCount).to.equal(0);
    expect(offers(scheduler.connect('x'))).to.deep.equal([]);
  });

  it('ends a task that is not due yet', () => {
    scheduler.submit({ runAt: scheduler.now + MINUTE });
    expect(finished(cancel())).to.have.length(1);
    scheduler.connect('x');
    expect(offers(scheduler.pass(2 * MINUTE))).to.deep.equal([]);
  });

  it('reads the row of a task that is not in memory, and answers then', () => {
    scheduler = new Scheduler({ laneWindowCount: 1 });
    const [, row] = inserted(scheduler.submit({ id: 'a' }, { id: 'b' }));
    const asked = cancel('b');
    expect(asked.reply).to.equal(null);
    expect(asked.loads.map(({ type }) => type)).to.deep.equal(['task']);
    const out = scheduler.command({ type: 'cancelRequested', taskId: 'b', task: row ?? null });
    expect(out.reply).to.deep.equal({ kind: 'done' });
    expect(finished(out)[0]).to.include({ id: 'b', state: 'canceled' });
    expect(scheduler.state.waitingCount).to.equal(1);
  });

  it('of an unknown task is 404, of an ended one 409', () => {
    expect(
      scheduler.command({ type: 'cancelRequested', taskId: 'a', task: null }).reply,
    ).to.include({ kind: 'unknown' });
    scheduler.connect('x');
    const task = scheduler.run('x');
    scheduler.end('x');
    const out = scheduler.command({ type: 'cancelRequested', taskId: 'a', task });
    expect(out.reply).to.deep.equal({ kind: 'conflict', message: 'the task is succeeded already' });
    expect(out.changes).to.deep.equal([]);
  });

  it('withdraws an offer: whatever the executor answers, the task is canceled', () => {
    scheduler.connect('x');
    scheduler.submit({});
    expect(stops(cancel())).to.deep.equal(['a#1 canceled -> x']);
    expect(scheduler.task('a').state).to.equal('offered');
    const out = scheduler.reject('x');
    expect(finished(out)[0]).to.include({ state: 'canceled' });
  });

  it('ends an offer that stays unanswered with its assign timeout', () => {
    scheduler.connect('x');
    scheduler.submit({});
    cancel();
    expect(finished(scheduler.pass(5 * SECOND))[0]).to.include({ state: 'canceled' });
  });

  describe('of a running task', () => {
    beforeEach(() => {
      scheduler.connect('x');
      scheduler.run('x');
    });

    it('writes the wish, answers, and tells the executor; the task still runs', () => {
      const out = cancel();
      expect(out.reply).to.deep.equal({ kind: 'done' });
      expect(written(out)).to.deep.equal(['set task']);
      expect(stops(out)).to.deep.equal(['a#1 canceled -> x']);
      expect(scheduler.task('a')).to.include({ state: 'running', cancelReason: 'canceled' });
    });

    it('is done when the executor reports', () => {
      cancel();
      const out = scheduler.end('x', { outcome: 'canceled' });
      expect(outcomes(out)).to.deep.equal(['canceled']);
      expect(finished(out)[0]).to.include({ state: 'canceled', attemptsUsed: 0 });
    });

    it('stands, even when the attempt then fails in a way that could be retried', () => {
      cancel();
      expect(finished(scheduler.fail('x'))[0]).to.include({ state: 'canceled' });
    });

    it('loses against a result that was on its way', () => {
      cancel();
      expect(finished(scheduler.end('x'))[0]).to.include({ state: 'succeeded', result: '"done"' });
    });

    it('asked for twice is one wish', () => {
      cancel();
      const again = cancel();
      expect(again.reply).to.deep.equal({ kind: 'done' });
      expect(again.changes).to.deep.equal([]);
      expect(stops(again)).to.deep.equal([]);
    });

    it('replaces a milder reason: a timed out attempt is not retried then', () => {
      scheduler.end('x');
      scheduler.run('x', { id: 'b', executionTimeoutMs: SECOND });
      scheduler.pass(SECOND);
      expect(stops(cancel('b'))).to.deep.equal(['b#1 canceled -> x']);
      expect(finished(scheduler.end('x', { outcome: 'canceled' }))[0]).to.include({
        state: 'canceled',
      });
    });

    it('is not replaced by a reason that comes later', () => {
      scheduler.end('x');
      scheduler.run('x', { id: 'b', executionTimeoutMs: SECOND });
      cancel('b');
      expect(stops(scheduler.pass(SECOND))).to.deep.equal([]);
      expect(scheduler.task('b').cancelReason).to.equal('canceled');
    });

    it('fences the attempt after the grace of 10 s', () => {
      cancel();
      expect(finished(scheduler.pass(10 * SECOND - 1))).to.deep.equal([]);
      const out = scheduler.pass(1);
      expect(finished(out)[0]).to.include({ state: 'canceled' });
      expect(ended(out)[0]?.error?.message).to.match(/did not report within the grace/);
    });

    it('gives the executor nothing new before it reported, also after the grace', () => {
      cancel();
      scheduler.pass(10 * SECOND);
      expect(offers(scheduler.submit({ id: 'b' }))).to.deep.equal([]);
      expect(offers(scheduler.pass(MINUTE))).to.deep.equal([]);
      const out = scheduler.end('x', { outcome: 'canceled', taskId: 'a', attempt: 1 });
      expect(outcomes(out), 'it was decided already').to.deep.equal([]);
      expect(offers(out)).to.deep.equal(['b -> x']);
    });

    it('waits for the lease of an executor that is not connected: no overlap (P5)', () => {
      scheduler.disconnect('x');
      expect(stops(cancel()), 'it is in the session until it resumes').to.have.length(1);
      expect(finished(scheduler.pass(15 * SECOND - 1))).to.deep.equal([]);
      expect(finished(scheduler.pass(1))[0]).to.include({ state: 'canceled' });
    });

    it('is said again to an executor that comes back without having heard it', () => {
      scheduler.disconnect('x');
      cancel();
      scheduler.pass(5 * SECOND);
      const running = [{ taskId: 'a', attempt: 1, state: 'running' as const }];
      const out = scheduler.connect('x', { sessionId: 'x/2', running });
      expect(stops(out)).to.deep.equal(['a#1 canceled -> x']);
    });
  });
});
