/** Bookings for people, with what memory knows of them beside their rows. */
import type { Booking } from '../booking/booking.ts';
import type { State } from '../state/state.ts';

export interface SeenBooking {
  readonly booking: Booking;
  /** Executors that it should have bound by now, and has not. */
  readonly shortCount: number;
  /** Its tasks that have not ended. */
  readonly taskCount: number;
}

/** All of them, in no order. */
export function seenBookings({ bookings }: State): SeenBooking[] {
  return [...bookings.byId.values()].map((booking) => ({
    booking,
    shortCount: bookings.active.get(booking.id)?.shortCount ?? 0,
    taskCount: bookings.taskCounts.get(booking.id) ?? 0,
  }));
}
