/**
 * A task is put before, or behind, all of its type that are due, whatever lane they wait in, also those that are held. It stands
 * there until it is queued anew: after a failure, with another priority or time, or in another run. `orderTime` stays
 * what it is. Whatever limits and pauses say of it holds.
 */
import { taskUpdated } from '../changes.ts';
import type { CommandOutcome, Output } from '../effects.ts';
import { tellTask } from '../feed/tell.ts';
import { isAtRest, type Task } from '../model/task.ts';
import { laneOf } from '../queue/lanes.ts';
import { dequeue, enqueue, setAside } from '../queue/waiting.ts';
import type { Position, QueueEnd } from '../queue/window.ts';
import type { State } from '../state/state.ts';

/** @param edge who is first, or last, of its type now; null: none of it is due. */
export function moveRequested(
  state: State,
  { to, edge = null }: { readonly to: QueueEnd; readonly edge?: Position | null },
  task: Task,
  now: number,
  out: Output,
): CommandOutcome {
  if (!isAtRest(task)) {
    const message = `the task is ${task.state}: only a waiting task can be put first or last`;
    return { kind: 'conflict', message };
  }
  const queueTime = edge === null ? task.queueTime : timeBeside(edge, to, task);
  if (queueTime === task.queueTime) return { kind: 'done' };
  // What came after it in its lane may be next.
  state.roused.add(laneOf(state, task));
  dequeue(state, task);
  task.queueTime = queueTime;
  out.changes.push(taskUpdated(task));
  tellTask(state, out, 'task.moved', task, now, { to });
  if (task.state === 'suspended') setAside(state, task, out);
  else enqueue(state, task, now, out);
  return { kind: 'done' };
}

/** The nearest place beyond the edge: other types are passed as far as it passes them. Its own, if it is beyond already. */
function timeBeside(edge: Position, to: QueueEnd, { queueTime, seq }: Task): number {
  if (to === 'first') return Math.min(queueTime, seq <= edge.seq ? edge.time : edge.time - 1);
  return Math.max(queueTime, seq >= edge.seq ? edge.time : edge.time + 1);
}
