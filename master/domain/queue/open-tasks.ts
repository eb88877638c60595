/** Offered and running tasks, and the bytes of what they hold. */
import { heldBytes } from '../state/held-bytes.ts';
import type { Task } from '../model/task.ts';

export class OpenTasks {
  readonly #bytesOf = new Map<Task, number>();
  #bytes = 0;

  /** As they were counted last. */
  get bytes(): number {
    return this.#bytes;
  }

  tasks(): Iterable<Task> {
    return this.#bytesOf.keys();
  }

  /** It is offered, or holds something else than before. */
  count(task: Task): void {
    this.forget(task);
    const bytes = heldBytes(task);
    this.#bytesOf.set(task, bytes);
    this.#bytes += bytes;
  }

  /** It waits again, or has ended. */
  forget(task: Task): void {
    this.#bytes -= this.#bytesOf.get(task) ?? 0;
    this.#bytesOf.delete(task);
  }
}
