/** Bookings as a term begins: what their rows say, before anything is known of executors. */
import type { Output } from '../effects.ts';
import { bindsAt, type Booking, holdsFrom, isBookingOver } from './booking.ts';
import type { State } from '../state/state.ts';
import { GONE_MS } from './booking-bounds.ts';
import { enterPlan } from './planning.ts';
import { wakeAt } from './rows.ts';
import { activate } from './settle.ts';
import { askForBooked } from './due.ts';

/** Whose executors are: first of all, so that those that come are taken for what they are. */
export function recallBound(state: State, rows: readonly Booking[], now: number): void {
  const { bookings } = state;
  bookings.knownFrom = now + GONE_MS;
  const inOrder = [...rows].sort((a, b) => a.seq - b.seq);
  const over = inOrder.filter(isBookingOver).sort((a, b) => (a.endedAt ?? 0) - (b.endedAt ?? 0));
  for (const row of [...inOrder.filter((one) => !isBookingOver(one)), ...over]) {
    bookings.byId.set(row.id, row);
    if (isBookingOver(row)) bookings.over.add(row.id);
    for (const { executorId } of row.executors) bookings.boundTo.set(executorId, row.id);
  }
}

/** What else they were about: once it is known who waits and who runs. */
export function recallBookings(
  state: State,
  rows: readonly Booking[],
  now: number,
  out: Output,
): void {
  if (rows.length === 0) return;
  const { taskCounts } = state.bookings;
  const add = (id: string, count: number) => taskCounts.set(id, (taskCounts.get(id) ?? 0) + count);
  for (const { booking, waitingCount, suspendedCount } of state.kinds.values()) {
    if (booking !== null) add(booking, waitingCount + suspendedCount);
  }
  for (const { booking } of state.tasks.values()) if (booking !== null) add(booking, 1);
  for (const row of rows) {
    if (row.endingBefore !== null) askForBooked(row.id, out);
    if (isBookingOver(row)) continue;
    enterPlan(state, row);
    const graceUntil = now + state.policy.leaseMs;
    if (row.state === 'bound') activate(state, row, now, graceUntil);
    else if (holdsFrom(row) <= now && bindsAt(row) > now) activate(state, row, null);
    // The first tick finds what is due of it.
    wakeAt(state, row.id, now);
  }
}
