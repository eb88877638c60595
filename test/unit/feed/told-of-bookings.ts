/** All that is told of bookings, by a scheduler that books. */
import type { Output } from '../../../master/domain/effects.ts';
import type { Scheduler } from '../../helpers/domain.ts';

/** One is bound and short, one at risk for a while, and one is skipped and canceled. */
export function ofBookings(scheduler: Scheduler): Output[] {
  const outs: Output[] = [];
  const type = 'booked';
  const lengths = { leadMs: 30_000, holdMs: 60_000, windowMs: 600_000 };
  const plain = { requires: [], labels: [], group: 'g', count: 1, zone: null, createdBy: null };
  const book = (id: string, inMs: number, everyMs: number | null) => {
    const firstFrom = scheduler.now + inMs;
    const rule = { firstFrom, everyMs, mayOverrun: false, isMaintenance: false };
    const booking = { ...plain, ...lengths, ...rule, id, type };
    outs.push(scheduler.command({ type: 'bookingRequested', booking }));
    return firstFrom;
  };
  outs.push(scheduler.connect('b', { types: [type] }));
  const hourMs = 3_600_000;
  book('bk-1', 60_000, null);
  book('bk-2', 4 * hourMs, null);
  const from = book('bk-3', 5 * hourMs, hourMs);
  const of = { bookingId: 'bk-3', groups: null };
  outs.push(scheduler.command({ type: 'bookingSkipped', ...of, from }));
  outs.push(scheduler.command({ type: 'bookingCanceled', ...of }));
  outs.push(scheduler.pass(40_000), scheduler.disconnect('b'));
  for (let minute = 0; minute < 15; minute++) outs.push(scheduler.pass(60_000));
  outs.push(scheduler.connect('b', { types: [type] }), scheduler.pass(60_000));
  return outs;
}
