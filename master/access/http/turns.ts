/**
 * Requests and answers of all connections: so many in a turn of the event loop as fit into their share of it.
 * What waits is bounded by the number of connections, of which each has one of either.
 */
import { Share } from '../share.ts';

/** Of one turn. */
export const REQUESTS_MS_MAX = 4;

export class Turns {
  readonly #share = new Share(REQUESTS_MS_MAX, () => this.#goOn());
  readonly #waiting: (() => void)[] = [];

  /** At once, unless the share is used up; in the order of calls. */
  run<T>(work: () => T): T | Promise<T> {
    if (!this.#share.isUsedUp) return this.#share.spend(work);
    return new Promise((resolve) => {
      // In a function of its own that is async: what it throws is its caller's.
      this.#waiting.push(() => resolve((async () => work())()));
    });
  }

  #goOn(): void {
    const { length } = this.#waiting;
    let count = 0;
    while (count < length && !this.#share.isUsedUp) {
      this.#share.spend(this.#waiting[count++] as () => void);
    }
    this.#waiting.splice(0, count);
  }
}
