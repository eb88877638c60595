/**
 * How much memory the texts of a task take, as an estimate: one byte for each UTF-16 unit. What has
 * a fixed size is left out, for it is bounded by counts. Pure.
 */
import type { EndedTask, Task } from '../model/task.ts';

/** Of a task that waits: none of these texts changes before it is offered. */
export function heldBytes(task: Task): number {
  return (
    task.params.length +
    (task.checkpoint?.length ?? 0) +
    (task.progressState?.length ?? 0) +
    (task.progressDetail?.length ?? 0) +
    endedBytes(task)
  );
}

/** Of what is kept of an ended task for its callback. */
export function endedBytes({ result, error }: Pick<EndedTask, 'result' | 'error'>): number {
  const errorBytes = error === null ? 0 : error.message.length + (error.details?.length ?? 0);
  return (result?.length ?? 0) + errorBytes;
}
