/** What may be said of a task: when it is submitted, and while it waits. */
import type { TaskJob } from './task-job.ts';
import type { StartTimeoutAction, TaskSpec } from './task.ts';

/** A task as submitted, validated and with its defaults filled in. */
export interface NewTask
  extends Omit<
    TaskSpec,
    'seq' | 'submittedAt' | 'assignTimeoutMs' | 'startTimeoutAction' | 'job' | 'booking'
  > {
  readonly priority: number;
  readonly runAt: number | null;
  /** Of which job it is a run; absent: of none. */
  readonly job?: TaskJob | null;
  /** Of which booking it is; absent: of none. */
  readonly booking?: string | null;
  /** Null: as it is without a word of it. */
  readonly assignTimeoutMs: number | null;
  readonly startTimeoutAction: StartTimeoutAction | null;
  /** Why its type refuses its params: of a task whose id is not taken. Absent: they fit. */
  readonly misfits?: readonly { readonly field: string; readonly message: string }[];
}

/**
 * Of a task that waits: what of it is to be another; what is absent stays. Null, and what is not said of
 * its type: as of a task that is submitted without a word of it.
 */
export interface TaskChange
  extends Partial<
    Omit<
      NewTask,
      | 'id'
      | 'type'
      | 'requestHash'
      | 'retry'
      | 'user'
      | 'misfits'
      | 'taken'
      | 'traceparent'
      | 'job'
      | 'booking'
    >
  > {
  readonly retry?: Partial<NewTask['retry']>;
  readonly user?: Partial<NewTask['user']>;
}
