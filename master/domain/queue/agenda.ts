/**
 * Queues in the order of their first tasks, by (orderTime, seq).
 *
 * A queue stands where its first task was when it last came to the front, or earlier. So one that
 * loses its first task costs nothing, in however many agendas it stands: each puts it right when
 * it comes to the front there. One whose first task may now come earlier must be announced.
 */
import type { Task } from '../model/task.ts';
import { Heap } from './heap.ts';
import { isBefore, type Position } from './window.ts';

/** What an agenda notes on a queue; each queue stands in one agenda. */
export interface Standing {
  /** -1: it does not stand there. */
  place: number;
  /** None of its tasks comes before this position. */
  notBefore: Position;
}

/** Of a queue that does not stand in its agenda. */
export const OUT: Standing = { place: -1, notBefore: { time: 0, seq: 0 } };

export class Agenda<T extends Standing> {
  readonly #heap = new Heap<T>(
    (a, b) => isBefore(a.notBefore, b.notBefore),
    (queue, place) => {
      queue.place = place;
    },
  );
  readonly #headOf: (queue: T) => Task | undefined;

  /** `headOf`: undefined for a queue that has none, or of which none may be taken now. */
  constructor(headOf: (queue: T) => Task | undefined) {
    this.#headOf = headOf;
  }

  /** Its first task, which may come earlier than the one before; or it had none that might be taken. */
  announce(queue: T, head: Task): void {
    const position = positionOf(head);
    if (queue.place >= 0 && !isBefore(position, queue.notBefore)) return;
    queue.notBefore = position;
    if (queue.place < 0) this.#heap.push(queue);
    else this.#heap.moved(queue.place);
  }

  remove(queue: T): void {
    if (queue.place >= 0) this.#heap.removeAt(queue.place);
  }

  /** The queue whose first task comes first; undefined: there is none. */
  first(): T | undefined {
    for (;;) {
      const queue = this.#heap.first();
      if (queue === undefined) return undefined;
      const head = this.#headOf(queue);
      if (head === undefined) this.#heap.removeAt(0);
      else if (isHeadOf(queue, head)) return queue;
      else {
        queue.notBefore = positionOf(head);
        this.#heap.moved(0);
      }
    }
  }

  /**
   * The first of the tasks that `choose` finds, one in each queue. It asks them one after another,
   * until no other can have an earlier one: the first alone, where that gives its first task. It may
   * take tasks out, and must not announce. `earliest`: one from elsewhere, to be compared with.
   */
  choose(choose: (queue: T) => Task | undefined, earliest?: Task): Task | undefined {
    const asked: T[] = [];
    let best = earliest;
    for (let queue = this.first(); queue !== undefined; queue = this.first()) {
      if (best !== undefined && isBefore(positionOf(best), queue.notBefore)) break;
      const task = choose(queue);
      if (task !== undefined && (best === undefined || comesFirst(task, best))) best = task;
      if (task !== undefined && isHeadOf(queue, task)) break;
      this.#heap.removeAt(queue.place);
      asked.push(queue);
    }
    for (const queue of asked) this.#heap.push(queue);
    return best;
  }

  /** As they stand: the first first, no other before the one at half its place. */
  *[Symbol.iterator](): Iterator<T> {
    for (let place = 0; place < this.#heap.size; place++) yield this.#heap.at(place) as T;
  }
}

/** The place of a task among those of its lane, and of other lanes (P6). */
export function positionOf(task: Pick<Task, 'orderTime' | 'seq'>): Position {
  return { time: task.orderTime, seq: task.seq };
}

/** Whether `a` is to be offered before `b`. */
export function comesFirst(a: Task, b: Task): boolean {
  return isBefore(positionOf(a), positionOf(b));
}

function isHeadOf({ notBefore }: Standing, { orderTime, seq }: Task): boolean {
  return notBefore.seq === seq && notBefore.time === orderTime;
}
