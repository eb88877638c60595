/**
 * Rows arrive from the store. They were read while nothing was stepped and all was committed, so
 * a row of a task that is in memory says nothing new, and any other is exact.
 */
import type { Event } from '../events.ts';
import type { Output } from '../effects.ts';
import { place } from '../queue/waiting.ts';
import type { State } from '../state/state.ts';
import { isTerminal, type Task } from '../model/task.ts';
import { settleOverdue } from './finish.ts';

/** A page of the tasks that are due, of each lane: all are there before the first is offered. */
export function lanesLoaded(
  state: State,
  event: Extract<Event, { type: 'lanesLoaded' }>,
  now: number,
): void {
  for (const { lane: key, tasks, complete } of event.pages) {
    const lane = state.lanes.get(key);
    if (lane === undefined) continue;
    lane.loading = false;
    lane.ready.extend(tasks, complete);
    takeIn(state, tasks, now);
    // Also when the page brought nothing: executors may have waited for it.
    state.roused.add(lane);
  }
}

/** A page of the tasks that are not due yet. */
export function delayedLoaded(
  state: State,
  event: Extract<Event, { type: 'delayedLoaded' }>,
  now: number,
  out: Output,
): void {
  state.delayedLoading = false;
  state.delayed.extend(event.tasks, event.complete);
  takeIn(state, event.tasks, now);
  askForDelayed(state, out);
}

/** A page of waiting tasks whose deadline, or start limit, has passed. */
export function overdueLoaded(
  state: State,
  event: Extract<Event, { type: 'overdueLoaded' }>,
  now: number,
  out: Output,
): void {
  let doneCount = 0;
  for (const task of event.tasks) {
    const held = state.tasks.get(task.id) ?? task;
    if (held.state !== 'waiting') continue;
    settleOverdue(state, held, now, out);
    if (isTerminal(held.state)) doneCount += 1;
  }
  const foundCount = event.tasks.length;
  out.effects.push({ type: 'observe', event: 'overdue_swept', foundCount, doneCount });
  // A turn of its own: what has come meanwhile is stepped in between.
  state.overdueCursor = event.next;
  state.overdueLoading = event.next !== null;
  if (event.next !== null) out.loads.push({ type: 'overdue' });
  // Else every task that waits is in memory, and has a timer.
  else state.overdueHidden = state.waitingCount > state.windowCount;
}

/** Asks for the next page when little is left. */
export function askForDelayed(state: State, out: Output): void {
  const { delayed, policy } = state;
  if (state.delayedLoading || !delayed.runsLow(policy.pageCount)) return;
  state.delayedLoading = true;
  out.loads.push({ type: 'delayed' });
}

function takeIn(state: State, tasks: readonly Task[], now: number): void {
  for (const task of tasks) {
    if (state.tasks.has(task.id)) continue;
    place(state, task, now);
  }
}
