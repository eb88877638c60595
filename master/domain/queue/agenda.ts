/**
 * Queues in the order of their first tasks, by (queueTime, seq); where groups have shares, by whose turn it is.
 *
 * A queue stands where its first task was when it last came to the front, or earlier. So one that
 * loses its first task costs nothing, in however many agendas it stands: each puts it right when
 * it comes to the front there. One whose first task may now come earlier must be announced.
 */
import type { Task } from '../model/task.ts';
import { Heap } from './heap.ts';
import { isBefore, type Position } from './window.ts';

/** By the pass of a group (`shares.ts`), which is 0 where groups have none, and then by position. */
export interface Rank extends Position {
  readonly pass: number;
}

/** What an agenda notes on a queue; each queue stands in one agenda. */
export interface Standing {
  /** -1: it does not stand there. */
  place: number;
  /** None of its tasks comes before this. */
  notBefore: Rank;
}

/** Of a queue that does not stand in its agenda. */
export const OUT: Standing = { place: -1, notBefore: { pass: 0, time: 0, seq: 0 } };

export class Agenda<T extends Standing, Head = Task> {
  readonly #heap = new Heap<T>(
    (a, b) => ranksBefore(a.notBefore, b.notBefore),
    (queue, place) => {
      queue.place = place;
    },
  );
  readonly #headOf: (queue: T) => Head | undefined;
  readonly #rankOf: (head: Head) => Rank;

  /** `headOf`: undefined for a queue that has none, or of which none may be taken now. */
  constructor(headOf: (queue: T) => Head | undefined, rankOf: (head: Head) => Rank) {
    this.#headOf = headOf;
    this.#rankOf = rankOf;
  }

  /** Its first task, which may come earlier than the one before; or it had none that might be taken. */
  announce(queue: T, head: Head): void {
    const rank = this.#rankOf(head);
    if (queue.place >= 0 && !ranksBefore(rank, queue.notBefore)) return;
    queue.notBefore = rank;
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
      if (head === undefined) {
        this.#heap.removeAt(0);
        continue;
      }
      const rank = this.#rankOf(head);
      if (isSame(rank, queue.notBefore)) return queue;
      queue.notBefore = rank;
      this.#heap.moved(0);
    }
  }

  /**
   * The first of those that `choose` finds, one in each queue. It asks them one after another,
   * until no other can have an earlier one: the first alone, where that gives its first task. It may
   * take tasks out, and must not announce. `earliest`: one from elsewhere, to be compared with.
   */
  choose(choose: (queue: T) => Head | undefined, earliest?: Head): Head | undefined {
    const asked: T[] = [];
    let best = earliest;
    let bestRank = best && this.#rankOf(best);
    for (let queue = this.first(); queue !== undefined; queue = this.first()) {
      if (bestRank !== undefined && ranksBefore(bestRank, queue.notBefore)) break;
      const found = choose(queue);
      const rank = found && this.#rankOf(found);
      if (rank !== undefined && (bestRank === undefined || ranksBefore(rank, bestRank))) {
        best = found;
        bestRank = rank;
      }
      if (rank !== undefined && isSame(rank, queue.notBefore)) break;
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
export function positionOf(task: Pick<Task, 'queueTime' | 'seq'>): Position {
  return { time: task.queueTime, seq: task.seq };
}

/** Of a task whose group has no share of its own. */
export function rankOf({ queueTime, seq }: Pick<Task, 'queueTime' | 'seq'>): Rank {
  return { pass: 0, time: queueTime, seq };
}

/** Whether `a` is to be offered before `b`. */
export function comesFirst(a: Task, b: Task): boolean {
  return isBefore(positionOf(a), positionOf(b));
}

export function ranksBefore(a: Rank, b: Rank): boolean {
  return a.pass !== b.pass ? a.pass < b.pass : isBefore(a, b);
}

function isSame(a: Rank, b: Rank): boolean {
  return a.seq === b.seq && a.time === b.time && a.pass === b.pass;
}
