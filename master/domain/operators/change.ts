/**
 * A task that waits is changed: all that a submit may say of it but its id and its type. It goes to the lane and the
 * gate that it belongs to from then on, behind whatever waits there by the same order.
 */
import { announceTasks } from '../booking/announce.ts';
import { taskChanged, taskUpdated } from '../changes.ts';
import { bookedStill } from '../booking/tasks.ts';
import type { CommandOutcome, Output } from '../effects.ts';
import type { Event, Seen, TaskChange } from '../events.ts';
import { tellTask } from '../feed/tell.ts';
import { isCrowded } from '../limits/places.ts';
import { fullGroup } from '../limits/quota.ts';
import { usesOfBoth } from '../model/shared-limit.ts';
import {
  isAtRest,
  KIND_LENGTH_MAX,
  kindKeyOf,
  startLimitOf,
  type Task,
  type TaskSpec,
} from '../model/task.ts';
import { crowdOf, laneOf } from '../queue/lanes.ts';
import { dequeue, enqueue, setAside } from '../queue/waiting.ts';
import { startClock, type State } from '../state/state.ts';
import { orderTimeOf } from '../steps/submit.ts';
import { missingLimit } from './limits.ts';

/** What of a task is not what was seen of it, or null. */
function staleness(task: Task, seen: Seen): CommandOutcome | null {
  if (seen.seq !== null && seen.seq !== task.seq) {
    return { kind: 'stale', message: 'another task has this id since' };
  }
  if (seen.version === null || seen.version === task.version) return null;
  const message = `the task is at version ${task.version}, not ${seen.version}`;
  return { kind: 'stale', message };
}

export function changeRequested(
  state: State,
  { change, seen }: Pick<Extract<Event, { type: 'changeRequested' }>, 'change' | 'seen'>,
  task: Task,
  now: number,
  out: Output,
): CommandOutcome {
  const stale = staleness(task, seen);
  if (stale !== null) return stale;
  if (!isAtRest(task)) {
    const message = `the task is ${task.state}: only a waiting task can be changed`;
    return { kind: 'conflict', message };
  }
  const wanted = specOf(state, task, change);
  const at = change.runAt === undefined ? undefined : Math.max(change.runAt ?? now, now);
  const placed = bookedStill(state, { ...task, ...wanted }, at);
  if (placed.kind !== 'fits') return placed;
  const { labels, dueAt } = placed.task;
  const spec = change.labels === undefined ? wanted : { ...wanted, labels };
  const queued = orderOf(task, at === undefined ? change : { ...change, runAt: dueAt }, spec, now);
  queued.startBy = startByBeside(state, task, { ...task, ...spec, ...queued }, now);
  const refusal = refusalOfChange(state, task, { ...task, ...spec, ...queued }, change, now, out);
  if (refusal !== null) return refusal;
  // What came after it in its lane may be next.
  state.roused.add(laneOf(state, task));
  dequeue(state, task);
  Object.assign(task, spec, queued);
  state.gateKeys.delete(task);
  state.choices.delete(task);
  const isOther = Object.keys(spec).length > 0;
  out.changes.push(isOther ? taskChanged(task) : taskUpdated(task));
  const version = task.version + 1;
  tellTask(state, out, 'task.changed', task, now, { version });
  if (task.state === 'suspended') setAside(state, task, out);
  else enqueue(state, task, now, out);
  announceTasks(state, [task.id], task.booking, now, out);
  return { kind: 'done', version };
}

/** What is asked for from now on, as far as it is another thing. */
function specOf({ policy, types }: State, task: Task, change: TaskChange): Partial<TaskSpec> {
  const { priority: _, runAt: __, retry, user, ...others } = change;
  const { assignTimeoutMs, executionTimeoutMs, startTimeoutMs, startTimeoutAction } = others;
  const { diskBytes, uses } = others;
  const ofType = types.get(task.type);
  return {
    ...(others as Partial<TaskSpec>),
    ...(assignTimeoutMs === null && { assignTimeoutMs: policy.assignTimeoutMs }),
    ...(executionTimeoutMs === null && { executionTimeoutMs: policy.executionTimeoutMs }),
    ...(startTimeoutMs === null && { startTimeoutMs: policy.startTimeoutMs }),
    ...(startTimeoutAction === null && { startTimeoutAction: 'fail' }),
    ...(diskBytes === null && { diskBytes: ofType?.needs.diskBytes ?? null }),
    ...(uses !== undefined && { uses: usesOfBoth(ofType?.uses ?? [], uses) }),
    ...(retry && { retry: { ...task.retry, ...retry } }),
    ...(user && { user: { ...task.user, ...user } }),
  };
}

type Queued = Pick<Task, 'priority' | 'dueAt' | 'orderTime' | 'queueTime' | 'startBy'>;

/** When it is due, and before whom. */
function orderOf(
  task: Task,
  { priority = task.priority, runAt }: TaskChange,
  spec: Partial<TaskSpec>,
  now: number,
): Queued {
  const dueAt = runAt === undefined ? task.dueAt : Math.max(runAt ?? now, now);
  // Asked once more, or kept to the beginning of a window, it is no other time.
  const isPlaced = dueAt === task.dueAt && priority === task.priority;
  const since = runAt === undefined ? waitsSince(task) : dueAt;
  const orderTime = isPlaced ? task.orderTime : orderTimeOf(since, priority);
  return {
    priority,
    dueAt,
    orderTime,
    queueTime: isPlaced ? task.queueTime : orderTime,
    startBy:
      runAt === undefined ? startByOf(task, spec, now) : startLimitOf({ ...task, ...spec }, dueAt),
  };
}

/**
 * From when on its head start counts. After a rejection or a loss `dueAt` is newer than its place
 * in the queue, which it has kept; after a failure `orderTime` is without the head start.
 */
function waitsSince(task: Task): number {
  const { submittedAt, dueAt, orderTime, priority } = task;
  return Math.max(submittedAt, Math.min(dueAt, orderTime + priority * 1000));
}

/** What was credited to it (pauses, absences) stays; so does it where it was told of, unless its limit is another. */
function startByOf(task: Task, spec: Partial<TaskSpec>, now: number): number | null {
  const { startTimeoutMs, startTimeoutAction, deadlineAt } = { ...task, ...spec };
  const isOther =
    startTimeoutMs !== task.startTimeoutMs || startTimeoutAction !== task.startTimeoutAction;
  if (startTimeoutMs === null) return null;
  const creditMs =
    task.startBy === null ? 0 : task.startBy - task.dueAt - (task.startTimeoutMs ?? 0);
  const startBy = task.dueAt + startTimeoutMs + creditMs;
  if (task.startBy === null && !isOther && startBy <= now) return null;
  return deadlineAt !== null && deadlineAt <= startBy ? null : startBy;
}

/** What was left of its time is left, whichever pauses concern it from now on. */
function startByBeside(state: State, task: Task, asked: Task, now: number): number | null {
  // That of one that is suspended begins anew when it is resumed.
  if (asked.startBy === null || task.state === 'suspended') return null;
  const passed = (one: Task) => Math.max(startClock(state, now, one), asked.dueAt);
  const startBy = asked.startBy + passed(asked) - passed(task);
  return asked.deadlineAt !== null && asked.deadlineAt <= startBy ? null : startBy;
}

/** Why it cannot be such a task; as a submit is refused. */
function refusalOfChange(
  state: State,
  before: Task,
  task: Task,
  change: TaskChange,
  now: number,
  out: Output,
): CommandOutcome | null {
  const { type, labels, requires, uses, deadlineAt, dueAt } = task;
  const { group } = task.user;
  if (change.deadlineAt !== undefined && deadlineAt !== null && deadlineAt <= now) {
    return misfit('deadline', 'expected later than now');
  }
  const isTimed = change.deadlineAt !== undefined || change.runAt !== undefined;
  if (isTimed && deadlineAt !== null && dueAt >= deadlineAt) {
    return change.runAt === undefined
      ? { kind: 'conflict', field: 'deadline', message: 'the task is not due before that' }
      : {
          kind: 'conflict',
          field: 'run_at',
          message: 'the deadline of the task is not later than that',
        };
  }
  if (kindKeyOf(type, requires, labels).length > KIND_LENGTH_MAX) {
    const message = `type, requires and labels have more than ${KIND_LENGTH_MAX} characters together`;
    return misfit('labels', message);
  }
  const missing = change.uses === undefined ? undefined : missingLimit(state, uses);
  if (missing !== undefined) return misfit('uses', `there is no limit ${missing}`);
  const quota = state.quotas.get(type);
  const full = group === before.user.group || quota === undefined ? null : fullGroup(quota, group);
  if (full !== null) {
    const { name: limit, max, used } = full;
    const message = `${used} of type ${type} waiting in group ${group} already, and ${limit} is ${max}`;
    return { kind: 'limited', limit, message };
  }
  const crowd = isCrowded(state, task)
    ? `tasks of ${state.gates.size} values of limits.concurrency wait already`
    : crowdOf(state, task, out);
  return crowd === null ? null : { kind: 'full', message: crowd };
}

const misfit = (field: string, message: string): CommandOutcome => ({
  kind: 'misfit',
  field,
  message,
});
