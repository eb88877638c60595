/** Time in which nothing could be started is given back to the tasks that are to be started by some instant. */
import { WATCH_COUNT_MAX } from '../bounds.ts';
import type { Output } from '../effects.ts';
import { type Absence, creditOf, type Since } from '../model/pause.ts';
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
  const besides = [...pausesOfSome(state, of?.scope === 'type')];
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

/** `isOfType`: as far as tasks of one type may have more than that of their type. */
function* pausesOfSome({ pauses, types }: State, isOfType: boolean): Generator<Since> {
  for (const { scope, value, at } of pauses.values()) {
    if (scope !== 'all') yield { scope, value, at };
  }
  if (isOfType) return;
  for (const { type: value, paused } of types.values()) {
    if (paused !== null) yield { scope: 'type', value, at: paused.at };
  }
}

/** The timers of limits that have moved, some in each tick: there may be a hundred thousand. */
export function watchMoved(state: State): void {
  for (const task of state.unwatched.splice(-WATCH_COUNT_MAX)) {
    if (state.tasks.get(task.id) === task) watchLimits(state, task);
  }
}
