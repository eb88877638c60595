/** What is asked of bookings, in tests of the core. */
import type { Booking, BookingChange } from '../../../master/domain/booking/booking.ts';
import { withInstead } from '../../../master/domain/booking/refusal.ts';
import type { CommandOutcome } from '../../../master/domain/effects.ts';
import { atOnce } from '../../../master/domain/pieces.ts';
import { BEGIN, HOUR, MINUTE, type Scheduler, SECOND } from '../../helpers/domain.ts';

export type Asked = Extract<BookingChange, { type: 'bookingRequested' }>['booking'];

/** When the window begins that is booked unless a test says otherwise: for ten minutes. */
export const FROM = BEGIN + HOUR;

export function asked(fields: Partial<Asked> = {}): Asked {
  return {
    id: 'bk-1',
    type: 'echo',
    requires: [],
    labels: [],
    group: 'g',
    count: 1,
    leadMs: 30 * SECOND,
    holdMs: 15 * MINUTE,
    mayOverrun: false,
    everyMs: null,
    zone: null,
    isMaintenance: false,
    firstFrom: FROM,
    windowMs: 10 * MINUTE,
    createdBy: null,
    ...fields,
  };
}

/** As it is now; fails where there is none. */
export function bookingIn({ state }: Scheduler, id: string): Booking {
  const found = state.bookings.byId.get(id);
  if (found === undefined) throw new Error(`no booking ${id}`);
  return found;
}

/** What is answered in the end: where it has no room, with what else would fit. */
export function answerTo(scheduler: Scheduler, fields: Partial<Asked> = {}): CommandOutcome | null {
  const booking = asked(fields);
  const { reply } = scheduler.command({ type: 'bookingRequested', booking });
  return reply && atOnce(withInstead(scheduler.state, reply, scheduler.now));
}
