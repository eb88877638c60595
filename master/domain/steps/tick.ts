/** Time passes: whatever is due happens. The only place where time alone changes something. */
import type { Output } from '../effects.ts';
import type { Executor } from '../executor.ts';
import { FIRE_COUNT_MAX } from '../bounds.ts';
import type { Deadline, Entry } from '../queue/deadlines.ts';
import { releaseDue } from '../queue/waiting.ts';
import type { State } from '../state.ts';
import { type CancelReason, isTerminal, type Task } from '../task.ts';
import { coolDown } from './attempt.ts';
import { beginEnding, graceEnded } from './cancel.ts';
import { endAttempt, expire } from './finish.ts';
import { askForDelayed } from './load.ts';
import { sendDue } from './notify.ts';
import { currentTask, holderOf, isKnown, seen } from './occupation.ts';
import { leaseEnded } from './presence.ts';

/** The engine ticks at least once a second; a longer gap means that this process stood still. */
const STALL_MS = 3_000;
const OVERDUE_CHECK_MS = 5_000;

/** Everything that is due by `now`, in the order in which it became due. */
export function ticked(state: State, now: number, out: Output): void {
  const stood = now - state.lastTickAt > STALL_MS;
  state.lastTickAt = now;
  if (stood) {
    // Their heartbeats lie unread in the sockets: nobody is to blame for what was not read (I15).
    for (const executor of state.executors.values()) seen(executor, now);
  } else {
    fireDue(state, now, out);
  }
  state.deadlines.compact((entry) => live(state, entry) !== null);
  releaseDue(state, now);
  askForDelayed(state, out);
  sendDue(state, now, out);
  if (state.flushAt <= now) flush(state, out);
  if (state.overdueHidden && state.overdueCheckAt <= now) {
    state.overdueCheckAt = now + OVERDUE_CHECK_MS;
    out.loads.push({ type: 'overdue' });
  }
}

/** What is left over is due at once: the engine steps what else has come, and ticks again. */
function fireDue(state: State, now: number, out: Output): void {
  for (let count = 0; count < FIRE_COUNT_MAX; count++) {
    const due = state.deadlines.take(now);
    if (due === undefined) return;
    fire(state, due, now, out);
  }
}

/** Writes what was left for later: that attempts run, and how far they are. */
export function flush(state: State, out: Output): void {
  for (const task of state.unwritten) out.changes.push({ type: 'taskUpdated', task });
  state.unwritten.clear();
  state.flushAt = Number.POSITIVE_INFINITY;
}

/** With its task, or null if it can no longer apply. */
function live(state: State, entry: Entry): Deadline | null {
  if ('executor' in entry) {
    const { executor, kind, at } = entry;
    if (kind === 'drain' && executor.drainDeadlineAt !== at) return null;
    if (kind === 'lease' && executor.leaseCheckAt !== at) return null;
    return isKnown(state, executor) ? entry : null;
  }
  const task = state.tasks.get(entry.taskId);
  if (task === undefined || task.seq !== entry.taskSeq) return null;
  const { at, kind } = entry;
  if (kind === 'deadline') return task.deadlineAt === at ? { at, kind, task } : null;
  const { attempt } = entry;
  return isOpen(state, task, attempt) ? { at, kind, task, attempt } : null;
}

function isOpen(state: State, task: Task, attempt: number): boolean {
  return (
    task.attempt === attempt &&
    holderOf(state, task) !== undefined &&
    state.tasks.get(task.id) === task
  );
}

function fire(state: State, entry: Entry, now: number, out: Output): void {
  const due = live(state, entry);
  if (due === null) return;
  switch (due.kind) {
    case 'assign':
      if (due.task.state === 'offered') assignTimedOut(state, due.task, now, out);
      return;
    case 'execution':
      return beginEnding(state, due.task, 'execution_timeout', now, out);
    case 'stall':
      return checkStall(state, due.task, now, out);
    case 'grace':
      if (due.task.cancelReason !== null) graceEnded(state, due.task, now, out);
      return;
    case 'deadline':
      return deadlinePassed(state, due.task, now, out);
    case 'lease':
      return leaseEnded(state, due.executor, now, out);
    case 'drain':
      return endOccupation(state, due.executor, 'drain', now, out);
    case 'rested':
      if (state.pools.get(due.executor.poolKey)?.idle.has(due.executor)) {
        state.freed.add(due.executor);
      }
  }
}

/** No answer to the offer. The executor stays occupied until it says something about it. */
function assignTimedOut(state: State, task: Task, now: number, out: Output): void {
  const executor = holderOf(state, task);
  if (executor !== undefined) coolDown(state, executor, task, now);
  const error = { message: 'no answer to the assignment in time' };
  endAttempt(state, task, { outcome: 'assign_timeout', error }, now, out);
}

function checkStall(state: State, task: Task, now: number, out: Output): void {
  if (task.stallTimeoutMs === null || task.startedAt === null) return;
  const at = Math.max(task.progressAt ?? 0, task.startedAt) + task.stallTimeoutMs;
  if (at <= now) return beginEnding(state, task, 'stalled', now, out);
  state.deadlines.push({ at, kind: 'stall', task, attempt: task.attempt });
}

function deadlinePassed(state: State, task: Task, now: number, out: Output): void {
  if (isTerminal(task.state)) return;
  if (task.state === 'waiting') expire(state, task, now, out);
  else beginEnding(state, task, 'deadline', now, out);
}

function endOccupation(
  state: State,
  executor: Executor,
  reason: CancelReason,
  now: number,
  out: Output,
): void {
  if (executor.occupation === null) return;
  const task = currentTask(state, executor, executor.occupation);
  if (task !== null) beginEnding(state, task, reason, now, out);
}
