/** The row of a booking: written here alone. */
import type { Output } from '../effects.ts';
import type { Booking } from './booking.ts';
import type { State } from '../state/state.ts';

/** It is like this from now on. */
export function putBooking({ bookings }: State, given: Booking, { changes }: Output): Booking {
  const active = bookings.active.get(given.id);
  const ranMs = given.ranMs + (active?.unwrittenRanMs ?? 0);
  if (active !== undefined) active.unwrittenRanMs = 0;
  const row = ranMs === given.ranMs ? given : { ...given, ranMs };
  bookings.byId.set(row.id, row);
  changes.push({ op: 'put', table: 'booking', key: row.id, row });
  return row;
}

/** It is looked at again then; an earlier wish does not count any more. */
export function wakeAt({ bookings, deadlines }: State, id: string, at: number): void {
  if (bookings.wakes.get(id) === at) return;
  bookings.wakes.set(id, at);
  if (Number.isFinite(at)) deadlines.push({ at, kind: 'booking', booking: id });
}

/** For how long their tasks ran, where their rows do not say so yet. */
export function flushRan(state: State, out: Output): void {
  for (const { id, unwrittenRanMs } of state.bookings.active.values()) {
    const booking = state.bookings.byId.get(id);
    if (unwrittenRanMs > 0 && booking !== undefined) putBooking(state, booking, out);
  }
}
