/**
 * A task is suspended, and resumed. One that runs is told to end, as one that is canceled, and keeps its last
 * checkpoint; one that waits is set aside. Then no executor has it and nothing holds a place for it: it is a row. No time of its
 * own runs but its deadline. Resumed, it comes back to its place.
 */
import { isPastBooking } from '../booking/tasks.ts';
import { taskUpdated } from '../changes.ts';
import type { CommandOutcome, Output } from '../effects.ts';
import { tellTask } from '../feed/tell.ts';
import {
  type CancelReason,
  isTerminal,
  startLimitOf,
  type Suspension,
  type Task,
  waits,
} from '../model/task.ts';
import { laneOf } from '../queue/lanes.ts';
import { dequeue, enqueue } from '../queue/waiting.ts';
import type { State } from '../state/state.ts';
import { beginEnding } from '../steps/cancel.ts';
import { suspend } from '../steps/finish.ts';

/** Why it is about to end, whatever else is asked. */
const ENDING: readonly CancelReason[] = ['canceled', 'deadline', 'booking_end'];

export function suspendRequested(
  state: State,
  { by = null, reason = null }: Partial<Pick<Suspension, 'by' | 'reason'>>,
  task: Task,
  now: number,
  out: Output,
): CommandOutcome {
  const { cancelReason } = task;
  if (isTerminal(task.state))
    return { kind: 'conflict', message: `the task is ${task.state} already` };
  if (cancelReason === 'suspended')
    return { kind: 'conflict', message: 'the task is suspended already' };
  if (cancelReason !== null && ENDING.includes(cancelReason)) {
    return { kind: 'conflict', message: `the task is about to end: ${cancelReason}` };
  }
  task.suspension = { at: now, by, reason };
  if (waits(task)) {
    // What came after it in its lane may be next.
    state.roused.add(laneOf(state, task));
    suspend(state, task, now, out);
  } else beginEnding(state, task, 'suspended', now, out);
  return { kind: 'done' };
}

/** It waits again whatever else waits: it was accepted. */
export function resumeRequested(
  state: State,
  task: Task,
  now: number,
  out: Output,
): CommandOutcome {
  if (task.cancelReason !== 'suspended' || isTerminal(task.state)) {
    const message = `the task is ${task.state}: only a suspended task can be resumed`;
    return { kind: 'conflict', message };
  }
  if (task.state !== 'suspended') {
    // Its attempt is about to end: then it waits again, as one that is given back.
    task.cancelReason = 'drain';
    task.suspension = null;
    out.changes.push(taskUpdated(task));
    tellTask(state, out, 'task.resumed', task, now);
    return { kind: 'done' };
  }
  const dueAt = Math.max(task.dueAt, now);
  if (isPastBooking(state, task, dueAt)) {
    return { kind: 'conflict', message: `booking ${task.booking} is over: the task cannot start` };
  }
  dequeue(state, task);
  task.state = 'waiting';
  task.cancelRequestedAt = null;
  task.cancelReason = null;
  task.suspension = null;
  task.dueAt = dueAt;
  task.startBy = startLimitOf(task, dueAt);
  out.changes.push(taskUpdated(task));
  tellTask(state, out, 'task.resumed', task, now);
  enqueue(state, task, now, out);
  return { kind: 'done' };
}
