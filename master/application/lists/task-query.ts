/** What tasks are looked for by, and what is found: part of the ports. */
import type { TaskFilter } from '../../domain/model/task-filter.ts';
import type {
  AttemptRecord,
  FailureReason,
  Notification,
  Task,
  TaskState,
} from '../../domain/model/task.ts';
import type { Position } from '../../domain/queue/window.ts';

/** Whether an attempt may have been under way in a span of time. */
export interface Ran {
  /** Who has it, or had it, whichever attempt it is; null: whoever. */
  readonly executorId: string | null;
  /** Of tasks that have not ended, or not before this instant. */
  readonly from: number | null;
  /** Of tasks submitted before this instant. */
  readonly to: number | null;
}

export interface TaskQuery extends TaskFilter {
  /** Only tasks that have had an attempt, such a one. Days of history that ended before it are not looked at. */
  readonly ran?: Ran;
  /** Only tasks accepted before this one. */
  readonly beforeSeq: number | null;
  readonly limit: number;
  /** Rows to look at, about, for whatever no index serves. */
  readonly lookCount: number;
}

/** What is asked of tasks that wait. */
export interface WaitingQuery extends TaskFilter {
  /** Where tasks wait that may fit: those of no other lane are looked at. */
  readonly lanes: readonly number[];
  readonly after: Position | null;
  readonly limit: number;
}

/** Tasks that long work is about. */
export interface TaskSearch {
  /** Its `state` is one of `states`. */
  readonly filter: TaskFilter;
  /** All of them live, or all ended. */
  readonly states: readonly TaskState[];
  /** No task that was accepted later. */
  readonly seqMax: number;
  /** No task that has ended at this instant, or later. */
  readonly endedBefore: number;
  /** From the last to the first: of live tasks. */
  readonly isBackwards: boolean;
}

export interface SearchPage {
  /** Fewer than asked for, or none, where too many were looked at. */
  readonly tasks: readonly StoredTask[];
  /** Where the next page begins; null: this is the last. */
  readonly cursor: string | null;
}

export interface SearchCount {
  readonly count: number;
  /** Else it is an estimate. */
  readonly isExact: boolean;
  /** The first of them, without what may be large. */
  readonly sample: readonly StoredTask[];
}

export interface StoredTask {
  readonly task: Task;
  readonly notification: Notification | null;
}

export interface ListedAttempt extends AttemptRecord {
  /** Of `error.details`, where these are left out for their size; else 0. */
  readonly detailsBytes: number;
}

/** For people. */
export interface ShownTask extends StoredTask {
  /** Oldest first. */
  readonly attempts: readonly ListedAttempt[];
}

export interface HistoryPage {
  /** Fewer than asked for, or none, where too many were looked at. */
  readonly tasks: readonly ShownTask[];
  /** Where the next page begins; null: this is the last. */
  readonly cursor: string | null;
}

export interface TaskPage {
  /** Newest first, by `seq`; fewer than asked for, or none, where too many were looked at. */
  readonly tasks: readonly StoredTask[];
  /** Where the next page begins, as `TaskQuery.beforeSeq`; null: this is the last. */
  readonly beforeSeq: number | null;
}

/** What is told of a failed task where many are looked at. */
export interface FailedTask {
  readonly seq: number;
  readonly id: string;
  readonly type: string;
  readonly group: string;
  /** Of its error, the end of a long one cut off; null: it has none. */
  readonly message: string | null;
  readonly failureReason: FailureReason | null;
}

export interface FailurePage {
  /** As the tasks of a `TaskPage`. */
  readonly failures: readonly FailedTask[];
  readonly beforeSeq: number | null;
}

export interface WaitingPage {
  /** By (queueTime, seq); fewer than asked for, or none, where too many were looked at. */
  readonly tasks: readonly StoredTask[];
  /** Where the next page begins; null: this is the last. */
  readonly after: Position | null;
}
