/**
 * Rows arrive from the store. They were read while nothing was stepped and all was committed, so
 * a row of a task that is in memory says nothing new, and any other is exact.
 */
import type { Event } from '../events.ts';
import type { Output } from '../effects.ts';
import { gateKeyOf, settle } from '../limits/places.ts';
import { admitHeld, place } from '../queue/waiting.ts';
import type { State } from '../state/state.ts';
import { isAtRest, isTerminal, type Task } from '../model/task.ts';
import { settleOverdue } from './finish.ts';

type TasksLoaded = Extract<
  Event,
  { type: 'lanesLoaded' | 'heldLoaded' | 'delayedLoaded' | 'overdueLoaded' }
>;

export function tasksLoaded(state: State, event: TasksLoaded, now: number, out: Output): void {
  switch (event.type) {
    case 'lanesLoaded':
      return lanesLoaded(state, event, now, out);
    case 'heldLoaded':
      return heldLoaded(state, event, now, out);
    case 'delayedLoaded':
      return delayedLoaded(state, event, now, out);
    case 'overdueLoaded':
      return overdueLoaded(state, event, now, out);
  }
}

/** A page of the tasks that are due, of each lane: all are there before the first is offered. */
function lanesLoaded(
  state: State,
  event: Extract<Event, { type: 'lanesLoaded' }>,
  now: number,
  out: Output,
): void {
  for (const { lane: key, tasks, complete } of event.pages) {
    const lane = state.lanes.get(key);
    if (lane === undefined) continue;
    lane.loading = false;
    lane.ready.extend(tasks, complete);
    lane.storedDueAt = null;
    takeIn(state, tasks, now, out);
    // Also when the page brought nothing: executors may have waited for it.
    state.roused.add(lane);
  }
}

/** Those of whom there is a place in their gate; where the gate is not theirs any more, all of it, page by page. */
function heldLoaded(
  state: State,
  event: Extract<Event, { type: 'heldLoaded' }>,
  now: number,
  out: Output,
): void {
  state.loading.delete('held');
  // Before one page lets go those whom the gate of another may hold then.
  for (const { gate: key, tasks, complete } of event.pages) {
    const gate = state.gates.get(key);
    // Rows that cannot be read are not asked for again.
    if (gate !== undefined && complete) gate.heldCount = tasks.length;
  }
  for (const { gate: key, tasks } of event.pages) {
    const gate = state.gates.get(key);
    if (gate === undefined) continue;
    const [first] = tasks;
    if (first !== undefined) {
      gate.type = first.type;
      gate.isStale = gateKeyOf(state, first) !== key;
    }
    for (const task of tasks) admitHeld(state, task, now, out);
    if (state.gates.get(key) === gate) settle(state, gate);
  }
}

/** A page of the tasks that are not due yet. */
function delayedLoaded(
  state: State,
  event: Extract<Event, { type: 'delayedLoaded' }>,
  now: number,
  out: Output,
): void {
  state.loading.delete('delayed');
  state.delayed.extend(event.tasks, event.complete);
  takeIn(state, event.tasks, now, out);
  askForDelayed(state, out);
}

/** A page of waiting tasks whose deadline, or start limit, has passed. */
function overdueLoaded(
  state: State,
  event: Extract<Event, { type: 'overdueLoaded' }>,
  now: number,
  out: Output,
): void {
  let doneCount = 0;
  for (const task of event.tasks) {
    const held = state.tasks.get(task.id) ?? task;
    if (!isAtRest(held)) continue;
    settleOverdue(state, held, now, out);
    if (isTerminal(held.state)) doneCount += 1;
  }
  const foundCount = event.tasks.length;
  out.observed.push({ event: 'overdue_swept', foundCount, doneCount });
  // A turn of its own: what has come meanwhile is stepped in between.
  state.overdue.cursor = event.next;
  if (event.next !== null) {
    out.loads.push({ type: 'overdue' });
    return;
  }
  state.loading.delete('overdue');
  // If none is hidden, every task that waits is in memory, and has a timer.
  state.overdue.isNeeded = state.waitingCount + state.suspendedCount > state.windowCount;
}

/** Asks for the next page when little is left. */
export function askForDelayed(state: State, out: Output): void {
  const { delayed, policy } = state;
  if (state.loading.has('delayed') || !delayed.runsLow(policy.pageCount)) return;
  state.loading.add('delayed');
  out.loads.push({ type: 'delayed' });
}

function takeIn(state: State, tasks: readonly Task[], now: number, out: Output): void {
  for (const task of tasks) {
    if (state.tasks.has(task.id)) continue;
    place(state, task, now, out);
  }
}
