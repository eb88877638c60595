/**
 * What is to happen at an instant: a binary min-heap. Entries are never removed early: whoever
 * takes one out checks that it still applies (the same attempt, the same executor).
 */
import type { Executor } from '../executor.ts';
import type { Task } from '../task.ts';

export type Deadline = { readonly at: number } & (
  | {
      /** `assign`: no answer; `execution`, `stall`: ran too long; `grace`: told to end and did not. */
      readonly kind: 'assign' | 'execution' | 'stall' | 'grace';
      readonly task: Task;
      readonly attempt: number;
    }
  | { readonly kind: 'deadline'; readonly task: Task }
  | { readonly kind: 'lease' | 'drain' | 'rested'; readonly executor: Executor }
);

export class Deadlines {
  readonly #heap: Deadline[] = [];

  get size(): number {
    return this.#heap.length;
  }

  nextAt(): number {
    return this.#heap[0]?.at ?? Number.POSITIVE_INFINITY;
  }

  push(deadline: Deadline): void {
    const heap = this.#heap;
    let index = heap.length;
    heap.push(deadline);
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const above = heap[parent] as Deadline;
      if (above.at <= deadline.at) break;
      heap[index] = above;
      index = parent;
    }
    heap[index] = deadline;
  }

  /** The earliest entry that is due, or undefined. */
  take(now: number): Deadline | undefined {
    const heap = this.#heap;
    const first = heap[0];
    if (first === undefined || first.at > now) return undefined;
    const last = heap.pop() as Deadline;
    if (heap.length > 0) this.#sink(last);
    return first;
  }

  /**
   * Drops entries that can no longer apply. Without it, the timeouts of hours would keep every
   * short task of those hours in memory.
   */
  compact(applies: (deadline: Deadline) => boolean): void {
    const kept = this.#heap.filter(applies);
    this.#heap.length = 0;
    for (const deadline of kept) this.push(deadline);
  }

  #sink(item: Deadline): void {
    const heap = this.#heap;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= heap.length) break;
      const right = child + 1;
      if (right < heap.length && (heap[right] as Deadline).at < (heap[child] as Deadline).at) {
        child = right;
      }
      if ((heap[child] as Deadline).at >= item.at) break;
      heap[index] = heap[child] as Deadline;
      index = child;
    }
    heap[index] = item;
  }
}
