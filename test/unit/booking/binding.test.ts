/** Who is kept and bound, where admission has divided a booking over pools, and who looks again when that changes. */
import { expect } from 'chai';
import { bookingFinders } from '../../../master/domain/alerts/booking-findings.ts';
import type { Output } from '../../../master/domain/effects.ts';
import { seenBooking } from '../../../master/domain/views/bookings.ts';
import { asked, type Asked, bookingIn, FROM } from './asked.ts';
import { HOUR, MINUTE, Scheduler, SECOND, sent } from '../../helpers/domain.ts';

describe('who is bound', () => {
  let scheduler: Scheduler;
  const book = (fields: Partial<Asked> = {}) =>
    scheduler.command({ type: 'bookingRequested', booking: asked(fields) }).reply;
  const booking = (id = 'bk-1') => bookingIn(scheduler, id);
  const boundTo = (id = 'bk-1') => booking(id).executors.map(({ executorId }) => executorId);
  const passTo = (at: number) => scheduler.pass(at - scheduler.now);
  const told = (out: Output) =>
    out.told.map(({ kind }) => kind).filter((kind) => kind.startsWith('booking.'));
  const ended = (out: Output) =>
    sent(out, 'cancel').map(({ taskId, reason }) => `${taskId} ${reason}`);
  const offers = (out: Output) => sent(out, 'assign').map(({ task }) => task.id);
  const set = (text: object) =>
    scheduler.command({ type: 'typeSet', name: 'echo', text: JSON.stringify(text), expect: null });

  beforeEach(() => {
    scheduler = new Scheduler();
  });

  describe('where the plan divides a booking over pools', () => {
    beforeEach(() => {
      scheduler.connect('a-gpu', { labels: ['gpu'] });
      scheduler.connect('a-plain');
    });

    it('is who cannot do what another is promised', () => {
      book({ id: 'long', windowMs: 8 * HOUR });
      book({ id: 'able', requires: ['gpu'], firstFrom: FROM + 4 * HOUR, windowMs: HOUR });
      passTo(FROM - 10 * MINUTE);
      expect(scheduler.executor('a-plain').keptUntil).to.equal(FROM - 30 * SECOND);
      passTo(FROM);
      expect(boundTo('long')).to.deep.equal(['a-plain']);
      scheduler.submit({ id: 'push', booking: 'long' });
      passTo(FROM + 4 * HOUR);
      expect(boundTo('able')).to.deep.equal(['a-gpu']);
    });

    it('is of another pool where nobody is promised that, and the plan knows it', () => {
      scheduler.run('a-plain', { id: 'endless' });
      book();
      passTo(FROM - 10 * MINUTE);
      expect(scheduler.executor('a-gpu').keptUntil).to.equal(FROM - 30 * SECOND);
      passTo(FROM - 30 * SECOND);
      expect(boundTo()).to.deep.equal(['a-gpu']);
      const parts = booking().windows[0]?.parts ?? [];
      expect(parts.map(({ executorIds }) => executorIds)).to.deep.equal([['a-gpu']]);
      expect(book({ id: 'able', requires: ['gpu'] })?.kind).to.equal('conflict');
      expect(book({ id: 'other' })?.kind).to.equal('done');
    });

    it('is nobody of a pool that is promised to another, though it comes later', () => {
      scheduler.run('a-plain', { id: 'endless' });
      book({ id: 'long', windowMs: 8 * HOUR });
      book({ id: 'able', requires: ['gpu'], firstFrom: FROM + 4 * HOUR, windowMs: HOUR });
      expect(told(passTo(FROM - 30 * SECOND))).to.include('booking.short');
      expect(boundTo('long')).to.deep.equal([]);
      scheduler.end('a-plain');
      expect(boundTo('long')).to.deep.equal(['a-plain']);
    });

    it('is whoever is there once the plan knows that it is', () => {
      book({ count: 2 });
      scheduler.disconnect('a-plain', true);
      passTo(FROM);
      expect(boundTo()).to.deep.equal(['a-gpu']);
      scheduler.connect('b-other', { types: ['echo', 'other'] });
      scheduler.pass(10 * SECOND);
      expect(boundTo()).to.deep.equal(['a-gpu', 'b-other']);
    });
  });

  describe('takes its tasks, or makes room for another', () => {
    const seen = () => seenBooking(scheduler.state, 'bk-1');
    const alerts = () => {
      const { state, now } = scheduler;
      return [...bookingFinders.booking_short({ namespace: 'default', state, now })];
    };
    const alerted = () => alerts().length;
    beforeEach(() => {
      scheduler.connect('e1');
      book();
      scheduler.submit({ id: 'push', booking: 'bk-1', assignTimeoutMs: 5 * SECOND });
      passTo(FROM - 30 * SECOND);
      expect(boundTo()).to.deep.equal(['e1']);
    });

    it('at once, where it refuses one and another is idle', () => {
      scheduler.connect('e2');
      passTo(FROM);
      const out = scheduler.reject('e1');
      expect(boundTo()).to.deep.equal(['e2']);
      expect(told(out)).to.deep.equal(['booking.bound']);
      expect(offers(out)).to.deep.equal(['push']);
      expect(scheduler.task('push').executorId).to.equal('e2');
      expect(seen()).to.deep.include({ unready: [], shortCount: 0 });
      expect(offers(scheduler.submit({ id: 'other' }))).to.deep.equal(['other']);
    });

    it('at once, where it does not answer and another is idle', () => {
      scheduler.connect('e2');
      passTo(FROM);
      const out = scheduler.pass(5 * SECOND);
      expect(boundTo()).to.deep.equal(['e2']);
      expect(scheduler.task('push').executorId).to.equal('e2');
      expect(told(out)).to.deep.equal(['booking.bound']);
    });

    it('once another is free: until then it stays, and is said to refuse', () => {
      passTo(FROM);
      expect(told(scheduler.reject('e1'))).to.deep.equal(['booking.short']);
      const unready = [{ executorId: 'e1', reason: 'refusing', message: 'not now' }];
      expect(seen()).to.deep.include({ unready, shortCount: 1 });
      expect(alerted()).to.equal(1);
      const [alert] = alerts();
      expect(alert?.message).to.match(/: 1 executor of 1 missing: e1 does not take its tasks\.$/);
      expect(alert?.change).to.match(/^See why: soda booking get bk-1/);
      // It is asked again, and nothing is told anew.
      expect(told(scheduler.pass(10 * SECOND))).to.deep.equal([]);
      expect(scheduler.task('push').executorId).to.equal('e1');
      expect(told(scheduler.reject('e1'))).to.deep.equal([]);
      expect(boundTo()).to.deep.equal(['e1']);
      scheduler.connect('e2');
      expect(boundTo()).to.deep.equal(['e2']);
      expect(scheduler.task('push').executorId).to.equal('e2');
      expect(alerted()).to.equal(0);
    });

    it('not while it runs one after all', () => {
      passTo(FROM);
      scheduler.reject('e1');
      scheduler.pass(10 * SECOND);
      scheduler.accept('e1');
      scheduler.connect('e2');
      expect(boundTo()).to.deep.equal(['e1']);
      expect(seen()).to.deep.include({ unready: [], shortCount: 0 });
    });

    it('and lacks nothing once the task that it refused has gone', () => {
      passTo(FROM);
      scheduler.reject('e1');
      scheduler.command({ type: 'cancelRequested', taskId: 'push' });
      expect(seen()).to.deep.include({ unready: [], shortCount: 0 });
      scheduler.connect('e2');
      expect(boundTo()).to.deep.equal(['e1']);
    });

    it('for no other that has just refused one as well', () => {
      scheduler.connect('e2');
      passTo(FROM);
      scheduler.reject('e1');
      scheduler.reject('e2');
      expect(boundTo()).to.deep.equal(['e2']);
      scheduler.pass(10 * SECOND);
      expect(boundTo()).to.deep.equal(['e1']);
    });

    it('once in a cool-down for one task, however many there are that refuse it', () => {
      for (let index = 2; index <= 12; index++) scheduler.connect(`e${index}`);
      /** How many are bound, where whoever is offered it refuses it. */
      const refuse = (first: Output): number => {
        let boundCount = 0;
        for (let out = first; ; ) {
          boundCount += told(out).filter((kind) => kind === 'booking.bound').length;
          const { state, executorId } = scheduler.task('push');
          if (state !== 'offered' || executorId === null) return boundCount;
          out = scheduler.reject(executorId);
        }
      };
      expect(refuse(passTo(FROM))).to.equal(1);
      const had = boundTo();
      for (let second = 1; second < 10; second++)
        expect(refuse(scheduler.pass(SECOND))).to.equal(0);
      expect(boundTo()).to.deep.equal(had);
      let boundCount = 0;
      for (let second = 0; second < 60; second++) boundCount += refuse(scheduler.pass(SECOND));
      expect(boundCount).to.be.within(6, 14);
    });

    it('by a third once that time has passed for the second, which refused it a little later', () => {
      scheduler.connect('e2');
      scheduler.connect('e3');
      passTo(FROM);
      // Executors are looked at every five seconds as well: that is not to hide it.
      const after = (ms: number) => passTo(FROM + 2 * SECOND + ms);
      after(0);
      scheduler.reject('e1');
      // What it does itself once it has cooled down is not to hide it either.
      scheduler.disconnect('e1');
      after(3_100);
      scheduler.reject('e2');
      const { coolDownMs } = scheduler.state.policy;
      after(coolDownMs - 1);
      expect(boundTo()).to.deep.equal(['e2']);
      after(coolDownMs);
      expect(boundTo()).to.deep.equal(['e3']);
      expect(scheduler.task('push').executorId).to.equal('e3');
    });

    it('without an end of what others run', () => {
      set({ preemptible: true });
      scheduler.connect('e2');
      scheduler.run('e2', { id: 'endless' });
      passTo(FROM);
      expect(ended(scheduler.reject('e1'))).to.deep.equal([]);
      expect(boundTo()).to.deep.equal(['e1']);
    });
  });

  it('is kept for the booking that names it once another has somebody else', () => {
    scheduler.connect('x');
    book();
    passTo(FROM - 10 * MINUTE);
    scheduler.connect('y');
    scheduler.run('y', { id: 'long' });
    book({ id: 'named', requires: ['executor:x'], firstFrom: FROM + 5 * MINUTE });
    passTo(FROM);
    scheduler.submit({ id: 'endless' });
    expect(boundTo()).to.deep.equal([]);
    expect(offers(scheduler.end('y'))).to.deep.equal([]);
    expect(boundTo()).to.deep.equal(['y']);
    expect(scheduler.executor('x').keptUntil).to.equal(FROM + 5 * MINUTE - 30 * SECOND);
  });

  it('stays kept while somebody says how many executors of another type there are', () => {
    scheduler.connect('x', { types: ['echo', 'other'] });
    scheduler.connect('y');
    book({ count: 2 });
    passTo(FROM - 10 * MINUTE);
    const change = {
      type: 'typeSet',
      name: 'other',
      text: '{"capacity":2}',
      expect: null,
    } as const;
    scheduler.command(change);
    expect(offers(scheduler.submit({ id: 'endless' }))).to.deep.equal([]);
    passTo(FROM);
    expect(boundTo().sort()).to.deep.equal(['x', 'y']);
  });

  it('is another one where one that was kept has started too late', () => {
    for (const id of ['x', 'y']) scheduler.connect(id);
    book();
    passTo(FROM - 2 * MINUTE);
    expect(scheduler.executor('x').keptUntil).to.equal(FROM - 30 * SECOND);
    const { cancelGraceMs } = scheduler.state.policy;
    const executionTimeoutMs = 90 * SECOND - cancelGraceMs;
    scheduler.submit({ id: 'just', requires: ['executor:x'], executionTimeoutMs });
    expect(scheduler.executor('x').occupation).to.not.equal(null);
    scheduler.pass(SECOND);
    scheduler.accept('x');
    expect(scheduler.executor('x').keptUntil).to.equal(null);
    expect(scheduler.executor('y').keptUntil).to.equal(FROM - 30 * SECOND);
  });

  it('is another one where one that was kept does not answer an offer', () => {
    for (const id of ['x', 'y']) scheduler.connect(id);
    book();
    passTo(FROM - 5 * MINUTE);
    scheduler.run('y', { id: 'other', requires: ['executor:y'] });
    scheduler.pass(SECOND);
    const just = { executionTimeoutMs: MINUTE, assignTimeoutMs: 5 * SECOND };
    scheduler.submit({ id: 'just', ...just });
    expect(scheduler.task('just').executorId).to.equal('x');
    scheduler.end('y');
    expect(scheduler.executor('x').keptUntil).to.equal(FROM - 30 * SECOND);
    scheduler.pass(5 * SECOND);
    expect(scheduler.executor('x').occupation).to.not.equal(null);
    expect(scheduler.executor('x').keptUntil).to.equal(null);
    expect(scheduler.executor('y').keptUntil).to.equal(FROM - 30 * SECOND);
  });

  it('is kept at once for another, where who was kept serves one that is bound earlier', () => {
    for (const id of ['e1', 'e3']) scheduler.connect(id, { labels: ['gpu'] });
    const leadMs = 10 * MINUTE;
    book({ id: 'late', firstFrom: FROM + 15 * MINUTE, holdMs: HOUR });
    const able = { requires: ['gpu'], firstFrom: FROM + 20 * MINUTE, holdMs: HOUR, leadMs };
    expect(book({ id: 'early', ...able })?.kind).to.equal('done');
    scheduler.run('e3', { id: 'other', requires: ['executor:e3'] });
    scheduler.connect('e2');
    scheduler.submit({ id: 'endless', runAt: FROM - 40 * MINUTE });
    passTo(FROM - 40 * MINUTE - SECOND);
    expect(scheduler.executor('e1').keptUntil).to.equal(FROM + 14.5 * MINUTE);
    scheduler.now += SECOND;
    expect(offers(scheduler.send({ type: 'ticked' }))).to.deep.equal([]);
    expect(scheduler.executor('e1').keptUntil).to.equal(FROM + 10 * MINUTE);
    expect(scheduler.executor('e2').keptUntil).to.equal(FROM + 14.5 * MINUTE);
  });

  it('is who has a task of a window that ends as this one begins', () => {
    scheduler.connect('e1');
    book();
    book({ id: 'next', firstFrom: FROM + 10 * MINUTE });
    scheduler.submit({ id: 'push', booking: 'bk-1' });
    passTo(FROM);
    scheduler.accept('e1');
    const out = passTo(FROM + 10 * MINUTE);
    expect(ended(out)).to.deep.equal(['push booking_end']);
    expect(told(out)).to.not.include('booking.short');
    expect(boundTo('next')).to.deep.equal(['e1']);
    scheduler.submit({ id: 'second', booking: 'next' });
    expect(offers(scheduler.end('e1', { outcome: 'canceled' }))).to.deep.equal(['second']);
  });

  describe('has its part of what may run', () => {
    const IDS = ['e1', 'e2', 'e3', 'e4'];
    /** Two tasks of a booking that is over go on; another of two is about to begin. */
    const overrun = () => {
      for (const id of IDS) scheduler.connect(id);
      book({ count: 2, mayOverrun: true });
      book({ id: 'next', count: 2, firstFrom: FROM + 20 * MINUTE });
      scheduler.submit({ id: 'one', booking: 'bk-1' }, { id: 'two', booking: 'bk-1' });
      passTo(FROM);
      for (const id of boundTo()) scheduler.accept(id);
      passTo(FROM + 10 * MINUTE);
      expect(booking().state).to.equal('ended');
    };
    const begins = () => {
      const out = passTo(FROM + 20 * MINUTE - 30 * SECOND);
      expect(ended(out)).to.have.members(['one booking_end', 'two booking_end']);
      for (const id of IDS) {
        if (scheduler.executor(id).occupation) scheduler.end(id, { outcome: 'canceled' });
      }
      scheduler.submit({ id: 'three', booking: 'next' }, { id: 'four', booking: 'next' });
      expect(offers(passTo(FROM + 20 * MINUTE))).to.have.members(['three', 'four']);
    };

    it('of its type, though others go on after their window', () => {
      set({ limits: { max_running: 2 } });
      overrun();
      begins();
    });

    it('of all, though others go on after their window', () => {
      overrun();
      const { settings } = scheduler.state;
      scheduler.command({ type: 'settingsChanged', ...settings, paused: null, maxRunning: 2 });
      begins();
    });
  });
});
