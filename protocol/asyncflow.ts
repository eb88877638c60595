/**
 * The four numbers that Asyncflow knows for the status of a task: for reports about it and for what
 * is moved from there. No message of ours carries them.
 */
import type { TaskView } from './api/tasks.ts';

/** 1 waiting, 2 running, 3 succeeded, 4 failed in whatever way. */
export type AsyncflowStatus = 1 | 2 | 3 | 4;

const statuses: Readonly<Record<TaskView['state'], AsyncflowStatus>> = {
  waiting: 1,
  held: 1,
  suspended: 1,
  offered: 2,
  running: 2,
  succeeded: 3,
  failed: 4,
  canceled: 4,
  expired: 4,
};

/**
 * The number of a state. Asyncflow's own documents disagree about 3 and 4: its table of tasks has
 * 3 for success and 4 for failure, its text the other way round. The table counts.
 */
export function asyncflowStatus(state: TaskView['state']): AsyncflowStatus {
  return statuses[state];
}
