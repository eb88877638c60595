/**
 * What is to happen at an instant: a binary min-heap. Entries are not removed early: whoever takes one
 * out checks that it still applies. They name their task and do not hold it, so that an entry whose
 * task has long ended, or was left to the store, keeps no params in memory. At most one entry for
 * the deadline of a task is inside, however often the task is placed.
 */
import type { Executor } from '../executor.ts';
import type { Task } from '../task.ts';

/** `assign`: no answer; `execution`, `stall`: ran too long; `grace`: told to end and did not. */
type AttemptKind = 'assign' | 'execution' | 'stall' | 'grace';

export type Deadline = { readonly at: number } & (
  | { readonly kind: AttemptKind; readonly task: Task; readonly attempt: number }
  | { readonly kind: 'deadline'; readonly task: Task }
  | { readonly kind: 'lease' | 'drain' | 'rested'; readonly executor: Executor }
  | { readonly kind: 'doubt'; readonly key: string }
  | { readonly kind: 'record'; readonly executorId: string }
);

interface NamedTask {
  readonly taskId: string;
  /** Tells it from a later task of the same id. */
  readonly taskSeq: number;
}

/** A deadline as it is kept. */
export type Entry = { readonly at: number } & (
  | ({ readonly kind: AttemptKind; readonly attempt: number } & NamedTask)
  | ({ readonly kind: 'deadline' } & NamedTask)
  | { readonly kind: 'lease' | 'drain' | 'rested'; readonly executor: Executor }
  | { readonly kind: 'doubt'; readonly key: string }
  | { readonly kind: 'record'; readonly executorId: string }
);

/** Entries that may have lost their meaning before it is worth looking for them. */
const COMPACT_COUNT_MIN = 4096;

export class Deadlines {
  #heap: Entry[] = [];
  /** Instants of the deadlines of tasks that are inside, by the seq of the task. */
  readonly #timed = new Map<number, number>();
  readonly #compactCountMin: number;
  #compactAt: number;

  constructor(compactCountMin = COMPACT_COUNT_MIN) {
    this.#compactCountMin = compactCountMin;
    this.#compactAt = compactCountMin;
  }

  get size(): number {
    return this.#heap.length;
  }

  nextAt(): number {
    return this.#heap[0]?.at ?? Number.POSITIVE_INFINITY;
  }

  /** The deadline of a task that is inside already is passed over. */
  push(deadline: Deadline): void {
    if (deadline.kind === 'deadline') {
      const { task, at } = deadline;
      if (this.#timed.get(task.seq) === at) return;
      this.#timed.set(task.seq, at);
    }
    this.#rise(entryOf(deadline));
  }

  #rise(entry: Entry): void {
    const heap = this.#heap;
    let index = heap.length;
    heap.push(entry);
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const above = heap[parent] as Entry;
      if (above.at <= entry.at) break;
      heap[index] = above;
      index = parent;
    }
    heap[index] = entry;
  }

  /** The earliest entry that is due, or undefined. */
  take(now: number): Entry | undefined {
    const heap = this.#heap;
    const first = heap[0];
    if (first === undefined || first.at > now) return undefined;
    const last = heap.pop() as Entry;
    if (heap.length > 0) this.#sink(last, 0);
    this.#forget(first);
    return first;
  }

  /**
   * Drops entries that can no longer apply, where there are more than twice those that were left the
   * last time: so each entry is looked at a bounded number of times. Without it, the timeouts of
   * hours would keep an entry for every short task of those hours.
   */
  compact(applies: (entry: Entry) => boolean): void {
    if (this.#heap.length <= this.#compactAt) return;
    const kept: Entry[] = [];
    for (const entry of this.#heap) {
      if (applies(entry)) kept.push(entry);
      else this.#forget(entry);
    }
    this.#heap = kept;
    for (let index = (kept.length >> 1) - 1; index >= 0; index--) {
      this.#sink(kept[index] as Entry, index);
    }
    this.#compactAt = Math.max(2 * kept.length, this.#compactCountMin);
  }

  #forget(entry: Entry): void {
    if (entry.kind !== 'deadline' || this.#timed.get(entry.taskSeq) !== entry.at) return;
    this.#timed.delete(entry.taskSeq);
  }

  /** Puts the item at the place or below it. */
  #sink(item: Entry, place: number): void {
    const heap = this.#heap;
    let index = place;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= heap.length) break;
      const right = child + 1;
      if (right < heap.length && (heap[right] as Entry).at < (heap[child] as Entry).at) {
        child = right;
      }
      if ((heap[child] as Entry).at >= item.at) break;
      heap[index] = heap[child] as Entry;
      index = child;
    }
    heap[index] = item;
  }
}

function entryOf(deadline: Deadline): Entry {
  if (!('task' in deadline)) return deadline;
  const { at, kind, task } = deadline;
  const named = { taskId: task.id, taskSeq: task.seq };
  return kind === 'deadline'
    ? { at, kind, ...named }
    : { at, kind, attempt: deadline.attempt, ...named };
}
