/** Time in which nothing could be started is given back to the tasks that are to be started by some instant. */
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
  credit(state, { from, until, ...(except.length > 0 && { except }) }, out);
  for (const type of except) credit(state, { from, until: startClock(state, to, type), type }, out);
}

/** Nothing of this type was to be offered. What was so in a pause of all types is credited when that ends. */
export function creditPause(
  state: State,
  type: string,
  from: number,
  to: number,
  out: Output,
): void {
  credit(state, { from, until: startClock(state, to), type }, out);
}

function credit(state: State, absence: Absence, out: Output): void {
  const { from, until } = absence;
  if (until <= from) return;
  let isLimited = state.waitingCount > 0;
  for (const task of state.tasks.values()) {
    if (task.startBy === null || !isCredited(absence, task)) continue;
    isLimited = true;
    task.startBy = startByAfter(task, from, until);
    watchLimits(state, task);
  }
  if (!isLimited) return;
  out.changes.push({ op: 'credit', absence });
}
