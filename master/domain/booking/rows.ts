/** The row of a booking: written here alone. */
import type { Output } from '../effects.ts';
import { bookedMs, type Booking } from './booking.ts';
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

/** Who has gone costs nothing from then on, until it is back or another has its place. */
export function withAbsences(
  state: State,
  booking: Booking,
  isAwaited: (id: string) => boolean,
  now: number,
  out: Output,
): Booking {
  let { replacedMs } = booking;
  let isOther = false;
  const executors = booking.executors.map((bound) => {
    const { executorId, goneAt } = bound;
    const isGone = !state.executors.has(executorId) && !isAwaited(executorId);
    if (isGone === (goneAt !== undefined)) return bound;
    isOther = true;
    if (isGone) return { ...bound, goneAt: now };
    replacedMs += bookedMs(booking, bound, now);
    return { executorId, since: now };
  });
  return isOther ? putBooking(state, { ...booking, executors, replacedMs }, out) : booking;
}
