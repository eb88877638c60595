/** Tasks that are given back for a booking: for the executors that it lacks, and for its part of what may run. */
import type { Output } from '../effects.ts';
import { type Executor, isServing, type Occupation } from '../model/executor.ts';
import type { Task } from '../model/task.ts';
import type { Booking } from './booking.ts';
import { bookedShortage } from '../limits/whole.ts';
import type { State } from '../state/state.ts';
import { beginEnding } from '../steps/cancel.ts';
import { currentTask } from '../steps/occupation.ts';

export interface Held {
  readonly executor: Executor;
  readonly occupation: Occupation;
  readonly task: Task;
}

/** Those whose task is given back for a booking, or has gone on after its own window: the newest first. */
export function givingAmong(state: State, executors: readonly Executor[]): Held[] {
  const held = heldBy(state, executors.filter(isServing));
  return newestFirst(held.filter((one) => isOverrun(one) || isPreemptible(state, one.task)));
}

/**
 * Executors of those that give: first what is told to end already.
 * @param mayHave Whether the booking may have one more such executor.
 */
export function preempt(
  state: State,
  giving: readonly Held[],
  countMax: number,
  mayHave: (executor: Executor) => boolean,
  now: number,
  out: Output,
): Executor[] {
  const isEnding = ({ task }: Held) => task.cancelReason !== null;
  const taken: Executor[] = [];
  const take = (held: Held) => {
    if (taken.length === countMax || !mayHave(held.executor)) return;
    taken.push(held.executor);
    if (!isEnding(held)) end(state, held.task, now, out);
  };
  const toEnd = giving.filter((one) => !isEnding(one));
  for (const one of giving) if (isEnding(one) && isOverrun(one)) take(one);
  for (const one of toEnd) take(one);
  return taken;
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
