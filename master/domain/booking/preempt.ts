/** Tasks that are given back for a booking: for the executors that it lacks, and for its part of what may run. */
import type { Output } from '../effects.ts';
import type { Executor } from '../model/executor.ts';
import type { Task } from '../model/task.ts';
import { type Booking, isBookingOver } from './booking.ts';
import { bookedShortage } from '../limits/whole.ts';
import type { State } from '../state/state.ts';
import { beginEnding } from '../steps/cancel.ts';
import { currentTask } from '../steps/occupation.ts';

interface Held {
  readonly executor: Executor;
  readonly task: Task;
}

/** Executors of those whose task is given back, or has gone on after its own window: the newest first. */
export function preempt(
  state: State,
  among: readonly Executor[],
  countMax: number,
  now: number,
  out: Output,
): Executor[] {
  const found = heldBy(state, among).filter(({ task }) => {
    return (
      task.cancelReason === null && (isOverrun(state, task, now) || isPreemptible(state, task))
    );
  });
  const newest = newestFirst(found).slice(0, countMax);
  for (const { task } of newest) {
    beginEnding(state, task, task.booking === null ? 'preempted' : 'booking_end', now, out);
  }
  return newest.map(({ executor }) => executor);
}

/** What others run of its part of `max_running`, that is given back: the newest first. */
export function makeRoom(state: State, booking: Booking, now: number, out: Output): void {
  for (const { count, isOf } of bookedShortage(state, booking)) {
    if (count === 0) continue;
    const all = [...state.executors.values(), ...state.elders.values()];
    const held = heldBy(state, all).filter(({ task }) => task.booking === null && isOf(task));
    const endingCount = held.filter(({ task }) => task.cancelReason !== null).length;
    const found = held.filter(
      ({ task }) => task.cancelReason === null && isPreemptible(state, task),
    );
    for (const { task } of newestFirst(found).slice(0, Math.max(0, count - endingCount))) {
      beginEnding(state, task, 'preempted', now, out);
    }
  }
}

function heldBy(state: State, executors: readonly Executor[]): Held[] {
  return executors.flatMap((executor) => {
    const task = executor.occupation && currentTask(state, executor, executor.occupation);
    return task ? [{ executor, task }] : [];
  });
}

function isOverrun({ bookings }: State, { booking: id }: Task, now: number): boolean {
  if (id === null) return false;
  const booking = bookings.byId.get(id);
  return booking === undefined || isBookingOver(booking) || booking.from > now;
}

function isPreemptible({ types }: State, { booking, type }: Task): boolean {
  return booking === null && (types.get(type)?.isPreemptible ?? false);
}

function newestFirst<T extends Held>(held: T[]): T[] {
  const begun = ({ task }: Held) => task.startedAt ?? task.offeredAt ?? 0;
  return held.sort((a, b) => begun(b) - begun(a));
}
