/** What lists and long work look for, among the tasks of a store in memory: in the order of `seq`, of which the last is the cursor. */
import type {
  FailedTask,
  Ran,
  SearchCount,
  SearchPage,
  ShownTask,
  StoredTask,
  TaskPage,
  TaskQuery,
  TaskSearch,
  TaskStore,
} from '../../application/ports.ts';
import type { BookedWanted } from '../../domain/booking/booking.ts';
import { copyOf } from '../../domain/changes.ts';
import { matches } from '../../domain/model/task-filter.ts';
import { heldBytes } from '../../domain/state/held-bytes.ts';
import { type AttemptRecord, isAtRest, type Task } from '../../domain/model/task.ts';
import type { Position } from '../../domain/queue/window.ts';
import type { Rows } from './rows.ts';

/** Where it stands in its lane. */
export const inOrder = (task: Task): Position => ({ time: task.queueTime, seq: task.seq });

export const isWaiting = (task: Task): boolean => task.state === 'waiting';

/** At rest, of that booking, and due by then. */
export function isBooked({ booking, before }: BookedWanted): (task: Task) => boolean {
  return (task) => task.booking === booking && task.dueAt < before && isAtRest(task);
}

export const copies = (tasks: readonly Task[]): Task[] => tasks.map((task) => ({ ...task }));

export function foundBy(
  { filter, states, seqMax, endedBefore, isBackwards }: TaskSearch,
  all: Iterable<StoredTask>,
): StoredTask[] {
  return [...all]
    .filter(
      ({ task, notification }) =>
        states.includes(task.state) &&
        task.seq <= seqMax &&
        (task.finishedAt ?? 0) < endedBefore &&
        matches(filter, task, notification),
    )
    .sort((a, b) => (isBackwards ? b.task.seq - a.task.seq : a.task.seq - b.task.seq));
}

export function pageOf(
  { isBackwards }: Pick<TaskSearch, 'isBackwards'>,
  all: readonly StoredTask[],
  cursor: string | null,
  limit: number,
  bytesMax: number,
): SearchPage {
  const last = Number(cursor);
  const isNext = ({ task: { seq } }: StoredTask) => (isBackwards ? seq < last : seq > last);
  const found = cursor === null ? all : all.filter(isNext);
  let bytes = 0;
  const end = found.findIndex(({ task }) => (bytes += heldBytes(task)) > bytesMax);
  const tasks = found.slice(0, Math.min(limit, end < 0 ? limit : Math.max(end, 1))).map(copyOf);
  const isLast = tasks.length === found.length;
  return { tasks, cursor: isLast ? null : String(tasks.at(-1)?.task.seq) };
}

export function countOf(
  found: readonly StoredTask[],
  { lookMax, sampleCount }: Parameters<TaskStore['countTasks']>[1],
): SearchCount {
  const isExact = found.length <= lookMax;
  return { count: found.length, isExact, sample: found.slice(0, sampleCount).map(light) };
}

/** With its attempts, or one of them. */
export function shownOf(
  rows: Rows,
  stored: StoredTask,
  attempt: 'all' | number = 'all',
): ShownTask {
  const attempts = [...rows.of('attempt').values()]
    .filter(({ taskSeq }) => taskSeq === stored.task.seq)
    .filter((record) => attempt === 'all' || record.attempt === attempt)
    .sort((a, b) => a.attempt - b.attempt)
    .map((record) => ({ ...record, detailsBytes: 0 }));
  return { ...copyOf(stored), attempts };
}

/** The newest first, and so many are looked at. */
export function newestOf(rows: Rows, query: TaskQuery, all: Iterable<StoredTask>): TaskPage {
  const { beforeSeq, limit, lookCount, ran } = query;
  const older = [...all]
    .filter(({ task }) => ran === undefined || hasRan(rows, ran, task))
    .filter(({ task }) => beforeSeq === null || task.seq < beforeSeq)
    .sort((a, b) => b.task.seq - a.task.seq);
  const looked = older.slice(0, lookCount);
  const matching = looked.filter(({ task, notification }) => matches(query, task, notification));
  const tasks = matching.slice(0, limit).map(light);
  const last = (matching.length > limit ? tasks : looked).at(-1);
  const isLast = matching.length <= limit && looked.length === older.length;
  return { tasks, beforeSeq: isLast ? null : (last?.task.seq ?? null) };
}

function hasRan(rows: Rows, { executorId, from, to }: Ran, task: Task): boolean {
  const { seq, attempt, submittedAt, finishedAt } = task;
  const isOver = from !== null && finishedAt !== null && finishedAt < from;
  if (attempt === 0 || isOver || (to !== null && submittedAt >= to)) return false;
  if (executorId === null || task.executorId === executorId) return true;
  const isOf = (one: AttemptRecord) => one.taskSeq === seq && one.executorId === executorId;
  return [...rows.of('attempt').values()].some(isOf);
}

export function failureOf({ task }: StoredTask): FailedTask {
  const { seq, id, type, user, error, failureReason } = task;
  return { seq, id, type, group: user.group, message: error?.message ?? null, failureReason };
}

/** As a list has it. */
const light = ({ task, notification }: StoredTask): StoredTask => ({
  task: { ...task, params: '', checkpoint: null, result: null },
  notification: notification && { ...notification },
});
