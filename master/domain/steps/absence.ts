/** Time in which nothing could be started is given back to the tasks that are to be started by some instant. */
import { WATCH_COUNT_MAX } from '../bounds.ts';
import { type Absence, isCredited } from '../changes.ts';
import type { Output } from '../effects.ts';
import { startByAfter } from '../model/task.ts';
import { watchLimits } from '../queue/waiting.ts';
import { pausedTypes, startClock, type State } from '../state/state.ts';

/** A master says at least once a second that it is there: a longer gap is an absence. */
export const ABSENCE_MS_MIN = 3_000;

/**
 * No master was there, or its process stood still, or nothing was to be offered. Once each time: the
 * rows follow in the same commit. What was so in a pause is credited when that ends.
 */
export function creditAbsence(state: State, from: number, to: number, out: Output): void {
  const until = startClock(state, to);
  const except = pausedTypes(state);
  const ofTypes = except.map((type) => ({ from, until: startClock(state, to, type), type }));
  credit(state, [{ from, until, ...(except.length > 0 && { except }) }, ...ofTypes], out);
}

/** Nothing of this type was to be offered. What was so in a pause of all types is credited when that ends. */
export function creditPause(
  state: State,
  type: string,
  from: number,
  to: number,
  out: Output,
): void {
  credit(state, [{ from, until: startClock(state, to, type), type }], out);
}

/** At most one of them is of a type. One look at what is in memory: its timers follow in the ticks. */
function credit(state: State, all: readonly Absence[], out: Output): void {
  const absences = all.filter(({ from, until }) => until > from);
  const ofAll = absences.find(({ type }) => type === undefined);
  const ofTypes = new Map(absences.map((absence) => [absence.type, absence]));
  let isLimited = state.waitingCount > 0;
  for (const task of state.tasks.values()) {
    if (task.startBy === null) continue;
    const absence = ofTypes.get(task.type) ?? ofAll;
    if (absence === undefined || !isCredited(absence, task)) continue;
    isLimited = true;
    task.startBy = startByAfter(task, absence.from, absence.until);
    if (task.startBy !== null) state.unwatched.push(task);
  }
  if (!isLimited) return;
  for (const absence of absences) out.changes.push({ op: 'credit', absence });
}

/** The timers of limits that have moved, some in each tick: there may be a hundred thousand. */
export function watchMoved(state: State): void {
  for (const task of state.unwatched.splice(-WATCH_COUNT_MAX)) {
    if (state.tasks.get(task.id) === task) watchLimits(state, task);
  }
}
