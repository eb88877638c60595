/** How many executors of each pool one window may still have: those that it is promised, and those that nobody is. */
import type { Part } from '../plan/plan.ts';

export class Promised {
  readonly #own: Map<string, number>;
  readonly #spare = new Map<string, number>();
  readonly #roomIn: (pool: string) => number;

  /** @param roomIn How many executors of a pool nobody is promised for the whole window. */
  constructor(parts: readonly Part[], roomIn: (pool: string) => number) {
    this.#own = new Map(parts.map(({ pool, count }) => [pool, count]));
    this.#roomIn = roomIn;
  }

  /** Of its own. */
  ownIn(pool: string): number {
    return this.#own.get(pool) ?? 0;
  }

  /** Beside its own. */
  spareIn(pool: string): number {
    let count = this.#spare.get(pool);
    if (count === undefined) this.#spare.set(pool, (count = Math.max(0, this.#roomIn(pool))));
    return count;
  }

  /** It has one more: its own first. False: it may not. */
  take(pool: string): boolean {
    const own = this.ownIn(pool);
    if (own > 0) this.#own.set(pool, own - 1);
    else if (this.spareIn(pool) > 0) this.#spare.set(pool, this.spareIn(pool) - 1);
    else return false;
    return true;
  }
}
