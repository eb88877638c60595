/**
 * Under which ids runs of jobs go. That of a run follows from its nominal time, so whoever knows the time finds the run,
 * and anybody may have submitted a task of that id before: no scheduled run is to be stopped by that, so it gets
 * another. The run, its record and how far its trigger is decided are one commit: what a crash undoes is decided anew.
 */
import { TURN_READ_BYTES_MAX } from '../../domain/bounds.ts';
import type { TaskStore } from '../ports.ts';
import type { Templates } from './templates.ts';

/** Of ids that there are: of which job the task is a run; null: of none. */
export type JobsByTaskId = ReadonlyMap<string, string | null>;

export async function jobsByTaskId(
  store: TaskStore,
  ids: readonly string[],
): Promise<JobsByTaskId> {
  const byTaskId = new Map<string, string | null>();
  let left = ids.length === 0 ? [] : [...(await store.findIds(ids)).keys()];
  // Of one that cannot be read nobody knows more.
  for (const id of left) byTaskId.set(id, null);
  while (left.length > 0) {
    const found = await store.findTasks(left, TURN_READ_BYTES_MAX);
    for (const [id, stored] of found) {
      if (stored !== null) byTaskId.set(id, stored.task.job?.name ?? null);
    }
    left = left.filter((id) => !found.has(id));
  }
  return byTaskId;
}

/** The time with the id that its run has. Taken: the job has run it already. */
export function withFreeId<T extends { readonly taskId: string }>(
  time: T,
  job: string,
  byTaskId: JobsByTaskId,
  templates: Templates,
): T & { readonly isTaken: boolean } {
  const ofJob = byTaskId.get(time.taskId);
  const isTaken = ofJob === job;
  if (ofJob === undefined || isTaken) return { ...time, isTaken };
  return { ...time, taskId: templates.anotherIdOf(time.taskId), isTaken };
}
