/**
 * What is to happen at an instant, the earliest first. Entries are not removed early: whoever takes one
 * out checks that it still applies. They name their task and do not hold it, so that an entry whose
 * task has long ended, or was left to the store, keeps no params in memory. At most one entry for
 * each limit of a task is inside, however often the task is placed.
 */
import type { Executor } from '../model/executor.ts';
import type { Task } from '../model/task.ts';
import { Heap } from './heap.ts';

/** `assign`: no answer; `execution`, `stall`: ran too long; `grace`: told to end and did not. */
type AttemptKind = 'assign' | 'execution' | 'stall' | 'grace';

/** Of the task, whatever its attempts. `start`: by when it is to be started; `route`: until when it is kept. */
type TaskKind = 'deadline' | 'start' | 'route';

/** `pause`: by `pauseKey`; null: that of the namespace. */
interface PauseDeadline {
  readonly kind: 'pause';
  readonly pause: string | null;
}

/** A pause, or what else is set for a type for a time. */
export type PauseEnd = { readonly at: number } & (
  | { readonly kind: 'type'; readonly name: string }
  | PauseDeadline
);

export type Deadline = { readonly at: number } & (
  | { readonly kind: AttemptKind; readonly task: Task; readonly attempt: number }
  | { readonly kind: TaskKind; readonly task: Task }
  | { readonly kind: 'lease' | 'drain' | 'rested'; readonly executor: Executor }
  | { readonly kind: 'doubt'; readonly key: string }
  | { readonly kind: 'record'; readonly executorId: string }
  | { readonly kind: 'quota'; readonly name: string }
  | { readonly kind: 'booking'; readonly booking: string }
  | PauseEnd
);

interface NamedTask {
  readonly taskId: string;
  /** Tells it from a later task of the same id. */
  readonly taskSeq: number;
}

/** A deadline as it is kept. */
export type Entry = { readonly at: number } & (
  | ({ readonly kind: AttemptKind; readonly attempt: number } & NamedTask)
  | ({ readonly kind: TaskKind } & NamedTask)
  | { readonly kind: 'lease' | 'drain' | 'rested'; readonly executor: Executor }
  | { readonly kind: 'doubt'; readonly key: string }
  | { readonly kind: 'record'; readonly executorId: string }
  | { readonly kind: 'quota'; readonly name: string }
  | { readonly kind: 'booking'; readonly booking: string }
  | PauseEnd
);

/** Entries that may have lost their meaning before it is worth looking for them. */
const COMPACT_COUNT_MIN = 4096;
/** Entries that are looked at in one go. */
const LOOK_COUNT = 10_000;

export class Deadlines {
  readonly #heap = new Heap<Entry>((a, b) => a.at < b.at);
  /** Instants of the limits of tasks that are inside, by the seq of the task. */
  readonly #timed = {
    deadline: new Map<number, number>(),
    start: new Map<number, number>(),
    route: new Map<number, number>(),
  };
  /** Taken, and to end: some in each tick. */
  readonly pausesOver: PauseEnd[] = [];
  readonly #compactCountMin: number;
  #compactAt: number;
  /** What is before it is yet to be looked at; 0 between two rounds. */
  #lookAt = 0;

  constructor(compactCountMin = COMPACT_COUNT_MIN) {
    this.#compactCountMin = compactCountMin;
    this.#compactAt = compactCountMin;
  }

  get size(): number {
    return this.#heap.size;
  }

  nextAt(): number {
    return this.#heap.first()?.at ?? Number.POSITIVE_INFINITY;
  }

  /** The limit of a task that is inside already is passed over. */
  push(deadline: Deadline): void {
    if ('task' in deadline && !('attempt' in deadline)) {
      const { task, at, kind } = deadline;
      if (this.#timed[kind].get(task.seq) === at) return;
      this.#timed[kind].set(task.seq, at);
    }
    this.#heap.push(entryOf(deadline));
  }

  /** The earliest entry that is due, or undefined. */
  take(now: number): Entry | undefined {
    const first = this.#heap.first();
    if (first === undefined || first.at > now) return undefined;
    this.#removeAt(0);
    return first;
  }

  /**
   * Drops entries that can no longer apply, where there are more than twice those that were left the
   * last time: so each entry is looked at a bounded number of times. Without it, the timeouts of
   * hours would keep an entry for every short task of those hours. Some at a time, from the end: it
   * is to be called again and again.
   */
  compact(applies: (entry: Entry) => boolean): void {
    const heap = this.#heap;
    if (this.#lookAt === 0 && heap.size > this.#compactAt) this.#lookAt = heap.size;
    if (this.#lookAt === 0) return;
    const until = Math.max(0, this.#lookAt - LOOK_COUNT);
    for (let index = Math.min(this.#lookAt, heap.size) - 1; index >= until; ) {
      const entry = heap.at(index) as Entry;
      if (applies(entry)) index--;
      else {
        this.#removeAt(index);
        // What has come to this place may not have been looked at.
        index = Math.min(index, heap.size - 1);
      }
    }
    this.#lookAt = until;
    if (until === 0) this.#compactAt = Math.max(2 * heap.size, this.#compactCountMin);
  }

  #removeAt(place: number): void {
    const removed = this.#heap.removeAt(place);
    if (removed !== undefined) this.#forget(removed);
  }

  #forget(entry: Entry): void {
    if (!('taskSeq' in entry) || 'attempt' in entry) return;
    const timed = this.#timed[entry.kind];
    if (timed.get(entry.taskSeq) === entry.at) timed.delete(entry.taskSeq);
  }
}

function entryOf(deadline: Deadline): Entry {
  if (!('task' in deadline)) return deadline;
  const { at, task } = deadline;
  const { id: taskId, seq: taskSeq } = task;
  if (!('attempt' in deadline)) return { kind: deadline.kind, at, taskId, taskSeq };
  return { kind: deadline.kind, attempt: deadline.attempt, at, taskId, taskSeq };
}
