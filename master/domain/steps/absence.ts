/** Time in which nothing could be started is given back to the tasks that are to be started by some instant. */
import { WATCH_COUNT_MAX } from '../bounds.ts';
import type { Output } from '../effects.ts';
import { type Absence, creditOf, pausesOfSome } from '../model/pause.ts';
import { watchLimits } from '../queue/waiting.ts';
import { startClock, type State } from '../state/state.ts';

/** A master says at least once a second that it is there: a longer gap is an absence. */
export const ABSENCE_MS_MIN = 3_000;

/**
 * No master was there, or its process stood still, or nothing was to be offered: of any task, or of those that `of`
 * names. Once each time: the rows follow in the same commit. What was so in a pause that goes on is credited when that
 * ends. One look at what is in memory: its timers follow in the ticks.
 */
export function creditAbsence(
  state: State,
  from: number,
  to: number,
  out: Output,
  of?: NonNullable<Absence['of']>,
): void {
  // Of tasks of one type no other type's pause can be one.
  const types = of?.scope === 'type' ? [] : state.types.values();
  const besides = [...pausesOfSome(state.pauses.values(), types)];
  const until = startClock(state, to);
  if (until <= from) return;
  const absence = { from, until, ...(of && { of }), ...(besides.length > 0 && { besides }) };
  const credited = creditOf(absence);
  let isLimited = state.waitingCount > 0;
  for (const task of state.tasks.values()) {
    if (task.startBy === null) continue;
    const startBy = credited(task);
    if (startBy === task.startBy) continue;
    isLimited = true;
    task.startBy = startBy;
    if (startBy !== null) state.unwatched.push(task);
  }
  if (isLimited) out.changes.push({ op: 'credit', absence });
}

/** The timers of limits that have moved, some in each tick: there may be a hundred thousand. */
export function watchMoved(state: State): void {
  for (const task of state.unwatched.splice(-WATCH_COUNT_MAX)) {
    if (state.tasks.get(task.id) === task) watchLimits(state, task);
  }
}
