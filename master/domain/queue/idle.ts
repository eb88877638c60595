/** Executors of a pool that are idle, in the order in which they became so, to be gone through from either end. */
import type { Executor } from '../model/executor.ts';

interface Link {
  readonly executor: Executor;
  before: Link | null;
  after: Link | null;
}

export class IdleExecutors implements Iterable<Executor> {
  readonly #links = new Map<Executor, Link>();
  #first: Link | null = null;
  #last: Link | null = null;

  get size(): number {
    return this.#links.size;
  }

  has(executor: Executor): boolean {
    return this.#links.has(executor);
  }

  /** Behind all others; does nothing where it is among them. */
  add(executor: Executor): void {
    if (this.#links.has(executor)) return;
    const link: Link = { executor, before: this.#last, after: null };
    if (this.#last === null) this.#first = link;
    else this.#last.after = link;
    this.#last = link;
    this.#links.set(executor, link);
  }

  /** Whether it was among them. */
  delete(executor: Executor): boolean {
    const link = this.#links.get(executor);
    if (link === undefined) return false;
    if (link.before === null) this.#first = link.after;
    else link.before.after = link.after;
    if (link.after === null) this.#last = link.before;
    else link.after.before = link.before;
    return this.#links.delete(executor);
  }

  /** The longest idle first. */
  *[Symbol.iterator](): Iterator<Executor> {
    for (let link = this.#first; link !== null; link = link.after) yield link.executor;
  }

  /** The one that was at work last first. */
  *fromLast(): Generator<Executor> {
    for (let link = this.#last; link !== null; link = link.before) yield link.executor;
  }
}
