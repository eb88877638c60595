/**
 * How much memory the texts of a task take, as an estimate: one byte for each UTF-16 unit. What has
 * a fixed size is left out, for it is bounded by counts. Pure but for a memo of what was measured.
 */
import type { AttemptError, EndedTask, Task } from './task.ts';

/** Errors are never changed once they are made, and their details may be large. */
const measured = new WeakMap<AttemptError, number>();

/** Of a task that waits: none of these texts changes before it is offered. */
export function heldBytes(task: Task): number {
  return (
    task.params.length +
    (task.checkpoint?.length ?? 0) +
    (task.progressState?.length ?? 0) +
    endedBytes(task)
  );
}

/** Of what is kept of an ended task for its callback. */
export function endedBytes({ result, error }: Pick<EndedTask, 'result' | 'error'>): number {
  return (result?.length ?? 0) + (error === null ? 0 : errorBytes(error));
}

function errorBytes(error: AttemptError): number {
  if (error.details === undefined) return error.message.length;
  const known = measured.get(error);
  if (known !== undefined) return known;
  const bytes = error.message.length + (JSON.stringify(error.details)?.length ?? 0);
  measured.set(error, bytes);
  return bytes;
}
