/** The tasks in memory by their ids. Those of one job are found without a look at the others, of which there may be many. */
import type { Task } from '../model/task.ts';

const NONE: ReadonlySet<string> = new Set();

export class LiveTasks extends Map<string, Task> {
  readonly #idsByJob = new Map<string, Set<string>>();

  /** Runs of that job; those of a backfill are none of them. */
  idsOfJob(job: string): ReadonlySet<string> {
    return this.#idsByJob.get(job) ?? NONE;
  }

  /** Of which job a task is never changes. */
  override set(id: string, task: Task): this {
    const job = jobOf(task);
    if (job !== null) {
      const ids = this.#idsByJob.get(job) ?? new Set();
      this.#idsByJob.set(job, ids.add(id));
    }
    return super.set(id, task);
  }

  override delete(id: string): boolean {
    const job = this.#idsByJob.size === 0 ? null : jobOf(this.get(id));
    if (job !== null) {
      const ids = this.#idsByJob.get(job);
      ids?.delete(id);
      if (ids?.size === 0) this.#idsByJob.delete(job);
    }
    return super.delete(id);
  }

  override clear(): void {
    this.#idsByJob.clear();
    super.clear();
  }
}

/** Of which job it is a run, by its triggers or by hand. */
function jobOf(task: Task | undefined): string | null {
  const job = task?.job ?? null;
  return job === null || job.backfill !== null ? null : job.name;
}
