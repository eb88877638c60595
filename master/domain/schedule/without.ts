/** Times of a trigger but for some, of which nothing is to become any more. Pure. */
import type { Times } from './times.ts';

/** Those of them that are none of these, which are few. */
export function without(times: Times, some: readonly number[]): Times {
  return some.length === 0 ? times : new Without(times, new Set(some));
}

class Without implements Times {
  readonly #times: Times;
  readonly #some: ReadonlySet<number>;

  constructor(times: Times, some: ReadonlySet<number>) {
    this.#times = times;
    this.#some = some;
  }

  next(after: number): number | null {
    let next = this.#times.next(after);
    while (next !== null && this.#some.has(next)) next = this.#times.next(next);
    return next;
  }

  last(from: number, to: number): number | null {
    let last = this.#times.last(from, to);
    while (last !== null && this.#some.has(last)) last = this.#times.last(from, last);
    return last;
  }

  count(from: number, to: number): number {
    let count = this.#times.count(from, to);
    for (const one of this.#some) {
      if (from <= one && one < to) count -= this.#times.count(one, one + 1);
    }
    return count;
  }
}
