/** What a task knows of the job that it is a run of. Data only. */

/** Of which job a task is a run. */
export interface TaskJob {
  readonly name: string;
  readonly version: number;
  /** Empty: somebody has asked for it. */
  readonly trigger: string;
  readonly nominal: number;
}
