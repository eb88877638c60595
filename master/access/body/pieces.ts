/**
 * Long work on the event loop, in pieces of a few milliseconds: whatever else is due runs in
 * between. One piece runs in each turn of the loop, whosever it is, so that many who have long
 * work wait for one another and nobody else does.
 */

/** A generator yields often; how long a piece gets is decided here. */
const PIECE_MS = 4;

export class Pieces {
  readonly #waiting: (() => void)[] = [];

  /** Never runs anything at once: many requests may have arrived in one turn. */
  async run<T>(work: Iterator<void, T>): Promise<T> {
    for (;;) {
      await this.#turn();
      const until = performance.now() + PIECE_MS;
      do {
        const step = work.next();
        if (step.done === true) return step.value;
      } while (performance.now() < until);
    }
  }

  #turn(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#waiting.push(resolve) === 1) setImmediate(() => this.#next());
    });
  }

  #next(): void {
    this.#waiting.shift()?.();
    // An immediate that is made by another one runs in the next turn.
    if (this.#waiting.length > 0) setImmediate(() => this.#next());
  }
}

/** For work that is known to be short. */
export function runAtOnce<T>(work: Iterator<void, T>): T {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}
