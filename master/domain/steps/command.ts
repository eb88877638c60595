/** What operators and clients ask of one task. */
import { announceTasks } from '../booking/announce.ts';
import { isWritten, taskDeleted, taskReopened } from '../changes.ts';
import type { Event } from '../events.ts';
import { tellTask } from '../feed/tell.ts';
import type { CommandOutcome, Output } from '../effects.ts';
import { bookedAgain, countBooked } from '../booking/tasks.ts';
import { runBegan } from '../jobs/activity.ts';
import { enqueue } from '../queue/waiting.ts';
import type { State } from '../state/state.ts';
import { isTerminal, type Task } from '../model/task.ts';
import { changeRequested } from '../operators/change.ts';
import { moveRequested } from '../operators/move.ts';
import { resumeRequested, suspendRequested } from '../operators/suspend.ts';
import { cancelRequested } from './cancel.ts';
import { newRun, refusalOf } from './submit.ts';

type OnTask = Extract<
  Event,
  {
    type:
      | 'cancelRequested'
      | 'retryRequested'
      | 'changeRequested'
      | 'deleteRequested'
      | 'suspendRequested'
      | 'taskResumeRequested'
      | 'moveRequested';
  }
>;

/** What is asked of a task, whichever it is. */
type OfAnyTask<E> = E extends OnTask ? Omit<E, 'request' | 'taskId' | 'task'> : never;
type TaskCommand = OfAnyTask<OnTask>;

export const NO_TASK: CommandOutcome = { kind: 'unknown', message: 'no such task' };

/**
 * A command on a task: with the one in memory, else with its row, which is asked for first; then
 * the answer comes when the event does so again.
 */
export function onTask(state: State, event: OnTask, now: number, out: Output): void {
  const held = state.tasks.get(event.taskId);
  const { task: stored } = event;
  const isUnread = held === undefined && stored === undefined;
  if (isUnread || (event.type === 'moveRequested' && event.edge === undefined)) {
    out.loads.push({ type: 'task', event });
    return;
  }
  const task = held ?? stored ?? null;
  // What names a version sees what was committed: of two in one turn the second comes again after the first.
  if (task !== null && event.type === 'changeRequested' && isWritten(out.changes, task)) {
    const { task: _, ...again } = event;
    out.loads.push({ type: 'task', event: again });
    return;
  }
  const isMeant = task !== null && isOnly(event, task);
  const reply = isMeant ? act(state, event, task, now, out) : NO_TASK;
  out.effects.push({ type: 'reply', request: event.request, reply });
}

/** An id may be another task's by now, and a task of another group. */
function isOnly({ only }: Event, { seq, user: { group } }: Task): boolean {
  return only === undefined || (only.seq === seq && only.group === group);
}

/** Of a task in memory, or as its row is now. */
export function act(
  state: State,
  event: TaskCommand,
  task: Task,
  now: number,
  out: Output,
): CommandOutcome {
  switch (event.type) {
    case 'cancelRequested':
      return cancelRequested(state, task, now, out);
    case 'retryRequested':
      return retryRequested(state, event, task, now, out);
    case 'changeRequested':
      return changeRequested(state, event, task, now, out);
    case 'deleteRequested':
      return deleteRequested(state, event, task, now, out);
    case 'suspendRequested':
      return suspendRequested(state, event, task, now, out);
    case 'taskResumeRequested':
      return resumeRequested(state, task, now, out);
    case 'moveRequested':
      return moveRequested(state, event, task, now, out);
  }
}

/** Runs a terminal task again: a new run under the same id, with all its attempts. */
function retryRequested(
  state: State,
  event: Pick<Extract<Event, { type: 'retryRequested' | 'deleteRequested' }>, 'notification'>,
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
  const placed = bookedAgain(state, task, now);
  if (placed.kind !== 'fits') return placed;
  const { dueAt, deadlineAt } = placed.task;
  if (task.booking !== null && deadlineAt !== null && deadlineAt <= dueAt) {
    const message = 'the deadline of the task is before the next window of its booking';
    return { kind: 'conflict', message };
  }
  // Its checkpoint stays: what an earlier run has finished need not be done again.
  const again = newRun(placed.task, task.booking === null ? now : dueAt);
  const refusal = refusalOf(state, again, out);
  if (refusal !== null) return refusal;
  // Its callback goes with the history row.
  state.notifying.abandon({ taskSeq: task.seq, finishedAt });
  if (event.notification) state.notifications.remove(event.notification);
  out.changes.push(...taskReopened(again, { finishedAt, retention }));
  runBegan(state, again, out);
  if (again.booking !== null) countBooked(state, again.booking, 1);
  tellTask(state, out, 'task.retried', again, now);
  enqueue(state, again, now, out);
  announceTasks(state, [again.id], again.booking, now, out);
  return { kind: 'done' };
}

/** Nothing is left of a task that has ended, and its id is free. */
function deleteRequested(
  state: State,
  {
    notification,
  }: Pick<Extract<Event, { type: 'retryRequested' | 'deleteRequested' }>, 'notification'>,
  task: Task,
  now: number,
  out: Output,
): CommandOutcome {
  const { finishedAt, retention } = task;
  if (!isTerminal(task.state) || finishedAt === null || retention === null) {
    const message = `the task is ${task.state}: cancel it first, only an ended task can be deleted`;
    return { kind: 'conflict', message };
  }
  // It is owed, and its row is all that there is of it.
  if (notification?.state === 'pending') {
    const message = 'its callback is pending: it is still to be delivered, or given up';
    return { kind: 'conflict', message };
  }
  const holder = holderOfLeftover(state, task.id);
  if (holder !== undefined) {
    const message = `executor ${holder} has not said yet that its last attempt is over`;
    return { kind: 'conflict', message };
  }
  out.changes.push(...taskDeleted(task, { finishedAt, retention }));
  tellTask(state, out, 'task.deleted', task, now);
  return { kind: 'done' };
}

/** Who may still run it: a task that came under its id would be taken for it. */
function holderOfLeftover({ leftovers }: State, taskId: string): string | undefined {
  for (const row of leftovers.values()) if (row.taskId === taskId) return row.executorId;
  return undefined;
}
