/** Tasks that are given back for a booking: for the executors that it lacks, and for its part of what may run. */
import type { Output } from '../effects.ts';
import type { Executor, Occupation } from '../model/executor.ts';
import type { Task } from '../model/task.ts';
import type { Booking } from './booking.ts';
import { bookedShortage } from '../limits/whole.ts';
import type { State } from '../state/state.ts';
import { beginEnding } from '../steps/cancel.ts';
import { currentTask } from '../steps/occupation.ts';

interface Held {
  readonly executor: Executor;
  readonly occupation: Occupation;
  readonly task: Task;
}

/**
 * Executors of those whose task is given back, or has gone on after its own window: first what is told to end already,
 * then the newest.
 * @param mayHave Whether the plan lets the booking have one more such executor.
 */
export function preempt(
  state: State,
  among: readonly Executor[],
  countMax: number,
  mayHave: (executor: Executor) => boolean,
  now: number,
  out: Output,
): Executor[] {
  const found = heldBy(state, among).filter((held) => {
    return isOverrun(held) || (held.task.cancelReason === null && isPreemptible(state, held.task));
  });
  const isToEnd = ({ task }: Held) => Number(task.cancelReason === null);
  const taken: Held[] = [];
  for (const held of newestFirst(found).sort((a, b) => isToEnd(a) - isToEnd(b))) {
    if (taken.length === countMax) break;
    if (mayHave(held.executor)) taken.push(held);
  }
  for (const { task } of taken) if (task.cancelReason === null) end(state, task, now, out);
  return taken.map(({ executor }) => executor);
}

/** What others run of its part of `max_running`, and may be ended for it: the newest first. */
export function makeRoom(state: State, booking: Booking, now: number, out: Output): void {
  let all: Executor[] | null = null;
  for (const { count, isOf } of bookedShortage(state, booking)) {
    if (count === 0) continue;
    all ??= [...state.executors.values(), ...state.elders.values()];
    const others = all.filter(({ occupation }) => {
      return occupation !== null && occupation.booking === null && isOf(occupation);
    });
    const going = heldBy(state, others).filter(({ task }) => task.cancelReason === null);
    const found = going.filter((one) => isOverrun(one) || isPreemptible(state, one.task));
    // The others have been told to end, or are over for their task.
    const endingCount = others.length - going.length;
    for (const { task } of newestFirst(found).slice(0, Math.max(0, count - endingCount))) {
      end(state, task, now, out);
    }
  }
}

function end(state: State, task: Task, now: number, out: Output): void {
  beginEnding(state, task, task.booking === null ? 'preempted' : 'booking_end', now, out);
}

function heldBy(state: State, executors: readonly Executor[]): Held[] {
  return executors.flatMap((executor) => {
    const { occupation } = executor;
    const task = occupation && currentTask(state, executor, occupation);
    return task ? [{ executor, occupation, task }] : [];
  });
}

/** It goes on after its own window. */
function isOverrun({ task, occupation }: Held): boolean {
  return task.booking !== null && occupation.booking === null;
}

function isPreemptible({ types }: State, { booking, type }: Task): boolean {
  return booking === null && (types.get(type)?.isPreemptible ?? false);
}

function newestFirst<T extends Held>(held: T[]): T[] {
  const begun = ({ task }: Held) => task.startedAt ?? task.offeredAt ?? 0;
  return held.sort((a, b) => begun(b) - begun(a));
}
