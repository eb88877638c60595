/** What operators and clients ask of one task. */
import { taskReopened, taskUpdated } from '../changes.ts';
import type { Event, RequestId } from '../events.ts';
import type { CommandOutcome, Output } from '../effects.ts';
import { displace, enqueue, place } from '../queue/waiting.ts';
import type { State } from '../state/state.ts';
import { isTerminal, startLimitOf, type Task, waits } from '../model/task.ts';
import { newRun, orderTimeOf, refusalOf } from './submit.ts';

const NO_TASK: CommandOutcome = { kind: 'unknown', message: 'no such task' };

/**
 * A command on a task: with the one in memory, else with its row, which is asked for first; then
 * the answer comes when the event does so again.
 */
export function onTask(
  state: State,
  event: Extract<Event, { readonly taskId: string; readonly request: RequestId }>,
  out: Output,
  act: (task: Task) => CommandOutcome,
): void {
  const held = state.tasks.get(event.taskId);
  const stored = 'task' in event ? event.task : undefined;
  if (held === undefined && stored === undefined) {
    out.loads.push({ type: 'task', event });
    return;
  }
  const task = held ?? stored ?? null;
  const reply = task === null ? NO_TASK : act(task);
  out.effects.push({ type: 'reply', request: event.request, reply });
}

/** Runs a terminal task again: a new run under the same id, with all its attempts. */
export function retryRequested(
  state: State,
  event: Extract<Event, { type: 'retryRequested' }>,
  task: Task,
  now: number,
  out: Output,
): CommandOutcome {
  const { finishedAt, retention } = task;
  if (!isTerminal(task.state) || finishedAt === null || retention === null) {
    return {
      kind: 'conflict',
      message: `the task is ${task.state}: only an ended task can be retried`,
    };
  }
  if (task.deadlineAt !== null && task.deadlineAt <= now) {
    return { kind: 'conflict', message: 'the deadline of the task has passed' };
  }
  const refusal = refusalOf(state, task, out);
  if (refusal !== null) return refusal;
  // Its checkpoint stays: what an earlier run has finished need not be done again.
  const again = newRun(task, now);
  // Its callback goes with the history row.
  state.notifying.abandon({ taskSeq: task.seq, finishedAt });
  if (event.notification) state.notifications.remove(event.notification);
  out.changes.push(...taskReopened(again, { finishedAt, retention }));
  enqueue(state, again, now, out);
  return { kind: 'done' };
}

/** A new priority, a new due time, or both; null leaves one as it is. */
export function changeRequested(
  state: State,
  event: Extract<Event, { type: 'changeRequested' }>,
  task: Task,
  now: number,
  out: Output,
): CommandOutcome {
  if (!waits(task)) {
    return {
      kind: 'conflict',
      message: `the task is ${task.state}: only a waiting task can be changed`,
    };
  }
  if (event.runAt !== null && task.deadlineAt !== null && event.runAt >= task.deadlineAt) {
    return { kind: 'conflict', message: 'run_at: the deadline of the task is not later than that' };
  }
  displace(state, task);
  let since = waitsSince(task);
  if (event.runAt !== null) {
    since = task.dueAt = Math.max(event.runAt, now);
    task.startBy = startLimitOf(task, task.dueAt);
  }
  if (event.priority !== null) task.priority = event.priority;
  task.orderTime = orderTimeOf(since, task.priority);
  out.changes.push(taskUpdated(task));
  place(state, task, now, out);
  return { kind: 'done' };
}

/**
 * From when on its head start counts. After a rejection or a loss `dueAt` is newer than its place
 * in the queue, which it has kept; after a failure `orderTime` is without the head start.
 */
function waitsSince(task: Task): number {
  const { submittedAt, dueAt, orderTime, priority } = task;
  return Math.max(submittedAt, Math.min(dueAt, orderTime + priority * 1000));
}
