/**
 * Work on more tasks than one commit may change: what it is to do, how far it is, and what became of it.
 * A row says so, and each slice writes it together with the tasks that it has changed.
 */
import {
  WORK_KEPT_COUNT_MAX,
  WORK_KEPT_MS_MAX,
  WORK_KEPT_MS_MIN,
  WORK_PROBLEM_COUNT_MAX,
  WORK_SLICE_COUNT_MAX,
} from '../bounds.ts';
import type { TaskChange } from '../model/new-task.ts';
import type { Sight, TaskFilter } from '../model/task-filter.ts';
import { isTerminal, type TaskState } from '../model/task.ts';
import type { QueueEnd } from '../queue/window.ts';

export type BulkAction =
  | 'cancel'
  | 'retry'
  | 'redeliver'
  | 'change'
  | 'suspend'
  | 'resume'
  | 'delete'
  | QueueEnd;

/** One command on many tasks. */
export interface Bulk {
  readonly action: BulkAction;
  /** Null: the tasks are named. */
  readonly filter: TaskFilter | null;
  /** No task that was accepted later, and none that has ended since. */
  readonly seqMax: number;
  readonly endedBefore: number;
  /** Of `change`. */
  readonly change: TaskChange | null;
  /** What whoever asked may touch: asked again of every task. */
  readonly within: Sight;
  readonly reason: string | null;
}

/** Which nominal times: those that no run was begun for, also those of which none has succeeded, or all. */
export type BackfillWhich = 'missing' | 'missing_failed' | 'all';

/** Past times of a trigger that are run now. */
export interface Backfill {
  readonly action: 'backfill';
  readonly job: string;
  readonly trigger: string;
  /** Its nominal times from then on and, that instant not in it, until then. */
  readonly from: number;
  readonly until: number;
  readonly which: BackfillWhich;
  /** Runs of it that have not ended, at most. */
  readonly maxRunning: number;
  /** What whoever asked may touch: asked again with each slice. */
  readonly within: Sight;
  readonly reason: string | null;
}

export type WorkState = 'running' | 'paused' | 'done' | 'canceled';

/** Why something was not done to a task. */
export interface WorkProblem {
  /** Null: of tasks that are not there any more to be named. */
  readonly taskId: string | null;
  readonly kind: 'skipped' | 'failed';
  readonly message: string;
}

export interface WorkCounts {
  /** What is expected, until it is over; then what it came to. */
  readonly total: number;
  readonly done: number;
  /** They run, and were told to end. */
  readonly asked: number;
  /** Their state does not allow it, or they are not there. */
  readonly skipped: number;
  /** A limit does not allow it now. */
  readonly failed: number;
}

interface WorkRow {
  readonly id: string;
  readonly state: WorkState;
  readonly counts: WorkCounts;
  /** `total` was counted, not estimated. */
  readonly isExact: boolean;
  /** The first of them. */
  readonly problems: readonly WorkProblem[];
  /** By whom: the name of a token. */
  readonly by: string | null;
  readonly createdAt: number;
  readonly endedAt: number | null;
}

export interface BulkWork extends WorkRow {
  readonly kind: 'bulk';
  readonly request: Bulk;
  /** Ids that it has yet to come to; null: a search finds them. */
  readonly ids: readonly string[] | null;
  /** Where that goes on: the store knows what it means. Null: at the beginning. */
  readonly cursor: string | null;
}

export interface BackfillWork extends WorkRow {
  readonly kind: 'backfill';
  readonly request: Backfill;
  /** Of its runs that have not ended. */
  readonly ids: readonly string[];
  /** The last nominal time that it has come to, or `ALL_BEGUN`. Null: at the beginning. */
  readonly cursor: string | null;
}

export type Work = BulkWork | BackfillWork;

/** Before it is begun. */
export type NewWork = Omit<BulkWork, 'createdAt'> | Omit<BackfillWork, 'createdAt'>;

/** Where the cursor of a backfill is when it has come to all of its times. */
export const ALL_BEGUN = 'end';

/** There is something to do for it now. */
export function isReady(work: Work): boolean {
  if (work.state !== 'running') return false;
  if (work.kind === 'bulk') return true;
  return work.cursor !== ALL_BEGUN && work.ids.length < work.request.maxRunning;
}

/** All of a namespace. */
export interface Works {
  /** The oldest first; also those that are over. */
  readonly byId: Map<string, Work>;
  /** Whose turn it was last. */
  lastId: string | null;
}

export function noWorks(): Works {
  return { byId: new Map(), lastId: null };
}

/** What an action can be done to; the rest it passes over, and does not count. */
const statesOf: Readonly<Record<BulkAction, readonly TaskState[]>> = {
  cancel: ['waiting', 'held', 'suspended', 'offered', 'running'],
  change: ['waiting', 'held', 'suspended'],
  suspend: ['waiting', 'held', 'offered', 'running'],
  resume: ['suspended'],
  first: ['waiting', 'held', 'suspended'],
  last: ['waiting', 'held', 'suspended'],
  retry: ['succeeded', 'failed', 'canceled', 'expired'],
  redeliver: ['succeeded', 'failed', 'canceled', 'expired'],
  delete: ['succeeded', 'failed', 'canceled', 'expired'],
};

/** Those of the filter to which the action can be done: all of them live, or all ended. None: the two do not fit. */
export function statesFor({
  action,
  filter,
}: Pick<Bulk, 'action' | 'filter'>): readonly TaskState[] {
  const { state = null, notification = null, failureReason = null } = filter ?? {};
  const failed = failureReason === 'deadline' ? 'expired' : 'failed';
  return statesOf[action].filter(
    (one) =>
      (state === null || one === state) &&
      (notification === null || isTerminal(one)) &&
      (failureReason === null || one === failed),
  );
}

export const isOver = ({ state }: Work): boolean => state === 'done' || state === 'canceled';

export function withProblem(
  problems: readonly WorkProblem[],
  problem: WorkProblem,
): readonly WorkProblem[] {
  return problems.length < WORK_PROBLEM_COUNT_MAX ? [...problems, problem] : problems;
}

/** All that it was to come to are accounted for, also those that had changed before their turn. */
export function ended(before: Work, state: 'done' | 'canceled', now: number): Work {
  const work = before.ids === null ? before : { ...before, ids: [] };
  const over: Work = { ...work, state, endedAt: now };
  if (state === 'canceled') return over;
  const { total, done, asked, skipped, failed } = work.counts;
  const found = done + asked + skipped + failed;
  const goneCount = work.isExact ? Math.max(0, total - found) : 0;
  const counts = { ...work.counts, total: found + goneCount, skipped: skipped + goneCount };
  if (goneCount === 0) return { ...over, counts, isExact: true };
  const message = `changed before it was their turn: ${goneCount}`;
  const problems = withProblem(work.problems, { taskId: null, kind: 'skipped', message });
  return { ...over, counts, isExact: true, problems };
}

/** Those that are over, and to be forgotten: too old, or too many; not one that its preview might begin again. */
export function forgettable(works: Iterable<Work>, now: number): Work[] {
  const over = [...works].filter(isOver);
  const isSpent = ({ createdAt }: Work): boolean => now - createdAt > WORK_KEPT_MS_MIN;
  if (!over.some(isSpent)) return [];
  over.sort((a, b) => (b.endedAt ?? 0) - (a.endedAt ?? 0));
  return over.filter((work, place) => {
    const isOld = now - (work.endedAt ?? now) > WORK_KEPT_MS_MAX;
    return isSpent(work) && (isOld || place >= WORK_KEPT_COUNT_MAX);
  });
}

export function isMove(action: BulkAction): action is QueueEnd {
  return action === 'first' || action === 'last';
}

/** From the last task to the first, each is put before the one that was moved before it: so they keep their order. */
export function isBackwards(action: BulkAction): boolean {
  return action === 'first';
}

/** The ids of its next slice. */
export function nextIds({ ids, request: { action } }: BulkWork): readonly string[] {
  const next = (isBackwards(action) ? ids?.toReversed() : ids) ?? [];
  return next.slice(0, WORK_SLICE_COUNT_MAX);
}

/** Those that it has yet to come to after so many of these. */
export function idsAfter({ ids, request: { action } }: BulkWork, count: number): readonly string[] {
  if (ids === null) return [];
  return isBackwards(action) ? ids.slice(0, ids.length - count) : ids.slice(count);
}
