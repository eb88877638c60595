/** Running a task again by hand after it has ended: the same id, fresh attempts. */
import { expect } from 'chai';
import { taskReopened, taskUpdated } from '../../../master/domain/changes.ts';
import type { Notification, Task } from '../../../master/domain/model/task.ts';
import {
  BEGIN,
  callbacks,
  finished,
  HOUR,
  MINUTE,
  offers,
  Scheduler,
} from '../../helpers/domain.ts';

describe('retry of a terminal task', () => {
  let scheduler: Scheduler;
  let failed: Task;
  let notification: Notification;
  beforeEach(() => {
    scheduler = new Scheduler();
    scheduler.connect('x');
    failed = scheduler.run('x', {
      notifyUrl: 'https://example.org/',
      priority: 60,
      deadlineAt: BEGIN + HOUR,
    });
    scheduler.progress('x', { percent: 70, checkpoint: '"70"' });
    const [callback] = callbacks(scheduler.fail('x', { retryable: false }));
    if (callback === undefined) throw new Error('no callback');
    notification = callback;
    scheduler.now += MINUTE;
  });
  const retry = (task: Task | null = { ...failed }, stored: Notification | null = notification) =>
    scheduler.command({ type: 'retryRequested', taskId: 'a', task, notification: stored });

  it('reads the row first', () => {
    const out = scheduler.command({ type: 'retryRequested', taskId: 'a' });
    expect(out.reply).to.equal(null);
    expect(out.loads.map(({ type }) => type)).to.deep.equal(['task']);
  });

  it('reopens the row and offers the task with fresh attempts and the next number', () => {
    const out = retry();
    expect(out.reply).to.deep.equal({ kind: 'done' });
    const task = scheduler.task('a');
    expect(out.changes).to.deep.equal([
      ...taskReopened(task, { finishedAt: failed.finishedAt ?? 0, retention: 'normal' }),
      taskUpdated(task),
    ]);
    expect(offers(out)).to.deep.equal(['a -> x']);
    expect(task).to.include({ attempt: 2, attemptsUsed: 0, crashCount: 0, seq: failed.seq });
    expect(task).to.include({ finishedAt: null, failureReason: null, result: null });
  });

  it('keeps the checkpoint and the priority', () => {
    retry();
    expect(scheduler.task('a')).to.include({
      checkpoint: '"70"',
      orderTime: scheduler.now - MINUTE,
    });
  });

  it('ends once more, with a callback of its own', () => {
    retry();
    scheduler.accept('x');
    const out = scheduler.end('x');
    expect(finished(out)[0]).to.include({ state: 'succeeded', error: null });
    expect(callbacks(out)[0]).to.include({ finishedAt: scheduler.now, tries: 0 });
  });

  it('drops the callback of the earlier run, also one that is in flight', () => {
    retry();
    expect(scheduler.notified(notification, 'failed').changes).to.deep.equal([]);
    scheduler = new Scheduler();
    scheduler.connect('x');
    const waiting = { ...notification, nextTryAt: scheduler.now + MINUTE };
    scheduler.send({ type: 'notificationsLoaded', notifications: [waiting], complete: true });
    retry({ ...failed }, { ...waiting });
    expect(callbacks(scheduler.pass(5 * MINUTE))).to.deep.equal([]);
  });

  it('keeps the callback of the earlier run counted until the notifier is done with it', () => {
    const counts = () => [scheduler.state.notifying.size, scheduler.state.notifying.bytes];
    const before = counts();
    retry();
    expect(counts()).to.deep.equal(before);
    scheduler.notified(notification, 'gone');
    expect(counts()).to.deep.equal([0, 0]);
  });

  it('is refused while the task is live', () => {
    retry();
    const again = scheduler.command({ type: 'retryRequested', taskId: 'a' });
    expect(again.reply).to.include({ kind: 'conflict' });
  });

  it('is refused, as a submit is, where too much waits', () => {
    scheduler = new Scheduler({ waitingCountMax: 1, laneCountMax: 1 });
    scheduler.submit({ id: 'b', type: 'other' });
    expect(retry().reply).to.deep.equal({
      kind: 'full',
      message: '1 waiting or suspended already',
    });
    scheduler = new Scheduler({ laneCountMax: 1 });
    scheduler.submit({ id: 'b', type: 'other' });
    expect(retry().reply).to.include({ kind: 'full' });
    expect(scheduler.state.lanes.size).to.equal(1);
    expect(scheduler.state.notifying.has(notification), 'nothing has changed').to.equal(false);
  });

  it('is refused when its deadline has passed, and for a task that is not retained', () => {
    scheduler.now = BEGIN + HOUR;
    expect(retry().reply).to.include({
      kind: 'conflict',
      message: 'the deadline of the task has passed',
    });
    expect(retry(null, null).reply).to.include({ kind: 'unknown' });
  });
});
