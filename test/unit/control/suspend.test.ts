/** A task is suspended, whatever becomes of it, and resumed to its place. */
import { expect } from 'chai';
import {
  BEGIN,
  finished,
  HOUR,
  inserted,
  MINUTE,
  offers,
  outcomes,
  Scheduler,
  SECOND,
  stops,
} from '../../helpers/domain.ts';
import { changing } from '../../helpers/task.ts';
import type { Task } from '../../../master/domain/model/task.ts';

describe('suspending a task', () => {
  let scheduler: Scheduler;
  beforeEach(() => {
    scheduler = new Scheduler();
  });
  const ask = (type: 'suspendRequested' | 'taskResumeRequested' | 'cancelRequested', task?: Task) =>
    scheduler.command({ type, taskId: 'a', ...(task && { task }) });
  const suspend = (task?: Task) => ask('suspendRequested', task);
  const resume = (task: Task) => ask('taskResumeRequested', task);
  const submit = (fields = {}): Task => inserted(scheduler.submit({ id: 'a', ...fields }))[0]!;

  it('sets aside one that waits: it is a row, and no executor is offered it', () => {
    const task = submit({ startTimeoutMs: MINUTE });
    expect(suspend().reply).to.deep.equal({ kind: 'done' });
    expect(task).to.include({ state: 'suspended', startBy: null });
    expect(scheduler.state.tasks.size).to.equal(0);
    expect(scheduler.state).to.include({ waitingCount: 0, suspendedCount: 1 });
    expect(offers(scheduler.connect('x'))).to.deep.equal([]);
    expect(finished(scheduler.pass(HOUR))).to.deep.equal([]);
    expect(suspend(task).reply).to.include({ kind: 'conflict' });
  });

  it('puts it back before what came later, and its start timeout begins anew', () => {
    const task = submit({ startTimeoutMs: MINUTE, priority: 5 });
    suspend();
    scheduler.pass(HOUR);
    scheduler.submit({ id: 'b', priority: 5 });
    expect(resume(task).reply).to.deep.equal({ kind: 'done' });
    expect(task).to.include({ state: 'waiting', orderTime: BEGIN - 5 * SECOND });
    expect(task.startBy).to.equal(scheduler.now + MINUTE);
    expect(task).to.include({ cancelReason: null, cancelRequestedAt: null });
    expect(offers(scheduler.connect('x'))).to.deep.equal(['a -> x']);
    expect(resume(task).reply).to.include({ kind: 'conflict' });
  });

  it('tells one that runs to end, and keeps its checkpoint and its attempts', () => {
    scheduler.connect('x');
    const task = scheduler.run('x', { id: 'a', retry: { maxAttempts: 1, interval: 0 } });
    scheduler.progress('x', { checkpoint: '"70"' });
    expect(stops(suspend())).to.deep.equal(['a#1 suspended -> x']);
    expect(outcomes(scheduler.fail('x'))).to.deep.equal(['canceled']);
    expect(task).to.include({ state: 'suspended', checkpoint: '"70"', attemptsUsed: 0 });
    expect(offers(resume(task))).to.deep.equal(['a -> x']);
    expect(task).to.include({ attempt: 2, attemptsUsed: 0, crashCount: 0 });
  });

  it('ends an attempt that is not reported by a fence, and one that is lost costs nothing', () => {
    scheduler.connect('x');
    const task = scheduler.run('x', { id: 'a' });
    suspend();
    expect(outcomes(scheduler.pass(11 * SECOND))).to.deep.equal(['canceled']);
    expect(task.state).to.equal('suspended');
    // Who was fenced has nothing else until it reports.
    expect(offers(resume(task))).to.deep.equal([]);
    expect(offers(scheduler.end('x', { taskId: 'a', attempt: 1 }))).to.deep.equal(['a -> x']);
    scheduler.accept('x');
    suspend();
    scheduler.silence('x');
    expect(outcomes(scheduler.pass(MINUTE))).to.deep.equal(['canceled']);
    expect(task).to.include({ state: 'suspended', crashCount: 0, contactCount: 0 });
  });

  it('lets a success win that was on its way', () => {
    scheduler.connect('x');
    scheduler.run('x', { id: 'a' });
    suspend();
    expect(finished(scheduler.end('x')).map(({ state }) => state)).to.deep.equal(['succeeded']);
  });

  it('is outranked by a cancel and a deadline, and outranks what time does to an attempt', () => {
    scheduler.connect('x');
    const task = scheduler.run('x', { id: 'a', executionTimeoutMs: SECOND });
    scheduler.pass(2 * SECOND);
    expect(task.cancelReason).to.equal('execution_timeout');
    expect(stops(suspend())).to.deep.equal(['a#1 suspended -> x']);
    expect(stops(ask('cancelRequested'))).to.deep.equal(['a#1 canceled -> x']);
    expect(suspend().reply).to.include({ kind: 'conflict' });
    expect(finished(scheduler.fail('x')).map(({ state }) => state)).to.deep.equal(['canceled']);
  });

  it('is taken back while the attempt still ends: the task waits again', () => {
    scheduler.connect('x');
    const task = scheduler.run('x', { id: 'a' });
    suspend();
    expect(resume(task).reply).to.deep.equal({ kind: 'done' });
    const out = scheduler.end('x', { outcome: 'canceled' });
    expect(outcomes(out)).to.deep.equal(['returned']);
    expect(offers(out)).to.deep.equal(['a -> x']);
  });

  it('does not stop the deadline, and a cancel ends it', () => {
    const deadlineAt = BEGIN + HOUR;
    const task = submit({ deadlineAt });
    suspend();
    scheduler.pass(HOUR + MINUTE);
    expect(scheduler.state.overdue.isNeeded || scheduler.state.loading.has('overdue')).to.equal(
      true,
    );
    const out = scheduler.send({ type: 'overdueLoaded', tasks: [task], next: null });
    expect(finished(out).map(({ state }) => state)).to.deep.equal(['expired']);
    scheduler.submit({ id: 'a' });
    const other = scheduler.task('a');
    suspend();
    expect(finished(ask('cancelRequested', other)).map(({ state }) => state)).to.deep.equal([
      'canceled',
    ]);
    expect(scheduler.state).to.include({ waitingCount: 0, suspendedCount: 0 });
  });

  it('changes while it is set aside, and stays so', () => {
    const task = submit();
    suspend();
    const out = scheduler.command({
      ...changing('a', { requires: ['gpu'], priority: 60, runAt: 0, startTimeoutMs: MINUTE }),
      task,
    });
    expect(out.reply).to.include({ kind: 'done' });
    expect(task).to.include({ state: 'suspended', priority: 60, startBy: null });
    scheduler.connect('x');
    expect(offers(resume(task))).to.deep.equal([]);
    expect(offers(scheduler.connect('g', { labels: ['gpu'] }))).to.deep.equal(['a -> g']);
  });

  it('keeps a lane for what is suspended when a master begins', () => {
    const lanes = [{ lane: 2, count: 0, heldCount: 0, suspendedCount: 3, dueAt: null }];
    const { scheduler: restored } = Scheduler.restored({ lanes });
    expect(restored.state).to.include({ suspendedCount: 3, waitingCount: 0 });
    expect(restored.state.overdue.isNeeded).to.equal(true);
    expect(restored.state.emptyLanes.size).to.equal(0);
  });
});
