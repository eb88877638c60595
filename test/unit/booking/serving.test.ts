/** Who serves a booking: who is kept and bound for it, who takes the place of whom, and what gives way to it. */
import { expect } from 'chai';
import { bookingFinders } from '../../../master/domain/alerts/booking-findings.ts';
import type { Output } from '../../../master/domain/effects.ts';
import { seenBooking } from '../../../master/domain/views/bookings.ts';
import { asked, type Asked, FROM } from './asked.ts';
import { HOUR, MINUTE, Scheduler, SECOND, sent } from '../../helpers/domain.ts';

describe('who serves a booking', () => {
  let scheduler: Scheduler;
  const book = (fields: Partial<Asked> = {}) =>
    scheduler.command({ type: 'bookingRequested', booking: asked(fields) }).reply;
  const set = (text: object) =>
    scheduler.command({ type: 'typeSet', name: 'echo', text: JSON.stringify(text), expect: null });
  const relabel = (executorId: string, reserve: string[]) =>
    scheduler.command({ type: 'relabelRequested', executorId, override: { reserve }, by: null });
  const boundTo = (id = 'bk-1') =>
    scheduler.state.bookings.byId.get(id)?.executors.map(({ executorId }) => executorId);
  const passTo = (at: number) => scheduler.pass(at - scheduler.now);
  const ended = (out: Output) =>
    sent(out, 'cancel').map(({ taskId, reason }) => `${taskId} ${reason}`);

  beforeEach(() => {
    scheduler = new Scheduler();
    scheduler.connect('e1');
  });

  it('is another one as soon as who is about to leave has ended what it had', () => {
    book();
    scheduler.connect('e2');
    passTo(FROM);
    scheduler.run('e1', { id: 'push', booking: 'bk-1' });
    scheduler.beat('e1', undefined, true);
    expect(boundTo()).to.deep.equal(['e1']);
    scheduler.end('e1', { outcome: 'returned' });
    expect(boundTo()).to.deep.equal(['e2']);
  });

  it('is said to be away while it is silent, also with a task of it', () => {
    book();
    passTo(FROM);
    scheduler.run('e1', { id: 'push', booking: 'bk-1' });
    expect(seenBooking(scheduler.state, 'bk-1')?.unready).to.deep.equal([]);
    scheduler.disconnect('e1');
    expect(boundTo()).to.deep.equal(['e1']);
    const away = { executorId: 'e1', reason: 'away', message: null };
    expect(seenBooking(scheduler.state, 'bk-1')?.unready).to.deep.equal([away]);
  });

  it('is nobody who may not run it any more', () => {
    book();
    scheduler.connect('e2');
    passTo(FROM - 10 * MINUTE);
    relabel('e1', ['gold']);
    expect(scheduler.executor('e1').keptUntil).to.equal(null);
    expect(scheduler.executor('e2').keptUntil).to.equal(FROM - 30 * SECOND);
    relabel('e1', []);
    passTo(FROM);
    expect(boundTo()).to.deep.equal(['e2']);
    relabel('e2', ['gold']);
    expect(boundTo()).to.deep.equal(['e1']);
  });

  it('is who is free, where others that were kept are late', () => {
    for (const id of ['e2', 'e3']) scheduler.connect(id);
    scheduler.run('e1', { id: 'short', executionTimeoutMs: HOUR - 10 * MINUTE });
    scheduler.run('e2', { id: 'endless' });
    scheduler.run('e3', { id: 'other' });
    book({ count: 2 });
    passTo(FROM - 10 * MINUTE);
    expect(scheduler.executor('e2').keptUntil).to.not.equal(null);
    scheduler.end('e3');
    expect(scheduler.executor('e3').keptUntil).to.equal(FROM - 30 * SECOND);
    expect(scheduler.executor('e2').keptUntil).to.equal(null);
  });

  it('is who is free, where what was offered in time has started too late', () => {
    scheduler.run('e1', { id: 'other' });
    scheduler.connect('e2');
    book();
    passTo(FROM - 2 * MINUTE);
    const { cancelGraceMs } = scheduler.state.policy;
    const executionTimeoutMs = 90 * SECOND - cancelGraceMs;
    scheduler.submit({ id: 'just', executionTimeoutMs, assignTimeoutMs: MINUTE });
    scheduler.pass(SECOND);
    scheduler.accept('e2');
    expect(scheduler.task('just').startedAt).to.equal(scheduler.now);
    scheduler.end('e1');
    expect(scheduler.executor('e1').keptUntil).to.equal(FROM - 30 * SECOND);
  });

  it('is who is kept for a later one, and that finds another', () => {
    book({ id: 'later', firstFrom: FROM + 30 * MINUTE, holdMs: HOUR });
    passTo(FROM - 20 * MINUTE);
    expect(scheduler.executor('e1').keptUntil).to.equal(FROM + 29.5 * MINUTE);
    book();
    passTo(FROM - 14 * MINUTE);
    expect(scheduler.executor('e1').keptUntil).to.equal(FROM - 30 * SECOND);
    scheduler.connect('e2');
    expect(scheduler.executor('e2').keptUntil).to.equal(FROM + 29.5 * MINUTE);
    passTo(FROM);
    expect(boundTo()).to.deep.equal(['e1']);
  });

  describe('is who has just come, where there are too few, before it is given anything else', () => {
    beforeEach(() => {
      scheduler.connect('e2');
      book();
      book({ id: 'bk-2' });
      relabel('e1', ['gold']);
      scheduler.pass(10 * SECOND);
      expect(scheduler.state.bookings.byId.get('bk-2')?.state).to.equal('at_risk');
    });

    it('in its hold', () => {
      passTo(FROM - 10 * MINUTE);
      scheduler.submit({ id: 'waits' });
      expect(sent(scheduler.connect('e3'), 'assign')).to.deep.equal([]);
      expect(scheduler.executor('e3').keptUntil).to.equal(FROM - 30 * SECOND);
      expect(sent(scheduler.connect('e4'), 'assign')).to.have.length(1);
    });

    it('from its lead on', () => {
      passTo(FROM - 10 * SECOND);
      expect(boundTo('bk-2')).to.deep.equal([]);
      scheduler.submit({ id: 'waits' });
      expect(sent(scheduler.connect('e3'), 'assign')).to.deep.equal([]);
      expect(boundTo('bk-2')).to.deep.equal(['e3']);
      expect(sent(scheduler.connect('e4'), 'assign')).to.have.length(1);
    });
  });

  it('is kept at once for the window that follows one that is skipped', () => {
    book({ everyMs: 11 * MINUTE });
    passTo(FROM - MINUTE);
    const skip = { type: 'bookingSkipped', bookingId: 'bk-1', groups: null, from: FROM } as const;
    scheduler.submit({ id: 'waits' });
    expect(sent(scheduler.command(skip), 'assign')).to.deep.equal([]);
    expect(scheduler.executor('e1').keptUntil).to.equal(FROM + 10.5 * MINUTE);
  });

  it('has its part of what may run from the lead on: what is preemptible gives way', () => {
    set({ preemptible: true, limits: { max_running: 2 } });
    for (const id of ['e2', 'e3']) scheduler.connect(id);
    scheduler.run('e1', { id: 'first' });
    scheduler.pass(SECOND);
    scheduler.run('e2', { id: 'second' });
    book();
    expect(ended(passTo(FROM - 30 * SECOND))).to.deep.equal(['second preempted']);
    expect(boundTo()).to.deep.equal(['e3']);
    expect(ended(passTo(FROM - SECOND))).to.deep.equal([]);
    scheduler.end('e2', { outcome: 'returned' });
    const out = scheduler.submit({ id: 'push', booking: 'bk-1' });
    expect(sent(out, 'assign')).to.deep.equal([]);
    expect(sent(passTo(FROM), 'assign').map(({ task }) => task.id)).to.deep.equal(['push']);
  });

  it('takes no more of what may run than its part', () => {
    for (const id of ['e2', 'e3']) scheduler.connect(id);
    scheduler.run('e1', { id: 'first' });
    scheduler.run('e2', { id: 'second' });
    book();
    const { settings } = scheduler.state;
    scheduler.command({ type: 'settingsChanged', ...settings, paused: null, maxRunning: 1 });
    set({ preemptible: true });
    expect(ended(passTo(FROM - 30 * SECOND))).to.have.length(1);
  });

  it('keeps its executors with less capacity of its own from the first tick of a master', () => {
    set({ capacity: 2 });
    book({ count: 2 });
    scheduler.state.bookings.knownFrom = scheduler.now + 10 * MINUTE;
    set({ capacity: 1 });
    scheduler.pass(10 * SECOND);
    expect(scheduler.state.bookings.byId.get('bk-1')?.state).to.equal('at_risk');
    const { state, now } = scheduler;
    const [finding] = bookingFinders.booking_at_risk({ namespace: 'default', state, now });
    expect(finding?.message).to.contain('the capacity of its type is less');
    expect(finding?.change).to.match(/^Raise the capacity of type echo before then/);
    set({ capacity: 2 });
    scheduler.pass(10 * SECOND);
    expect(scheduler.state.bookings.byId.get('bk-1')?.state).to.equal('planned');
  });

  it('is missed at the lead where a capacity was taken to have labels that nobody has', () => {
    set({ capacity: 1 });
    expect(book({ requires: ['gpu'] })?.kind).to.equal('done');
    const { told } = passTo(FROM - 30 * SECOND);
    expect(told.map(({ kind }) => kind)).to.include('booking.short');
    expect(boundTo()).to.deep.equal([]);
  });

  it('is missed ahead in windows that come later', () => {
    set({ capacity: 2 });
    book({ id: 'other', count: 1, firstFrom: FROM + 24 * HOUR });
    book({ everyMs: 24 * HOUR });
    set({ capacity: 1 });
    scheduler.pass(10 * SECOND);
    const { state, now } = scheduler;
    expect(state.bookings.byId.get('bk-1')?.state).to.equal('planned');
    const [finding] = bookingFinders.booking_at_risk({ namespace: 'default', state, now });
    const tomorrow = new Date(FROM + 24 * HOUR).toISOString().slice(0, 16);
    expect(finding?.message).to.match(
      new RegExp(`^Booking bk-1 .*, from ${tomorrow}.*, does not fit`),
    );
  });

  it('is missing now, once its window is open, and not at risk besides', () => {
    set({ capacity: 2 });
    book();
    book({ id: 'bk-2' });
    set({ capacity: 1 });
    scheduler.pass(10 * SECOND);
    const atRisk = () => {
      const { state, now } = scheduler;
      const found = bookingFinders.booking_at_risk({ namespace: 'default', state, now });
      return [...found].map((one) => one?.subject);
    };
    expect(atRisk()).to.deep.equal(['booking bk-2']);
    passTo(FROM);
    const missed = scheduler.state.bookings.byId.get('bk-2');
    expect(missed).to.include({ state: 'bound' });
    expect(missed?.windows[0]?.parts).to.equal(null);
    expect(atRisk()).to.deep.equal([]);
  });

  describe('by its name, of a type that says how many there are', () => {
    const pin = (id: string) => ({ requires: [`executor:${id}`] });
    beforeEach(() => {
      scheduler.connect('e2');
      set({ capacity: 2 });
    });

    it('is nobody, where another booking has it then', () => {
      expect(book(pin('e1'))?.kind).to.equal('done');
      expect(book({ id: 'bk-2', ...pin('e1') })?.kind).to.equal('conflict');
      expect(book({ id: 'bk-2', ...pin('e2') })?.kind).to.equal('done');
      passTo(FROM);
      expect([boundTo(), boundTo('bk-2')]).to.deep.equal([['e1'], ['e2']]);
    });

    it('is kept from what anyone may serve', () => {
      book({ id: 'any' });
      book({ id: 'bk-2', isMaintenance: true, ...pin('e1') });
      passTo(FROM);
      expect([boundTo('any'), boundTo('bk-2')]).to.deep.equal([['e2'], ['e1']]);
    });

    it('is one alone', () => {
      expect(book({ count: 2, ...pin('e1') })).to.include({ kind: 'misfit', field: 'count' });
    });
  });

  describe('where the time of a task of it is later than its window begins', () => {
    const runAt = FROM + 10 * MINUTE;
    const offers = (out: Output) =>
      sent(out, 'assign').map(({ sessionId, task }) => `${task.id} ${sessionId}`);

    beforeEach(() => {
      book({ windowMs: HOUR });
      scheduler.submit({ id: 'later', booking: 'bk-1', runAt });
    });

    it('is given nothing else until then, nor is who takes its place', () => {
      scheduler.submit({ id: 'now', booking: 'bk-1' });
      expect(offers(passTo(FROM))).to.deep.equal(['now e1/1']);
      scheduler.accept('e1');
      scheduler.submit({ id: 'urgent', priority: 9 }, { id: 'short', executionTimeoutMs: SECOND });
      expect(offers(scheduler.end('e1'))).to.deep.equal([]);
      expect(offers(passTo(FROM + 4 * MINUTE))).to.deep.equal([]);
      scheduler.disconnect('e1');
      expect(offers(scheduler.connect('e2'))).to.deep.equal([]);
      expect(boundTo()).to.deep.equal(['e2']);
      expect(offers(passTo(runAt - 1))).to.deep.equal([]);
      expect(offers(passTo(runAt))).to.deep.equal(['later e2/1']);
    });

    it('has them in the order in which they are due, and waits with none that is', () => {
      scheduler.submit({ id: 'now', booking: 'bk-1' }, { id: 'next', booking: 'bk-1' });
      expect(offers(passTo(FROM))).to.deep.equal(['now e1/1']);
      scheduler.accept('e1');
      passTo(runAt + MINUTE);
      scheduler.submit({ id: 'last', booking: 'bk-1' });
      const order = ['next', 'later', 'last'].map((id) => `${id} e1/1`);
      for (const offer of order) {
        expect(offers(scheduler.end('e1'))).to.deep.equal([offer]);
        scheduler.accept('e1');
      }
    });
  });

  it('is maintained, however many of its type may run', () => {
    set({ limits: { max_running: 1 } });
    scheduler.connect('e2');
    expect(book()?.kind).to.equal('done');
    expect(book({ id: 'bk-2', isMaintenance: true })?.kind).to.equal('done');
  });
});
