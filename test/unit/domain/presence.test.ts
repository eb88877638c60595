/** Executors come, stay and go: what their lease, their hello and their heartbeats decide. */
import { expect } from 'chai';
import { stateOf } from '../../../master/domain/model/executor.ts';
import type { ReportedAttempt } from '../../../master/domain/events.ts';
import {
  closed,
  ended,
  finished,
  MINUTE,
  observed,
  offers,
  outcomes,
  Scheduler,
  SECOND,
  stops,
} from '../../helpers/domain.ts';

const running: readonly ReportedAttempt[] = [{ taskId: 'a', attempt: 1, state: 'running' }];
const done: readonly ReportedAttempt[] = [{ taskId: 'a', attempt: 1, state: 'finished' }];

describe('lease', () => {
  let scheduler: Scheduler;
  beforeEach(() => {
    scheduler = new Scheduler();
    scheduler.connect('x');
  });

  it('ends 15 s after the executor was last heard of: what it ran is lost', () => {
    scheduler.run('x');
    scheduler.now += SECOND;
    scheduler.progress('x', { percent: 1 });
    scheduler.silence('x');
    expect(outcomes(scheduler.pass(15 * SECOND - 1))).to.deep.equal([]);
    const out = scheduler.pass(1);
    expect(outcomes(out)).to.deep.equal(['lost']);
    expect(ended(out)[0]?.error?.message).to.equal('executor x: its lease ended');
    expect(closed(out)).to.deep.equal(['x/1 silent']);
    expect(observed(out)).to.include('executor_lost');
    expect(scheduler.task('a')).to.include({ state: 'waiting', attemptsUsed: 0, crashCount: 0 });
    expect(scheduler.state.executors.size).to.equal(0);
  });

  it('lasts as long as heartbeats come', () => {
    scheduler.run('x');
    expect(outcomes(scheduler.pass(60 * MINUTE))).to.deep.equal([]);
  });

  it('of an executor that was only offered the task costs the task nothing', () => {
    scheduler.submit({ assignTimeoutMs: MINUTE });
    scheduler.silence('x');
    expect(outcomes(scheduler.pass(15 * SECOND))).to.deep.equal(['assign_timeout']);
    expect(scheduler.task('a')).to.include({ crashCount: 0, attemptsUsed: 0 });
  });

  it('goes on while the socket is gone; the executor gets nothing new meanwhile', () => {
    scheduler.run('x');
    scheduler.end('x');
    scheduler.disconnect('x');
    expect(stateOf(scheduler.executor('x'))).to.equal('connecting');
    expect(offers(scheduler.submit({ id: 'b' }))).to.deep.equal([]);
    expect(offers(scheduler.resume('x'))).to.deep.equal(['b -> x']);
  });

  it('lets an executor resume its session and go on as if nothing had been', () => {
    const task = scheduler.run('x');
    scheduler.disconnect('x');
    scheduler.pass(14 * SECOND);
    scheduler.resume('x');
    expect(outcomes(scheduler.pass(MINUTE))).to.deep.equal([]);
    expect(finished(scheduler.end('x'))).to.deep.equal([task]);
    expect(task.attempt).to.equal(1);
  });

  it('is given up by an executor that says goodbye', () => {
    scheduler.run('x');
    expect(outcomes(scheduler.disconnect('x', true))).to.deep.equal(['lost']);
  });

  it('is not ended by a master that stood still: what was not read is nobody`s fault (I15)', () => {
    scheduler.run('x');
    scheduler.silence('x');
    scheduler.now += 60 * MINUTE;
    const hiddenMs = 60 * MINUTE;
    expect(outcomes(scheduler.send({ type: 'ticked', hiddenMs }))).to.deep.equal([]);
    expect(outcomes(scheduler.pass(15 * SECOND - 1)), 'a new lease begins').to.deep.equal([]);
    expect(outcomes(scheduler.pass(1))).to.deep.equal(['lost']);
  });

  it('of others does not keep a master that stood still from offering what is due', () => {
    scheduler.submit({ runAt: scheduler.now + SECOND });
    scheduler.now += 60 * MINUTE;
    expect(offers(scheduler.send({ type: 'ticked', hiddenMs: 60 * MINUTE }))).to.deep.equal([
      'a -> x',
    ]);
  });

  it('is not mixed up with that of a newer connection: an old socket that closes is nothing', () => {
    scheduler.connect('x', { sessionId: 'x/2' });
    scheduler.send({
      type: 'executorDisconnected',
      executorId: 'x',
      sessionId: 'x/1',
      left: true,
    });
    expect(offers(scheduler.submit({}))).to.deep.equal(['a -> x']);
  });
});

describe('hello', () => {
  let scheduler: Scheduler;
  beforeEach(() => {
    scheduler = new Scheduler();
    scheduler.connect('x');
  });
  const back = (reported: readonly ReportedAttempt[] = []) =>
    scheduler.connect('x', { sessionId: 'x/2', running: reported });

  it('of an id that is connected already ends the older session', () => {
    const out = back();
    expect(closed(out), 'it is the same process').to.deep.equal(['x/1 reattach']);
    expect(observed(out)).to.deep.equal(['executor_joined']);
  });

  it('that mentions the running attempt leaves it where it is', () => {
    scheduler.run('x');
    scheduler.disconnect('x');
    const out = back(running);
    expect(out.changes).to.deep.equal([]);
    expect(stops(out)).to.deep.equal([]);
    expect(finished(scheduler.end('x'))[0]).to.include({ state: 'succeeded', attempt: 1 });
  });

  it('that does not mention it tells that it is lost', () => {
    scheduler.run('x');
    const out = back();
    expect(outcomes(out), 'it did not die of it').to.deep.equal(['lost_contact']);
    expect(ended(out)[0]?.error?.message).to.equal('executor x: it came back without it');
    expect(offers(out)).to.deep.equal(['a -> x']);
    expect(scheduler.task('a')).to.include({ attempt: 2, crashCount: 0 });
  });

  it('that does not mention an offer gives it back at once and at no cost', () => {
    scheduler.submit({});
    const out = back();
    expect(outcomes(out)).to.deep.equal(['returned']);
    expect(offers(out)).to.deep.equal(['a -> x']);
    expect(scheduler.task('a')).to.include({ attempt: 2, crashCount: 0, attemptsUsed: 0 });
  });

  it('that says an offered attempt runs is as good as its acceptance', () => {
    scheduler.submit({ executionTimeoutMs: MINUTE });
    const out = back(running);
    expect(observed(out)).to.include('task_started');
    expect(scheduler.task('a')).to.include({ state: 'running', attempt: 1 });
    expect(stops(scheduler.pass(MINUTE))).to.deep.equal(['a#1 execution_timeout -> x']);
  });

  it('with a finished attempt keeps the executor for it until the result is here', () => {
    scheduler.run('x');
    expect(outcomes(back(done))).to.deep.equal([]);
    scheduler.submit({ id: 'b' });
    const out = scheduler.end('x');
    expect(finished(out)[0]).to.include({ id: 'a', state: 'succeeded' });
    expect(offers(out)).to.deep.equal(['b -> x']);
  });

  it('with a finished attempt that was decided long ago leaves the executor free', () => {
    scheduler.submit({ id: 'b' });
    scheduler.accept('x');
    scheduler.end('x');
    expect(stops(back(done))).to.deep.equal([]);
    expect(offers(scheduler.submit({ id: 'c' }))).to.deep.equal(['c -> x']);
  });

  it('with an attempt that is not its own any more has it stopped first', () => {
    scheduler.run('x');
    scheduler.disconnect('x');
    scheduler.pass(15 * SECOND);
    scheduler.connect('y');
    expect(scheduler.task('a').attempt).to.equal(2);
    const out = back(running);
    expect(stops(out)).to.deep.equal(['a#1 stale_attempt -> x']);
    expect(observed(out)).to.include('stale_attempt');
    expect(offers(scheduler.submit({ id: 'b' })), 'it is still occupied').to.deep.equal([]);
    const report = scheduler.end('x', { taskId: 'a', attempt: 1, outcome: 'canceled' });
    expect(outcomes(report)).to.deep.equal([]);
    expect(offers(report)).to.deep.equal(['b -> x']);
  });

  it('and heartbeats tell what is shown of an executor', () => {
    scheduler.now += 5;
    const process = { host: 'other', pid: 77, sdk: 'new' };
    scheduler.connect('x', { sessionId: 'x/2', ...process });
    scheduler.beat('x');
    const shown = { ...process, connectedAt: scheduler.now, loopLagMs: 1, rssBytes: 1 };
    expect(scheduler.executor('x')).to.include(shown);
  });

  it('may change what the executor can run', () => {
    scheduler.submit({ type: 'cut' });
    expect(offers(back())).to.deep.equal([]);
    const out = scheduler.connect('x', { sessionId: 'x/3', types: ['cut'] });
    expect(offers(out)).to.deep.equal(['a -> x']);
    expect(offers(scheduler.submit({ id: 'b', type: 'echo' }))).to.deep.equal([]);
    expect(scheduler.state.pools.size, 'the pool it left is gone').to.equal(1);
  });
});

describe('heartbeat', () => {
  let scheduler: Scheduler;
  beforeEach(() => {
    scheduler = new Scheduler();
    scheduler.connect('x');
  });

  it('without the running attempt, twice in a row, tells that it is lost', () => {
    scheduler.run('x');
    expect(outcomes(scheduler.beat('x', []))).to.deep.equal([]);
    const out = scheduler.beat('x', []);
    expect(outcomes(out)).to.deep.equal(['lost_contact']);
    expect(offers(out), 'and the executor is free').to.deep.equal(['a -> x']);
  });

  it('without it once may be a matter of timing', () => {
    scheduler.run('x');
    for (let i = 0; i < 5; i++) {
      expect(outcomes(scheduler.beat('x', []))).to.deep.equal([]);
      expect(outcomes(scheduler.beat('x'))).to.deep.equal([]);
    }
  });

  it('counts again from none after a reconnect', () => {
    scheduler.run('x');
    scheduler.beat('x', []);
    scheduler.connect('x', { sessionId: 'x/2', running });
    expect(outcomes(scheduler.beat('x', []))).to.deep.equal([]);
  });

  it('without an offer that is on its way says nothing about it', () => {
    scheduler.submit({});
    for (let i = 0; i < 5; i++) expect(outcomes(scheduler.beat('x', []))).to.deep.equal([]);
    expect(scheduler.task('a').state).to.equal('offered');
  });

  it('with a finished attempt keeps it until its result is here', () => {
    scheduler.run('x');
    for (let i = 0; i < 5; i++) expect(outcomes(scheduler.beat('x', done))).to.deep.equal([]);
    expect(finished(scheduler.end('x'))).to.have.length(1);
  });

  it('of a session that is over is ignored', () => {
    scheduler.run('x');
    scheduler.connect('x', { sessionId: 'x/2', running });
    for (let i = 0; i < 3; i++) {
      const out = scheduler.send({
        type: 'heartbeatReceived',
        executorId: 'x',
        sessionId: 'x/1',
        draining: true,
        running: [],
        loopLagMs: 1,
        rssBytes: 1,
      });
      expect(outcomes(out)).to.deep.equal([]);
    }
    expect(stateOf(scheduler.executor('x'))).to.equal('busy');
  });
});

describe('readiness', () => {
  let scheduler: Scheduler;
  beforeEach(() => {
    scheduler = new Scheduler();
  });

  it('decides whether an executor is offered anything, from its hello on', () => {
    scheduler.connect('x', { ready: { ok: false, reason: 'no space left', diskBytes: null } });
    expect(offers(scheduler.submit({}))).to.deep.equal([]);
    expect(offers(scheduler.beat('x')), 'it has not said anything else').to.deep.equal([]);
    expect(offers(scheduler.ready('x', true))).to.deep.equal(['a -> x']);
  });

  it('that ends lets go on what runs, and holds back what follows', () => {
    scheduler.connect('x');
    scheduler.run('x');
    const out = scheduler.ready('x', 'no space left');
    expect([outcomes(out), stops(out)]).to.deep.equal([[], []]);
    expect(finished(scheduler.end('x'))).to.have.length(1);
    expect(offers(scheduler.submit({ id: 'b' }))).to.deep.equal([]);
    scheduler.connect('y');
    expect(scheduler.task('b').executorId).to.equal('y');
  });

  it('is told of when it changes, and not with every heartbeat', () => {
    scheduler.connect('x');
    const told = (is: true | string) => observed(scheduler.ready('x', is));
    expect(told('no space left')).to.deep.equal(['executor_readiness']);
    expect(told('no space left')).to.deep.equal([]);
    expect(told('no ffmpeg')).to.deep.equal(['executor_readiness']);
    expect(told(true)).to.deep.equal(['executor_readiness']);
    expect(told(true)).to.deep.equal([]);
  });

  it('outlasts a broken connection, unless the next one says otherwise', () => {
    scheduler.connect('x');
    scheduler.ready('x', 'no space left');
    scheduler.disconnect('x');
    scheduler.resume('x');
    expect(offers(scheduler.submit({}))).to.deep.equal([]);
    scheduler.disconnect('x');
    expect(offers(scheduler.connect('x', { sessionId: 'x/2' }))).to.deep.equal(['a -> x']);
  });

  it('does not end a drain', () => {
    scheduler.connect('x');
    scheduler.ready('x', 'no space left');
    scheduler.command({
      type: 'drainRequested',
      executorId: 'x',
      timeoutMs: null,
      reason: null,
      by: null,
    });
    scheduler.ready('x', true);
    expect(offers(scheduler.submit({}))).to.deep.equal([]);
  });
});
