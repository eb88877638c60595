/** Executors are told which booking has them, and what of it waits: so they may get ready before its window. */
import type { AnnouncedBooking, Output } from '../effects.ts';
import type { Executor } from '../model/executor.ts';
import type { State } from '../state/state.ts';
import type { Booking } from './booking.ts';
import { ANNOUNCED_COUNT_MAX, ANNOUNCED_LENGTH_MAX } from './booking-bounds.ts';

/** It is bound, or no more, or has come back and may not know. Maintenance asks nothing of it. */
export function announce(state: State, executor: Executor, out: Output): void {
  announceTo(state, [executor], state.bookings.boundTo.get(executor.id) ?? null, out);
}

/** The same of all that it has bound at once: what they are told is put together once. */
export function announceTo(
  state: State,
  executors: readonly Executor[],
  bookingId: string | null,
  out: Output,
): void {
  const booking = state.bookings.byId.get(bookingId ?? '');
  const isTold = booking !== undefined && !booking.isMaintenance;
  const announced = isTold ? announcedOf(state, booking) : null;
  for (const executor of executors) send(executor, announced, out);
}

/** More of its tasks wait: those that are to run them know what they are, if it is early enough. */
export function announceTasks(
  state: State,
  taskIds: readonly string[],
  bookingId: string | null,
  now: number,
  out: Output,
): void {
  const booking = state.bookings.byId.get(bookingId ?? '');
  if (booking === undefined || booking.state !== 'bound' || booking.from <= now) return;
  const announced = announcedOf(state, booking);
  if (!announced.tasks.some(({ id }) => taskIds.includes(id))) return;
  for (const { executorId } of booking.executors) {
    const executor = state.executors.get(executorId);
    if (executor !== undefined) send(executor, announced, out);
  }
}

function send({ sessionId }: Executor, booking: AnnouncedBooking | null, out: Output): void {
  if (sessionId === null) return;
  const command = { type: 'booking', booking } as const;
  out.effects.push({ type: 'sendToExecutor', sessionId, command });
}

/** Those that are in memory and not due yet, in the order in which they are. */
function announcedOf(
  { delayed, bookings }: State,
  { id, type, from, to }: Booking,
): AnnouncedBooking {
  const tasks: { id: string; params: string }[] = [];
  const countMax = Math.min(ANNOUNCED_COUNT_MAX, bookings.taskCounts.get(id) ?? 0);
  let length = 0;
  // Of many bookings at once each would look through all that is not due: no further than it has tasks.
  if (countMax > 0) {
    for (const task of delayed) {
      if (task.dueAt >= to) break;
      if (task.booking !== id) continue;
      length += task.params.length;
      if (length > ANNOUNCED_LENGTH_MAX) break;
      tasks.push({ id: task.id, params: task.params });
      if (tasks.length === countMax) break;
    }
  }
  return { id, type, from, to, tasks };
}
