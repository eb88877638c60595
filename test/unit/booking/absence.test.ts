/** Bookings after nobody looked for a while: an absence of the master, or a clock that was set. */
import { expect } from 'chai';
import type { Output } from '../../../master/domain/effects.ts';
import { asked, type Asked, bookingIn, FROM } from './asked.ts';
import { HOUR, MINUTE, Scheduler, SECOND } from '../../helpers/domain.ts';
import { noRows } from '../../helpers/task.ts';

describe('a booking after an absence', () => {
  let scheduler: Scheduler;
  const book = (fields: Partial<Asked> = {}) =>
    scheduler.command({ type: 'bookingRequested', booking: asked(fields) }).reply;
  const passTo = (at: number) => scheduler.pass(at - scheduler.now);
  const leapTo = (at: number) => {
    scheduler.now = at;
    return scheduler.send({ type: 'ticked' });
  };
  const booking = () => scheduler.state.bookings.byId.get('bk-1');
  const told = (out: Output) =>
    out.told.map(({ kind }) => kind).filter((kind) => kind.startsWith('booking.'));
  const booked = ({ loads }: Output) => loads.filter(({ type }) => type === 'booked');

  beforeEach(() => {
    scheduler = new Scheduler();
    scheduler.connect('e1');
  });

  it('ends once, however many of its windows have passed', () => {
    book({ everyMs: MINUTE, windowMs: 30 * SECOND, leadMs: SECOND });
    scheduler.submit({ id: 'push', booking: 'bk-1' });
    const out = leapTo(FROM + 48 * HOUR + 10 * SECOND);
    expect(told(out).filter((kind) => kind === 'booking.ended')).to.have.length(1);
    expect(booked(out)).to.have.length(1);
    expect(booking()).to.include({ from: FROM + 48 * HOUR, endingBefore: FROM + 48 * HOUR });
    expect(booking()?.windows).to.have.length(30);
    expect(booking()?.windows.at(-1)?.from).to.equal(FROM + 48 * HOUR + 29 * MINUTE);
  });

  it('asks for its tasks once, until it has read those that end with a window', () => {
    book({ everyMs: MINUTE, windowMs: 30 * SECOND, leadMs: SECOND });
    scheduler.submit({ id: 'push', booking: 'bk-1' });
    expect(booked(leapTo(FROM + 30 * SECOND))).to.have.length(1);
    expect(booked(leapTo(FROM + MINUTE + 30 * SECOND))).to.deep.equal([]);
    expect(booking()?.endingBefore).to.equal(FROM + 2 * MINUTE);
    scheduler.send({
      type: 'bookedLoaded',
      pages: [{ booking: 'bk-1', tasks: [scheduler.task('push')], complete: true }],
    });
    expect(booking()?.endingBefore).to.equal(null);
    scheduler.submit({ id: 'next', booking: 'bk-1' });
    expect(booked(leapTo(FROM + 2 * MINUTE + 30 * SECOND))).to.have.length(1);
  });

  it('ends what was offered before its window, by a clock that was set back', () => {
    book();
    passTo(FROM);
    scheduler.run('e1', { id: 'push', booking: 'bk-1' });
    const active = [{ ...scheduler.task('push'), offeredAt: FROM - SECOND }];
    const whole = { ...noRows, booking: [bookingIn(scheduler, 'bk-1')] };
    ({ scheduler } = Scheduler.restored({ active, whole, now: scheduler.now }));
    scheduler.now = FROM;
    scheduler.command({ type: 'bookingCanceled', bookingId: 'bk-1', groups: null });
    expect(scheduler.task('push').cancelReason).to.equal('booking_end');
  });

  describe('is given its time once more to be used', () => {
    /** The master is back then, with what its rows say, and so is the executor. */
    const returnAt = (at: number): void => {
      const row = booking();
      if (row === undefined) throw new Error('no booking');
      ({ scheduler } = Scheduler.restored({ whole: { ...noRows, booking: [row] }, now: at }));
      scheduler.now = at;
      scheduler.connect('e1');
      scheduler.pass(0);
    };
    const expectNoShowIn = (ms: number): void => {
      scheduler.pass(ms - SECOND);
      expect(booking()?.state).to.equal('bound');
      scheduler.pass(SECOND);
      expect(booking()?.state).to.equal('no_show');
    };

    it('where it was bound before', () => {
      book();
      passTo(FROM - 10 * SECOND);
      expect(booking()?.state).to.equal('bound');
      returnAt(FROM + 2 * MINUTE);
      expectNoShowIn(MINUTE);
    });

    it('where it was to be bound meanwhile', () => {
      book();
      passTo(FROM - MINUTE);
      returnAt(FROM + 2 * MINUTE);
      expectNoShowIn(MINUTE);
    });

    it('where the process stood still', () => {
      book();
      passTo(FROM - 10 * SECOND);
      scheduler.now = FROM + 2 * MINUTE;
      const hiddenMs = 130 * SECOND;
      scheduler.send({ type: 'stoodStill', hiddenMs });
      scheduler.send({ type: 'ticked', hiddenMs });
      expectNoShowIn(MINUTE);
    });
  });
});
