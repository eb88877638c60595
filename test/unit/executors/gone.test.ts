/** Executors that are forgotten on request, and what is remembered of those that are here. */
import { expect } from 'chai';
import { elderKey } from '../../../master/domain/model/executor.ts';
import { seenExecutor, seenExecutors } from '../../../master/domain/views/executors.ts';
import { MINUTE, Scheduler } from '../../helpers/domain.ts';

describe('an executor that is gone', () => {
  let scheduler: Scheduler;
  const remove = (executorId = 'x') => scheduler.command({ type: 'removeRequested', executorId });
  const drain = () => {
    const drained = { type: 'drainRequested', executorId: 'x', timeoutMs: null } as const;
    return scheduler.command({ ...drained, reason: 'old', by: 'ann' });
  };
  beforeEach(() => {
    scheduler = new Scheduler();
    scheduler.connect('x');
  });

  it('is forgotten with all that was decided about it', () => {
    drain();
    scheduler.disconnect('x', true);
    expect(scheduler.state.executorRecords.get('x')).to.include({ drainReason: 'old' });
    const out = remove();
    expect(out.reply).to.deep.equal({ kind: 'done' });
    expect(out.changes).to.deep.equal([
      { op: 'remove', table: 'executor', key: 'x', expect: 'any' },
    ]);
    expect(remove().reply).to.deep.include({ kind: 'unknown' });
    scheduler.connect('x');
    expect(scheduler.executor('x').drainRequested).to.equal(false);
  });

  it('is not while it is connected, or its lease holds an attempt', () => {
    scheduler.run('x');
    expect(remove().reply).to.deep.include({ kind: 'conflict' });
    scheduler.disconnect('x');
    const message = 'until its lease ends it may still run attempt 1 of a';
    expect(remove().reply).to.deep.equal({ kind: 'conflict', message });
    scheduler.connect('x', { incarnation: 'two', sessionId: 'x/2' });
    scheduler.disconnect('x', true);
    expect(remove().reply, 'of the process before').to.deep.equal({ kind: 'conflict', message });
    scheduler.pass(MINUTE);
    expect(remove().reply).to.deep.include({ kind: 'unknown' });
  });

  it('comes back with a new session where its connection was all that was gone', () => {
    scheduler.disconnect('x');
    const { effects } = remove();
    expect(effects).to.deep.include({ type: 'closeSession', sessionId: 'x/1', reason: 'silent' });
    expect(scheduler.state.executors.size).to.equal(0);
  });
});

describe('an executor as it is seen', () => {
  let scheduler: Scheduler;
  const seen = () => seenExecutors(scheduler.state);
  beforeEach(() => {
    scheduler = new Scheduler();
    scheduler.connect('x', { version: '1.4' });
  });

  it('is found by its id, and by what comes after a key', () => {
    scheduler.connect('y');
    const after = seenExecutors(scheduler.state, elderKey('x', seen()[0]!.executor.incarnation));
    expect(after.map(({ executor }) => executor.id)).to.deep.equal(['y']);
    expect(seenExecutor(scheduler.state, 'x')?.executor.id).to.equal('x');
    expect(seenExecutor(scheduler.state, 'z')).to.equal(null);
  });

  it('has what it is at, from the offer to the end, and the last ten that have ended', () => {
    scheduler.submit({ id: 'first' });
    expect(seen()[0]?.current).to.deep.include({ taskId: 'first', state: 'offered', attempt: 1 });
    scheduler.accept('x');
    expect(seen()[0]?.current).to.deep.include({ state: 'running', since: scheduler.now });
    scheduler.fail('x', { retryable: false });
    expect(seen()[0]?.current).to.equal(null);
    for (let n = 1; n <= 10; n++) {
      scheduler.run('x', { id: `t${n}` });
      expect(seen()[0]?.executor.past).to.have.length(n);
      scheduler.end('x');
    }
    const { past, version } = seen()[0]!.executor;
    expect(version).to.equal('1.4');
    expect(past.map(({ taskId, outcome }) => `${taskId} ${outcome}`)).to.deep.equal(
      [10, 9, 8, 7, 6, 5, 4, 3, 2, 1].map((n) => `t${n} succeeded`),
    );
  });

  it('has had nothing that it has refused, and keeps the rest when its process is another', () => {
    scheduler.run('x', { id: 'a' });
    scheduler.fail('x', { retryable: false });
    scheduler.submit({ id: 'b' });
    scheduler.reject('x');
    scheduler.connect('x', { incarnation: 'two', sessionId: 'x/2', version: '1.5' });
    expect(seen()).to.have.length(1);
    const { executor } = seen()[0]!;
    expect(executor.version).to.equal('1.5');
    expect(executor.past.map(({ taskId, outcome }) => [taskId, outcome])).to.deep.equal([
      ['a', 'failed'],
    ]);
  });

  it('is told apart from the process that has taken over its id, and from what is over', () => {
    scheduler.run('x', { id: 'a' });
    scheduler.connect('x', { incarnation: 'two', sessionId: 'x/2' });
    const shown = () => seen().map(({ isSuperseded, current }) => [isSuperseded, current?.state]);
    expect(shown()).to.deep.equal([
      [false, undefined],
      [true, 'running'],
    ]);
  });
});
