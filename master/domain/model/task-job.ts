/** What a task knows of the job that it is a run of. Data only. */

/** Of which job a task is a run. */
export interface TaskJob {
  readonly name: string;
  readonly version: number;
  /** Empty: somebody has asked for it. */
  readonly trigger: string;
  readonly nominal: number;
  /** That time was run again, by a backfill; null: it is the run of its trigger. */
  readonly backfill: Backfilled | null;
}

export interface Backfilled {
  /** From 1 on, of that time. */
  readonly rerun: number;
  readonly operationId: string;
}
