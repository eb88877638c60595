/** Emptying an executor or the whole master without losing work. */
import { expect } from 'chai';
import { taskUpdated } from '../../../master/domain/changes.ts';
import type { Output } from '../../../master/domain/effects.ts';
import { stateOf } from '../../../master/domain/model/executor.ts';
import {
  BEGIN,
  finished,
  MINUTE,
  offers,
  outcomes,
  Scheduler,
  SECOND,
  sent,
  stops,
} from '../../helpers/domain.ts';
import { recordOf } from '../../helpers/task.ts';

/** What is written of an executor of which nothing is to be kept. */
const forgotten = (key: string) => ({ op: 'remove', table: 'executor', key, expect: 'any' });

describe('drain', () => {
  let scheduler: Scheduler;
  const drain = (timeoutMs: number | null = null, executorId = 'x') =>
    scheduler.command({ type: 'drainRequested', executorId, timeoutMs, reason: null, by: null });
  const resume = (executorId = 'x') => scheduler.command({ type: 'resumeRequested', executorId });
  beforeEach(() => {
    scheduler = new Scheduler();
    scheduler.connect('x');
  });

  it('tells the executor and offers it nothing more', () => {
    const out = drain();
    expect(out.reply).to.deep.equal({ kind: 'done', lasting: true });
    const record = recordOf('x', { drainedAt: BEGIN });
    expect(out.changes).to.deep.equal([{ op: 'put', table: 'executor', key: 'x', row: record }]);
    expect(sent(out, 'drain').map(({ draining }) => draining)).to.deep.equal([true]);
    expect(stateOf(scheduler.executor('x'))).to.equal('draining');
    expect(offers(scheduler.submit({}))).to.deep.equal([]);
    expect(offers(scheduler.pass(MINUTE))).to.deep.equal([]);
  });

  it('of an id that was made up is forgotten an hour after its process was lost', () => {
    scheduler.connect('pod', { lasting: false });
    drain(null, 'pod');
    scheduler.silence('pod');
    scheduler.pass(59 * MINUTE);
    expect(scheduler.state.executors.has('pod')).to.equal(false);
    expect(scheduler.state.executorRecords.size, 'it may come back').to.equal(1);
    const out = scheduler.pass(2 * MINUTE);
    expect(out.changes).to.deep.equal([forgotten('pod')]);
    expect(scheduler.state.executorRecords.size).to.equal(0);
  });

  it('of an id that was made up is forgotten an hour after a restart, unless it has come', () => {
    const drained = (executorId: string, lasting: boolean) =>
      recordOf(executorId, { lasting, drainedAt: BEGIN });
    const executors = [drained('a', false), drained('b', false), drained('lasting', true)];
    ({ scheduler } = Scheduler.restored({ executors }));
    scheduler.connect('a', { lasting: false });
    scheduler.pass(61 * MINUTE);
    expect([...scheduler.state.executorRecords.keys()]).to.deep.equal(['a', 'lasting']);
    expect(stateOf(scheduler.executor('a'))).to.equal('draining');
  });

  it('lets the running attempt end in its own time when no timeout is given', () => {
    scheduler.run('x');
    drain();
    expect(stops(scheduler.pass(60 * MINUTE))).to.deep.equal([]);
    expect(finished(scheduler.end('x'))[0]).to.include({ state: 'succeeded' });
    expect(offers(scheduler.submit({ id: 'b' }))).to.deep.equal([]);
  });

  it('with a timeout returns the attempt at no cost', () => {
    scheduler.run('x');
    drain(MINUTE);
    expect(stops(scheduler.pass(MINUTE - 1))).to.deep.equal([]);
    expect(stops(scheduler.pass(1))).to.deep.equal(['a#1 drain -> x']);
    scheduler.connect('y');
    const out = scheduler.end('x', { outcome: 'returned' });
    expect(outcomes(out)).to.deep.equal(['returned']);
    expect(scheduler.task('a')).to.include({ attemptsUsed: 0, crashCount: 0 });
    expect(offers(out)).to.deep.equal(['a -> y']);
  });

  it('returns it at no cost too when it then reports a failure, or nothing in the grace', () => {
    for (const silent of [false, true]) {
      scheduler = new Scheduler();
      scheduler.connect('x');
      scheduler.run('x');
      drain(0);
      const told = scheduler.pass(SECOND);
      expect(stops(told)).to.deep.equal(['a#1 drain -> x']);
      const out = silent ? scheduler.pass(10 * SECOND) : scheduler.fail('x');
      expect(outcomes(out)).to.deep.equal(['returned']);
      expect(scheduler.task('a').attemptsUsed).to.equal(0);
    }
  });

  it('is over with resume, also for an attempt whose drain timeout is still to come', () => {
    scheduler.run('x');
    drain(MINUTE);
    const out = resume();
    expect(sent(out, 'drain').map(({ draining }) => draining)).to.deep.equal([false]);
    expect(stops(scheduler.pass(2 * MINUTE))).to.deep.equal([]);
    scheduler.end('x');
    expect(offers(scheduler.submit({ id: 'b' }))).to.deep.equal(['b -> x']);
  });

  it('takes what waits as soon as it is resumed', () => {
    drain();
    scheduler.submit({});
    expect(offers(resume())).to.deep.equal(['a -> x']);
  });

  it('survives a reconnect and is said again', () => {
    drain();
    const out = scheduler.connect('x', { sessionId: 'x/2' });
    expect(sent(out, 'drain')).to.have.length(1);
    expect(offers(scheduler.submit({}))).to.deep.equal([]);
  });

  it('lasts through a lost lease and a new process of the same id', () => {
    drain();
    scheduler.disconnect('x');
    scheduler.pass(MINUTE);
    expect(scheduler.state.executors.has('x')).to.equal(false);
    expect(sent(scheduler.connect('x', { sessionId: 'x/2' }), 'drain')).to.have.length(1);
    scheduler.disconnect('x', true);
    expect(sent(scheduler.connect('x', { sessionId: 'x/3' }), 'drain')).to.have.length(1);
    expect(offers(scheduler.submit({}))).to.deep.equal([]);
    expect(offers(resume())).to.deep.equal(['a -> x']);
  });

  it('lasts through a restart of the master, its time limit too', () => {
    const task = { ...scheduler.run('x') };
    const record = recordOf('x', { drainedAt: BEGIN, drainDeadlineAt: BEGIN + MINUTE });
    ({ scheduler } = Scheduler.restored({ active: [task], executors: [record] }));
    const running = [{ taskId: 'a', attempt: 1, state: 'running' as const }];
    const out = scheduler.connect('x', { sessionId: 'x/2', running });
    expect(sent(out, 'drain').map(({ draining }) => draining)).to.deep.equal([true]);
    expect(stops(scheduler.pass(MINUTE - 1))).to.deep.equal([]);
    expect(stops(scheduler.pass(1))).to.deep.equal(['a#1 drain -> x']);
  });

  it('of an executor that has gone can be changed and ended', () => {
    drain();
    scheduler.disconnect('x', true);
    expect(drain(MINUTE).reply).to.include({ kind: 'done' });
    expect(scheduler.state.executorRecords.get('x')).to.include({
      drainedAt: BEGIN,
      drainDeadlineAt: BEGIN + MINUTE,
    });
    const out = resume();
    expect(out.reply).to.include({ kind: 'done' });
    expect(out.changes).to.deep.equal([forgotten('x')]);
    expect(resume().reply, 'nothing is left of it').to.include({ kind: 'unknown' });
    scheduler.connect('x', { sessionId: 'x/2' });
    expect(offers(scheduler.submit({}))).to.deep.equal(['a -> x']);
  });

  it('of an id that was made up for one process ends when that process has left', () => {
    scheduler.connect('y', { lasting: false });
    expect(drain(null, 'y').reply).to.deep.equal({ kind: 'done', lasting: false });
    scheduler.disconnect('y');
    scheduler.resume('y');
    expect(stateOf(scheduler.executor('y'))).to.equal('draining');
    const out = scheduler.disconnect('y', true);
    expect(out.changes).to.deep.equal([forgotten('y')]);
  });

  it('of a lasting id is not ended by a process that says it has made the id up', () => {
    drain(null, 'x');
    scheduler.disconnect('x', true);
    scheduler.connect('x', { sessionId: 'x/2', incarnation: 'two', lasting: false });
    expect(scheduler.disconnect('x', true).changes).to.deep.equal([]);
    scheduler.connect('x', { sessionId: 'x/3', incarnation: 'three' });
    expect(offers(scheduler.submit({}))).to.deep.equal([]);
  });

  it('of an executor that is not known is 404', () => {
    expect(drain(null, 'nobody').reply).to.include({ kind: 'unknown' });
    expect(resume('nobody').reply).to.include({ kind: 'unknown' });
  });

  it('can be the executor`s own wish, said in its heartbeats', () => {
    scheduler.beat('x', [], true);
    expect(stateOf(scheduler.executor('x'))).to.equal('draining');
    expect(offers(scheduler.submit({}))).to.deep.equal([]);
    expect(offers(scheduler.beat('x', [], false))).to.deep.equal(['a -> x']);
  });

  for (const again of ['takes the wish back', 'comes back'] as const) {
    it(`gives no task ever faster to an executor that gives it back, and ${again}`, () => {
      const end = { outcome: 'returned', result: null } as const;
      const attemptCount = { of: 0 };
      const note = (out: Output) => (attemptCount.of += offers(out).length);
      note(scheduler.submit({}));
      for (let round = 0; round < 200; round++) {
        note(scheduler.pass(50));
        if (scheduler.task('a').state !== 'offered') continue;
        scheduler.beat('x', [], true);
        note(scheduler.end('x', end));
        if (again === 'takes the wish back') note(scheduler.beat('x', [], false));
        else note(scheduler.connect('x', { sessionId: `x/again ${round}` }));
      }
      expect(attemptCount.of).to.be.within(5, 10);
    });
  }
});

describe('a master that stops', () => {
  it('accepts and offers nothing more, tells the executors, and writes what it knows', () => {
    const scheduler = new Scheduler();
    scheduler.connect('x');
    scheduler.connect('y');
    scheduler.run('x');
    scheduler.submit({ id: 'later', runAt: scheduler.now + SECOND });
    const out = scheduler.send({ type: 'drainStarted' });
    expect(sent(out, 'drain').map(({ sessionId }) => sessionId)).to.deep.equal(['x/1', 'y/1']);
    expect(out.changes).to.deep.equal([taskUpdated(scheduler.task('a'))]);
    expect(scheduler.submit({ id: 'b' }).outcomes[0]).to.include({ kind: 'closed' });
    expect(offers(scheduler.pass(MINUTE))).to.deep.equal([]);
  });

  it('still takes the results of what runs', () => {
    const scheduler = new Scheduler();
    scheduler.connect('x');
    scheduler.run('x');
    scheduler.send({ type: 'drainStarted' });
    expect(finished(scheduler.end('x'))[0]).to.include({ state: 'succeeded' });
  });
});
