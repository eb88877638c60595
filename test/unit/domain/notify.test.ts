/** Callbacks: written with the end of the task, tried for about a day, then given up. */
import { expect } from 'chai';
import { notificationChanged, taskFinished } from '../../../master/domain/changes.ts';
import type { Notification } from '../../../master/domain/model/task.ts';
import {
  BEGIN,
  callbacks,
  ends,
  finished,
  HOUR,
  MINUTE,
  observed,
  Scheduler,
  SECOND,
} from '../../helpers/domain.ts';
import { changesOf } from '../../helpers/usage/changes.ts';

const notifyUrl = 'https://example.org/done';

/** A task that has just ended; its callback is being tried. */
function begun(scheduler: Scheduler, id = 'a'): Notification {
  scheduler.submit({ id, notifyUrl });
  const [notification] = callbacks(scheduler.command({ type: 'cancelRequested', taskId: id }));
  if (notification === undefined) throw new Error('no callback');
  return notification;
}

describe('callback', () => {
  let scheduler: Scheduler;
  beforeEach(() => {
    scheduler = new Scheduler();
  });

  it('is written with the end of the task and tried after it', () => {
    scheduler.connect('x');
    const task = scheduler.run('x', { notifyUrl });
    const out = scheduler.end('x');
    const [notification = null] = callbacks(out);
    expect(notification).to.include({ url: notifyUrl, state: 'pending', tries: 0, taskSeq: 1 });
    const end = { finishedAt: scheduler.now, retention: 'normal' } as const;
    expect(changesOf(out)).to.deep.equal(taskFinished(task, end, notification));
  });

  it('holds of its task neither params nor checkpoint, and of all results a bounded part', () => {
    scheduler.connect('x');
    const MiB = 1024 * 1024;
    const result = JSON.stringify('r'.repeat(MiB));
    let held = 0;
    let count = 0;
    for (let i = 0; i < 40; i++) {
      const id = `t${i}`;
      scheduler.run('x', { id, notifyUrl, params: JSON.stringify('p'.repeat(1000)) });
      const out = scheduler.end('x', { result });
      for (const effect of out.effects) {
        if (effect.type !== 'notify') continue;
        count++;
        if (effect.task === null) continue;
        expect(effect.task).not.to.have.any.keys('params', 'checkpoint', 'progressState');
        held += effect.task.result?.length ?? 0;
      }
    }
    expect(count, 'the others are read when their turn comes').to.equal(40);
    expect(held).to.be.within(30 * MiB, 32 * MiB);
  });

  it('is none for a task without a notify_url', () => {
    scheduler.connect('x');
    scheduler.run('x');
    const out = scheduler.end('x');
    expect(ends(out)[0]?.notification).to.equal(null);
    expect(callbacks(out)).to.deep.equal([]);
  });

  it('is tried for every way in which a task ends, once', () => {
    scheduler.submit({ id: 'expired', notifyUrl, deadlineAt: BEGIN + SECOND });
    expect(callbacks(scheduler.pass(SECOND)).map(({ taskId }) => taskId)).to.deep.equal([
      'expired',
    ]);
    scheduler.connect('x');
    scheduler.run('x', { id: 'failed', notifyUrl });
    const out = scheduler.fail('x', { retryable: false });
    expect(callbacks(out).map(({ taskId }) => taskId)).to.deep.equal(['failed']);
    expect(finished(out)).to.have.length(1);
  });

  it('is not tried while the task is only retried', () => {
    scheduler.connect('x');
    scheduler.run('x', { notifyUrl });
    expect(callbacks(scheduler.fail('x'))).to.deep.equal([]);
  });

  it('is delivered with the first success, and that is written', () => {
    const notification = begun(scheduler);
    scheduler.now += 42;
    const out = scheduler.notified(notification, 'delivered');
    expect(notification).to.include({
      state: 'delivered',
      tries: 1,
      lastStatus: 200,
      deliveredAt: scheduler.now,
    });
    expect(changesOf(out)).to.deep.equal([notificationChanged(notification)]);
    expect(callbacks(scheduler.pass(HOUR))).to.deep.equal([]);
  });

  it('is tried again and again over about 24 h, and then given up', () => {
    const notification = begun(scheduler);
    const waitsMs: number[] = [];
    for (;;) {
      scheduler.notified(notification, 'failed');
      if (notification.state !== 'pending') break;
      const waitMs = notification.nextTryAt - scheduler.now;
      waitsMs.push(waitMs);
      expect(callbacks(scheduler.pass(waitMs - 1))).to.deep.equal([]);
      expect(callbacks(scheduler.pass(1))).to.deep.equal([notification]);
    }
    expect(notification).to.include({ state: 'gave_up', tries: 12, lastStatus: 503 });
    expect(scheduler.now - BEGIN).to.be.within(23 * HOUR, 27 * HOUR);
    expect(waitsMs[0]).to.be.within(5 * SECOND, 5.5 * SECOND);
    for (const [i, waitMs] of waitsMs.entries()) {
      expect(waitMs, 'no wait is much shorter than the one before').to.be.at.least(
        (waitsMs[i - 1] ?? 0) / 1.1,
      );
    }
  });

  it('is given up at once when the receiver says 410', () => {
    const notification = begun(scheduler);
    scheduler.notified(notification, 'gone');
    expect(notification).to.include({ state: 'gave_up', tries: 1 });
    expect(callbacks(scheduler.pass(HOUR))).to.deep.equal([]);
  });

  it('waits at least as long as the receiver asks for', () => {
    const notification = begun(scheduler);
    scheduler.notified(notification, 'failed', HOUR);
    expect(notification.nextTryAt).to.equal(BEGIN + HOUR);
  });

  it('waits at least its own time, however impatient the receiver is', () => {
    const notification = begun(scheduler);
    scheduler.notified(notification, 'failed', 1);
    expect(notification.nextTryAt).to.be.at.least(BEGIN + 5 * SECOND);
  });

  it('ignores the answer of a try that was made for an earlier run of the task', () => {
    const notification = begun(scheduler);
    const out = scheduler.notified({ ...notification, finishedAt: 1 }, 'delivered');
    expect(out.changes).to.deep.equal([]);
    expect(notification.state).to.equal('pending');
  });

  it('counts each time that the receiver may have seen it', () => {
    const notification = begun(scheduler);
    scheduler.notified(notification, 'failed', null, 2);
    expect(notification.tries).to.equal(2);
    expect(notification.nextTryAt).to.be.within(BEGIN + 30 * SECOND, BEGIN + 33 * SECOND);
  });

  it('that was put off has cost no try, and comes back', () => {
    const notification = begun(scheduler);
    for (let i = 1; i <= 40; i++) {
      const out = scheduler.putOff(notification);
      expect(out.changes).to.deep.equal([notificationChanged(notification)]);
      expect(notification).to.include({ state: 'pending', tries: 0, lastError: 'not sent' });
      const waitMs = notification.nextTryAt - scheduler.now;
      expect(waitMs).to.be.within(MINUTE, 1.1 * MINUTE);
      expect(callbacks(scheduler.pass(waitMs))).to.deep.equal([notification]);
    }
    scheduler.notified(notification, 'delivered');
    expect(notification).to.include({ state: 'delivered', tries: 1 });
  });

  it('is not put off for longer than it would be tried, but never given up unsent', () => {
    const notification = begun(scheduler);
    scheduler.now += 48 * HOUR;
    scheduler.putOff(notification);
    expect(notification.state).to.equal('pending');
    scheduler.pass(2 * MINUTE);
    scheduler.notified(notification, 'failed');
    scheduler.pass(MINUTE);
    const out = scheduler.putOff(notification);
    expect(notification).to.include({ state: 'gave_up', tries: 1 });
    expect(observed(out)).to.deep.equal(['notification_ended']);
  });

  it('is told of once when it is settled, however that came about', () => {
    const one = begun(scheduler);
    expect(observed(scheduler.notified(one, 'failed'))).to.deep.equal(['notification_tried']);
    scheduler.pass(MINUTE);
    const settled = ['notification_tried', 'notification_ended'];
    expect(observed(scheduler.notified(one, 'delivered'))).to.deep.equal(settled);
    expect(observed(scheduler.notified(begun(scheduler, 'b'), 'gone'))).to.deep.equal(settled);
  });

  it('ignores what is said of an earlier run: that it was put off', () => {
    const notification = begun(scheduler);
    expect(scheduler.putOff({ ...notification, finishedAt: 1 }).changes).to.deep.equal([]);
    expect(notification.nextTryAt).to.equal(BEGIN);
  });

  it('ignores the answer to a hand-over by a state that was rebuilt since', () => {
    const notification = begun(scheduler);
    const { taskSeq, finishedAt } = notification;
    const about = { term: 0, taskSeq, finishedAt, error: 'late' };
    const putOff = { type: 'notificationPutOff', ...about, afterMs: 1 } as const;
    expect(scheduler.send(putOff).changes).to.deep.equal([]);
    expect(scheduler.state.notifying.has(notification)).to.equal(true);
  });

  it('ignores an answer that comes twice', () => {
    const notification = begun(scheduler);
    scheduler.notified(notification, 'failed');
    expect(scheduler.notified(notification, 'failed').changes).to.deep.equal([]);
    expect(notification.tries).to.equal(1);
  });
});

describe('redeliver', () => {
  const redeliver = (scheduler: Scheduler, notification: Notification | null) =>
    scheduler.command({ type: 'redeliverRequested', taskId: 'a', notification });
  let scheduler: Scheduler;
  beforeEach(() => {
    scheduler = new Scheduler();
  });

  it('reads the row first', () => {
    const out = scheduler.command({ type: 'redeliverRequested', taskId: 'a' });
    expect(out.reply).to.equal(null);
    expect(out.loads.map(({ type }) => type)).to.deep.equal(['task']);
  });

  it('is 404 where there is no callback', () => {
    expect(redeliver(scheduler, null).reply).to.include({ kind: 'unknown' });
  });

  it('begins the tries anew after they were given up', () => {
    const row = { ...begun(scheduler), state: 'gave_up' as const, tries: 12 };
    scheduler = new Scheduler();
    const out = redeliver(scheduler, row);
    expect(out.reply).to.deep.equal({ kind: 'done' });
    expect(callbacks(out)).to.deep.equal([row]);
    expect(row).to.include({ state: 'pending', tries: 0 });
    expect(out.changes).to.deep.equal([notificationChanged(row)]);
    scheduler.notified(row, 'failed');
    expect(row).to.include({ state: 'pending', tries: 1 });
  });

  it('brings a try forward that waits for its time, and makes it once', () => {
    const notification = begun(scheduler);
    scheduler.notified(notification, 'failed', HOUR);
    const row = { ...notification };
    expect(callbacks(redeliver(scheduler, row))).to.deep.equal([row]);
    scheduler.notified(row, 'delivered');
    expect(callbacks(scheduler.pass(2 * HOUR))).to.deep.equal([]);
  });

  it('does not send twice what is in flight', () => {
    const notification = begun(scheduler);
    const out = redeliver(scheduler, { ...notification });
    expect(out.reply).to.deep.equal({ kind: 'done' });
    expect(callbacks(out)).to.deep.equal([]);
  });

  it('has as long for its new tries as it had at first, however old it is', () => {
    const notification = begun(scheduler);
    scheduler.notified(notification, 'delivered');
    scheduler.now += 72 * HOUR;
    redeliver(scheduler, notification);
    scheduler.notified(notification, 'failed');
    scheduler.pass(MINUTE);
    scheduler.putOff(notification);
    expect(notification).to.include({ state: 'pending', tries: 1 });
    scheduler.now += 27 * HOUR;
    scheduler.pass(2 * MINUTE);
    scheduler.putOff(notification);
    expect(notification.state).to.equal('gave_up');
  });

  it('begins the tries anew also while one is in flight, and writes that', () => {
    const notification = begun(scheduler);
    notification.tries = 11;
    const out = redeliver(scheduler, { ...notification });
    expect(out.changes).to.deep.equal([notificationChanged(notification)]);
    scheduler.notified(notification, 'failed');
    expect(notification).to.include({ state: 'pending', tries: 1 });
  });
});

describe('many callbacks', () => {
  it('are in flight only up to a bound; the next begins when one has ended', () => {
    const scheduler = new Scheduler({ notificationCountMax: 2 });
    const [first, second] = [begun(scheduler, 'a'), begun(scheduler, 'b')];
    scheduler.submit({ id: 'c', notifyUrl });
    const out = scheduler.command({ type: 'cancelRequested', taskId: 'c' });
    expect(callbacks(out)).to.deep.equal([]);
    const next = callbacks(scheduler.notified(first, 'delivered'));
    expect(next.map(({ taskId }) => taskId)).to.deep.equal(['c']);
    expect(callbacks(scheduler.notified(second, 'delivered'))).to.deep.equal([]);
  });

  it('beyond another bound wait in the store, and are asked for once and taken in', () => {
    const scheduler = new Scheduler({ notificationCountMax: 2, pageCount: 2 });
    const inFlight = [begun(scheduler, 'a'), begun(scheduler, 'b')];
    const rows: Notification[] = [];
    for (const id of ['c', 'd', 'e']) {
      scheduler.now += 1;
      scheduler.submit({ id, notifyUrl });
      const out = scheduler.command({ type: 'cancelRequested', taskId: id });
      rows.push(...ends(out).flatMap(({ notification }) => notification ?? []));
    }
    expect(scheduler.state.notifications.size).to.equal(2);
    const tried: string[] = [];
    const begin = (notifications: Notification[]) => {
      tried.push(...notifications.map(({ taskId }) => taskId));
      inFlight.push(...notifications);
    };
    const asked: unknown[] = [];
    while (inFlight.length > 0) {
      const [next] = inFlight.splice(0, 1);
      if (next === undefined) break;
      const out = scheduler.notified(next, 'delivered');
      begin(callbacks(out));
      for (const load of out.loads) {
        asked.push(load);
        expect(load).to.include({ type: 'notifications' });
        const notifications = rows.filter(({ state }) => state === 'pending').slice(-1);
        const loaded = { type: 'notificationsLoaded', notifications, complete: true } as const;
        begin(callbacks(scheduler.send(loaded)));
      }
    }
    expect(tried).to.deep.equal(['c', 'd', 'e']);
    expect(asked).to.have.length(1);
  });

  it('are found again after a restart', () => {
    const row = { ...begun(new Scheduler()), nextTryAt: BEGIN + MINUTE };
    const { scheduler, output } = Scheduler.restored({});
    expect(output.loads).to.deep.include({ type: 'notifications' });
    scheduler.send({ type: 'notificationsLoaded', notifications: [row], complete: true });
    expect(callbacks(scheduler.pass(MINUTE - 1))).to.deep.equal([]);
    expect(callbacks(scheduler.pass(1))).to.deep.equal([row]);
  });
});
