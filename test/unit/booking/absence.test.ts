/** Bookings after nobody looked for a while: an absence of the master, or a clock that was set. */
import { expect } from 'chai';
import type { Output } from '../../../master/domain/effects.ts';
import { asked, type Asked, FROM } from './asked.ts';
import { HOUR, MINUTE, Scheduler, SECOND } from '../../helpers/domain.ts';

describe('a booking after an absence', () => {
  let scheduler: Scheduler;
  const book = (fields: Partial<Asked> = {}) =>
    scheduler.command({ type: 'bookingRequested', booking: asked(fields) }).reply;
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
});
