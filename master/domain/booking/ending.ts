/** Tasks that wait for a booking end with it: some in each turn. */
import type { Output } from '../effects.ts';
import type { BookedPage } from './booking.ts';
import { isAtRest } from '../model/task.ts';
import type { State } from '../state/state.ts';
import { finish } from '../steps/finish.ts';
import { rouse } from '../steps/occupation.ts';
import { putBooking } from './rows.ts';

/** Its tasks that are to end and wait, page by page. */
export function askForBooked(id: string, out: Output): void {
  out.loads.push({ type: 'booked', booking: id });
}

/** They end with it. */
export function endBooked(
  state: State,
  { booking: id, tasks, complete }: BookedPage,
  now: number,
  out: Output,
): void {
  const booking = state.bookings.byId.get(id);
  if (booking === undefined || booking.endingBefore === null) return;
  for (const row of tasks) {
    const task = state.tasks.get(row.id) ?? row;
    if (isAtRest(task)) finish(state, task, 'canceled', null, now, out);
  }
  if (!complete) return askForBooked(id, out);
  const left = state.bookings.byId.get(id) ?? booking;
  putBooking(state, { ...left, endingBefore: null }, out);
  // Who was asked looked past so many of them only.
  for (const { executorId } of left.executors) {
    const executor = state.executors.get(executorId);
    if (executor !== undefined) rouse(state, executor);
  }
}
