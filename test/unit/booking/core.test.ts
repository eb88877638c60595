/** Bookings in the core: who is kept, bound, replaced and released, and which tasks they run. */
import { expect } from 'chai';
import type { Event } from '../../../master/domain/events.ts';
import type { Task } from '../../../master/domain/model/task.ts';
import { type Output, refusalInWords } from '../../../master/domain/effects.ts';
import { answerTo, asked, type Asked, bookingIn, FROM } from './asked.ts';
import { BEGIN, ends, HOUR, MINUTE, Scheduler, SECOND, sent } from '../../helpers/domain.ts';

type Change = Extract<Event, { type: 'changeRequested' }>;

describe('bookings in the core', () => {
  let scheduler: Scheduler;
  const book = (fields: Partial<Asked> = {}) =>
    scheduler.command({ type: 'bookingRequested', booking: asked(fields) }).reply;
  const booking = (id = 'bk-1') => bookingIn(scheduler, id);
  const boundTo = (id = 'bk-1') => booking(id).executors.map(({ executorId }) => executorId);
  const offers = (out: Output) => sent(out, 'assign').map(({ task }) => task.id);
  const passTo = (at: number) => scheduler.pass(at - scheduler.now);
  const told = (out: Output) =>
    out.told.map(({ kind }) => kind).filter((kind) => kind.startsWith('booking.'));

  beforeEach(() => {
    scheduler = new Scheduler();
    scheduler.connect('e1');
  });

  it('says of what it refuses how many are not free, and when by the clock of its zone', () => {
    book();
    const messageOf = (reply: ReturnType<typeof book>) =>
      reply && 'message' in reply ? reply.message : null;
    const utc = (at: number) => new Date(at).toISOString().slice(0, 19);
    const [from, to] = [FROM, FROM + 10 * MINUTE];
    expect(messageOf(book({ id: 'bk-2' }))).to.equal(
      `no executor of type echo is free from ${utc(from)}Z to ${utc(to)}Z`,
    );
    const [fromThere, toThere] = [from, to].map((at) => utc(at + 8 * HOUR));
    expect(messageOf(book({ id: 'bk-2', count: 3, zone: 'Asia/Shanghai' }))).to.equal(
      `no 3 executors of type echo are free from ${fromThere} to ${toThere} (Asia/Shanghai)`,
    );
  });

  it('refuses what overlaps, with windows that are free, and takes what touches', () => {
    expect(book()).to.deep.equal({ kind: 'done', isNew: true });
    const refused = answerTo(scheduler, { id: 'bk-2', firstFrom: FROM + 5 * MINUTE });
    expect(refused).to.include({ kind: 'conflict' });
    const [free] = refused && 'free' in refused ? (refused.free ?? []) : [];
    expect(free?.count).to.equal(1);
    expect(book({ id: 'bk-2', firstFrom: FROM + 10 * MINUTE })?.kind).to.equal('done');
    expect(book({ id: 'bk-3', firstFrom: FROM - 10 * MINUTE })?.kind).to.equal('done');
    expect(book({ id: 'bk-4', firstFrom: BEGIN - 1 })).to.include({
      kind: 'misfit',
      field: 'from',
    });
  });

  it('keeps an executor for what is over in time, then for nothing but its own', () => {
    book();
    passTo(FROM - 10 * MINUTE);
    expect(scheduler.executor('e1').keptUntil).to.equal(FROM - 30 * SECOND);
    expect(offers(scheduler.submit({ id: 'endless' }))).to.deep.equal([]);
    expect(offers(scheduler.submit({ id: 'long', executionTimeoutMs: HOUR }))).to.deep.equal([]);
    expect(offers(scheduler.submit({ id: 'short', executionTimeoutMs: MINUTE }))).to.deep.equal([
      'short',
    ]);
    scheduler.accept('e1');
    scheduler.end('e1');
    passTo(FROM - 30 * SECOND);
    expect(booking().state).to.equal('bound');
    expect(boundTo()).to.deep.equal(['e1']);
    expect(offers(scheduler.submit({ id: 'short2', executionTimeoutMs: 1_000 }))).to.deep.equal([]);
  });

  it('keeps and binds the executor that it names', () => {
    scheduler.connect('e2');
    book({ requires: ['executor:e2'] });
    passTo(FROM - 10 * MINUTE);
    expect(scheduler.executor('e2').keptUntil).to.equal(FROM - 30 * SECOND);
    passTo(FROM - 30 * SECOND);
    expect(boundTo()).to.deep.equal(['e2']);
  });

  it('starts its task at its second, and ends what still runs as its window does', () => {
    book();
    const early = scheduler.submit({ id: 'push', booking: 'bk-1' });
    expect(early.outcomes[0]?.kind).to.equal('accepted');
    expect(offers(passTo(FROM - 1))).to.deep.equal([]);
    expect(offers(passTo(FROM))).to.deep.equal(['push']);
    scheduler.accept('e1');
    const out = passTo(FROM + 10 * MINUTE);
    expect(sent(out, 'cancel').map(({ reason }) => reason)).to.deep.equal(['booking_end']);
    expect(booking().state).to.equal('ended');
    const end = scheduler.end('e1', { outcome: 'canceled' });
    expect(JSON.stringify(end.told)).to.contain('canceled');
    const error = { name: 'booking_end', message: 'the window of booking bk-1 is over' };
    expect(ends(end).map(({ task }) => task.error)).to.deep.equal([error]);
    expect(offers(scheduler.submit({ id: 'next' }))).to.deep.equal(['next']);
  });

  it('offers nothing after its window, though the tick that ends it is yet to come', () => {
    book();
    passTo(FROM);
    scheduler.run('e1', { id: 'first', booking: 'bk-1' });
    scheduler.submit({ id: 'second', booking: 'bk-1' });
    scheduler.now = FROM + 10 * MINUTE;
    expect(offers(scheduler.end('e1'))).to.deep.equal([]);
    expect(booking().state).to.equal('ended');
  });

  it('says what is wrong with a task for it', () => {
    book();
    const kindOf = (fields: Parameters<Scheduler['submit']>[0]) =>
      scheduler.submit({ booking: 'bk-1', ...fields }).outcomes[0];
    expect(kindOf({ id: 'a', booking: 'bk-2' })?.kind).to.equal('unknown');
    const user = { group: 'other', project: null, env: null, user: null };
    expect(kindOf({ id: 'b', user })?.kind).to.equal('unknown');
    expect(kindOf({ id: 'c', type: 'other' })?.kind).to.equal('misfit');
    expect(kindOf({ id: 'd', runAt: FROM + HOUR })?.kind).to.equal('misfit');
    expect(kindOf({ id: 'e', requires: ['gpu'] })?.kind).to.equal('misfit');
    scheduler.command({ type: 'bookingCanceled', bookingId: 'bk-1', groups: null });
    expect(kindOf({ id: 'f' })?.kind).to.equal('conflict');
  });

  it('replaces an executor that is lost before its window, first of all', () => {
    scheduler.connect('e2');
    book();
    passTo(FROM - 30 * SECOND);
    const [first = ''] = boundTo();
    const other = first === 'e1' ? 'e2' : 'e1';
    passTo(FROM - 10 * SECOND);
    scheduler.run(other, { id: 'busy' });
    scheduler.submit({ id: 'waits' });
    scheduler.disconnect(first);
    expect(boundTo()).to.deep.equal([first]);
    expect(offers(scheduler.end(other))).to.deep.equal([]);
    expect(boundTo()).to.deep.equal([other]);
    scheduler.submit({ id: 'push', booking: 'bk-1' });
    expect(offers(passTo(FROM))).to.deep.equal(['push']);
  });

  it('gives back the newest task of a preemptible type, and else says that it is short', () => {
    const text = '{"preemptible":true}';
    scheduler.run('e1', { id: 'long' });
    book();
    const out = passTo(FROM - 30 * SECOND);
    expect(told(out)).to.include('booking.short');
    expect(scheduler.state.bookings.active.get('bk-1')?.shortCount).to.equal(1);
    const next = scheduler.command({ type: 'typeSet', name: 'echo', text, expect: null });
    expect(sent(next, 'cancel').map(({ reason }) => reason)).to.deep.equal(['preempted']);
    expect(boundTo()).to.deep.equal(['e1']);
    scheduler.end('e1', { outcome: 'returned' });
    expect(scheduler.task('long')).to.include({ state: 'waiting', attemptsUsed: 0 });
    expect(scheduler.executor('e1').occupation).to.equal(null);
  });

  it('releases executors of which nobody has made use', () => {
    book();
    const out = passTo(FROM + MINUTE);
    expect(told(out).at(-1)).to.equal('booking.ended');
    expect(booking().state).to.equal('no_show');
    expect(offers(scheduler.submit({ id: 'next' }))).to.deep.equal(['next']);
  });

  it('lets a task go on that may, until another booking needs its executor', () => {
    book({ mayOverrun: true });
    scheduler.submit({ id: 'push', booking: 'bk-1' });
    book({ id: 'bk-2', firstFrom: FROM + 20 * MINUTE });
    passTo(FROM);
    scheduler.accept('e1');
    expect(sent(passTo(FROM + 11 * MINUTE), 'cancel')).to.deep.equal([]);
    expect(booking().state).to.equal('ended');
    const out = passTo(FROM + 20 * MINUTE - 30 * SECOND);
    expect(sent(out, 'cancel').map(({ reason }) => reason)).to.deep.equal(['booking_end']);
    expect(boundTo('bk-2')).to.deep.equal(['e1']);
  });

  it('keeps its part of what may run, and is not kept back by a rate', () => {
    const limits = { max_running: 1, rate: { count: 1, seconds: 86_400 } };
    const text = JSON.stringify({ limits });
    scheduler.command({ type: 'typeSet', name: 'echo', text, expect: null });
    scheduler.connect('e2');
    expect(book()?.kind).to.equal('done');
    expect(book({ id: 'bk-2' })?.kind, 'above the limit of the type').to.equal('conflict');
    scheduler.run('e1', { id: 'one' });
    scheduler.end('e1');
    passTo(FROM - 10 * SECOND);
    const other = boundTo()[0] === 'e1' ? 'e2' : 'e1';
    expect(offers(scheduler.submit({ id: 'two' }))).to.deep.equal([]);
    scheduler.submit({ id: 'push', booking: 'bk-1' });
    expect(offers(passTo(FROM))).to.deep.equal(['push']);
    expect(scheduler.executor(other).occupation).to.equal(null);
  });

  it('keeps no place of its type before its lead, whatever is set then', () => {
    book();
    passTo(FROM - 10 * MINUTE);
    const text = '{"limits":{"max_running":1}}';
    scheduler.command({ type: 'typeSet', name: 'echo', text, expect: null });
    expect(scheduler.state.quotas.get('echo')?.groups.size).to.equal(0);
  });

  it('runs again and again, but for a window that is skipped, which is named to the second', () => {
    book({ everyMs: HOUR, firstFrom: FROM + 595 });
    expect(booking().windows).to.have.length(30);
    const skipped = scheduler.command({
      type: 'bookingSkipped',
      bookingId: 'bk-1',
      groups: null,
      from: FROM + HOUR,
    });
    expect(skipped.reply?.kind).to.equal('done');
    passTo(FROM + 11 * MINUTE);
    expect(booking()).to.include({ state: 'planned', from: FROM + 2 * HOUR + 595 });
    expect(booking().windows).to.have.length(30);
  });

  it('offers nothing of a window that is over to executors that are bound for the next', () => {
    book({ everyMs: 11 * MINUTE, leadMs: 5 * MINUTE });
    scheduler.submit(
      { id: 'late', booking: 'bk-1' },
      { id: 'next', booking: 'bk-1', runAt: FROM + 11 * MINUTE },
    );
    const task = scheduler.task('late');
    scheduler.disconnect('e1');
    passTo(FROM + 10 * MINUTE);
    scheduler.connect('e1', { incarnation: 'two', sessionId: 'e1/2' });
    expect(booking()).to.include({ state: 'bound', from: FROM + 11 * MINUTE });
    expect(boundTo()).to.deep.equal(['e1']);
    expect(scheduler.executor('e1').occupation).to.equal(null);
    expect(offers(passTo(FROM + 11 * MINUTE))).to.deep.equal(['next']);
    scheduler.end('e1');
    scheduler.send({
      type: 'bookedLoaded',
      pages: [{ booking: 'bk-1', tasks: [task], complete: true }],
    });
    expect(scheduler.state.tasks.has('late')).to.equal(false);
  });

  it('ends tasks that wait for it once it is canceled', () => {
    book();
    scheduler.submit({ id: 'push', booking: 'bk-1' });
    const task = scheduler.task('push');
    const out = scheduler.command({ type: 'bookingCanceled', bookingId: 'bk-1', groups: null });
    expect(out.loads).to.deep.include({ type: 'booked', booking: 'bk-1' });
    const end = scheduler.send({
      type: 'bookedLoaded',
      pages: [{ booking: 'bk-1', tasks: [task], complete: true }],
    });
    expect(scheduler.state.tasks.has('push')).to.equal(false);
    const error = { name: 'booking_end', message: 'booking bk-1 was canceled' };
    expect(ends(end).map(({ task: row }) => row.error)).to.deep.equal([error]);
    expect(booking()).to.include({ state: 'canceled', endingBefore: null });
  });

  describe('a task of it', () => {
    const change = (fields: Change['change']) =>
      scheduler.command({
        type: 'changeRequested',
        taskId: 'push',
        change: fields,
        seen: { seq: null, version: null },
      }).reply;
    const retry = (task: Task) =>
      scheduler.command({ type: 'retryRequested', taskId: task.id, task }).reply;

    it('is changed within its windows, and within what it allows', () => {
      book({ labels: ['hd'], requires: [], windowMs: 10 * MINUTE });
      scheduler.submit({ id: 'push', booking: 'bk-1' });
      expect(change({ runAt: null })?.kind).to.equal('done');
      expect(scheduler.task('push').dueAt).to.equal(FROM);
      expect(change({ runAt: FROM + MINUTE })?.kind).to.equal('done');
      expect(scheduler.task('push').dueAt).to.equal(FROM + MINUTE);
      expect(change({ labels: ['x'] })?.kind).to.equal('done');
      expect(scheduler.task('push').labels).to.deep.equal(['x', 'hd']);
      const messageOf = (fields: Change['change']) => {
        const reply = change(fields);
        const isRefused = reply !== null && 'message' in reply;
        return isRefused ? `${reply.kind} ${refusalInWords(reply)}` : reply?.kind;
      };
      expect(messageOf({ runAt: FROM + HOUR })).to.match(/^misfit run_at: expected before/);
      expect(messageOf({ user: { group: 'other' } })).to.equal(
        'misfit user.group: booking bk-1 is for tasks of group g',
      );
      expect(messageOf({ requires: ['gpu'] })).to.equal(
        'misfit booking: its executors need not have gpu',
      );
      expect(scheduler.task('push').dueAt).to.equal(FROM + MINUTE);
      scheduler.command({ type: 'bookingCanceled', bookingId: 'bk-1', groups: null });
      expect(messageOf({ priority: 1 })).to.equal('conflict booking bk-1: it is over: canceled');
    });

    it('keeps the place where it was put, where its time is asked for once more', () => {
      book();
      scheduler.submit({ id: 'push', booking: 'bk-1' });
      const edge = { time: 0, seq: 0 };
      scheduler.command({ type: 'moveRequested', taskId: 'push', to: 'first', edge });
      const { queueTime, orderTime } = scheduler.task('push');
      expect(queueTime).to.be.lessThan(orderTime);
      expect(change({ runAt: FROM - MINUTE })?.kind).to.equal('done');
      expect(scheduler.task('push').queueTime).to.equal(queueTime);
      change({ runAt: FROM + MINUTE });
      expect(scheduler.task('push').queueTime).to.equal(orderTime + MINUTE);
    });

    it('is not suspended any more once it was told to end with its window', () => {
      book();
      passTo(FROM);
      scheduler.run('e1', { id: 'push', booking: 'bk-1' });
      passTo(FROM + 10 * MINUTE);
      const suspend = { type: 'suspendRequested', taskId: 'push', reason: null } as const;
      expect(scheduler.command(suspend).reply?.kind).to.equal('conflict');
      expect(scheduler.task('push').suspension).to.equal(null);
    });

    it('is not retried where its deadline is before the window that is to come', () => {
      book({ everyMs: HOUR });
      passTo(FROM);
      const task = scheduler.run('e1', { id: 'push', booking: 'bk-1', deadlineAt: FROM + HOUR });
      scheduler.end('e1');
      passTo(FROM + 20 * MINUTE);
      expect(retry(task)).to.deep.equal({
        kind: 'conflict',
        message: 'the deadline of the task is before the next window of its booking',
      });
    });

    it('counts again when it is retried, and is due in the next window', () => {
      book({ everyMs: HOUR });
      scheduler.submit({ id: 'push', booking: 'bk-1' });
      passTo(FROM);
      scheduler.accept('e1');
      const task = scheduler.task('push');
      scheduler.end('e1');
      passTo(FROM + 20 * MINUTE);
      expect(scheduler.state.bookings.taskCounts.get('bk-1')).to.equal(0);
      expect(retry(task)?.kind).to.equal('done');
      expect(scheduler.task('push').dueAt).to.equal(FROM + HOUR);
      expect(scheduler.state.bookings.taskCounts.get('bk-1')).to.equal(1);
      expect(offers(passTo(FROM + HOUR))).to.deep.equal(['push']);
      passTo(FROM + HOUR + MINUTE);
      expect(booking().state).to.equal('bound');
    });

    it('is not retried once it is over', () => {
      book();
      scheduler.submit({ id: 'push', booking: 'bk-1' });
      passTo(FROM);
      scheduler.accept('e1');
      const task = scheduler.task('push');
      scheduler.end('e1');
      passTo(FROM + 11 * MINUTE);
      expect(retry(task)).to.deep.equal({
        kind: 'conflict',
        message: 'booking bk-1: it is over: ended; copy it to have it run without the booking',
      });
      const { byId, over } = scheduler.state.bookings;
      for (const known of [byId, over]) known.delete('bk-1');
      expect(retry(task)?.kind).to.equal('conflict');
    });

    it('that goes on after its window is not tried again, and is canceled where it is suspended', () => {
      scheduler.connect('e2');
      book({ mayOverrun: true, count: 2 });
      scheduler.submit({ id: 'push', booking: 'bk-1' });
      scheduler.submit({ id: 'other', booking: 'bk-1' });
      passTo(FROM);
      const holderOf = (id: string) => scheduler.task(id).executorId ?? '';
      scheduler.accept('e1');
      scheduler.accept('e2');
      passTo(FROM + 11 * MINUTE);
      expect(booking().state).to.equal('ended');
      const out = scheduler.fail(holderOf('push'));
      expect(told(out)).to.deep.equal([]);
      expect(scheduler.state.tasks.has('push')).to.equal(false);
      const task = scheduler.task('other');
      scheduler.command({ type: 'suspendRequested', taskId: 'other', reason: null });
      scheduler.end(holderOf('other'), { outcome: 'canceled' });
      expect(task.state).to.equal('canceled');
    });
  });
});
