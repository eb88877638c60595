/** Time in which nothing could be started is given back to the tasks that are to be started by some instant. */
import { WATCH_COUNT_MAX } from '../bounds.ts';
import type { Output } from '../effects.ts';
import { type Absence, creditOf, pausesOfSome, type Since } from '../model/pause.ts';
import type { Task } from '../model/task.ts';
import { lanesOf } from '../queue/lanes.ts';
import { watchLimits } from '../queue/waiting.ts';
import { startClock, type State } from '../state/state.ts';

/** A master says at least once a second that it is there: a longer gap is an absence. */
export const ABSENCE_MS_MIN = 3_000;

/**
 * No master was there, or its process stood still, or nothing was to be offered: of any task, or of those that `of`
 * names. Once each time: the rows follow in the same commit. What was so in a pause that goes on is credited when that
 * ends. One look at those in memory that it may concern: their timers follow in the ticks.
 */
export function creditAbsence(
  state: State,
  from: number,
  to: number,
  out: Output,
  of?: Since,
): void {
  // Of tasks of one type no other type's pause can be one.
  const types = of?.scope === 'type' ? [] : state.types.values();
  const besides = [...pausesOfSome(state.pauses.values(), types)];
  const until = startClock(state, to);
  if (until <= from) return;
  const absence: Absence = {
    from,
    until,
    ...(of && { of: [of] }),
    ...(besides.length > 0 && { besides }),
  };
  const credited = creditOf(absence);
  const credit = (task: Task): void => {
    if (task.startBy === null) return;
    const startBy = credited(task);
    if (startBy === task.startBy) return;
    isLimited = true;
    task.startBy = startBy;
    if (startBy !== null) state.unwatched.push(task);
  };
  let isLimited = of === undefined && state.waitingCount > 0;
  if (of === undefined) for (const task of state.tasks.values()) credit(task);
  else {
    for (const lane of lanesOf(state, of)) {
      // Rows wait there, whether they are in memory or not.
      isLimited ||= lane.waitingCount > 0;
      for (const task of lane.ready) credit(task);
    }
    for (const task of state.open.tasks()) credit(task);
    // What is not due yet is to be started by an instant that counts from then.
    for (const task of state.delayed) {
      if (task.dueAt >= until) break;
      credit(task);
    }
  }
  if (isLimited) out.changes.push({ op: 'credit', absence });
}

/** The timers of limits that have moved, some in each tick: there may be a hundred thousand. */
export function watchMoved(state: State): void {
  for (const task of state.unwatched.splice(-WATCH_COUNT_MAX)) {
    if (state.tasks.get(task.id) === task) watchLimits(state, task);
  }
}
