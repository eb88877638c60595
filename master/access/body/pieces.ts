/**
 * Long work on the event loop, in pieces of a few milliseconds: whatever else is due runs in
 * between. One piece runs at a time, whosever it is, so that many who have long work wait for one
 * another and nobody else does.
 */

/** A generator yields often; how long a piece gets is decided here. */
const PIECE_MS = 4;
/**
 * After a piece of what is long all else has as much time, in so many turns of the event loop at least and
 * at most. Each turn accepts one connection: with a piece in every turn new ones would wait for seconds.
 */
const REST_TURN_COUNT_MIN = 4;
const REST_TURN_COUNT_MAX = 16;

export class Pieces {
  readonly #short: (() => void)[] = [];
  readonly #long: (() => void)[] = [];
  #isServing = false;
  #restUntil = 0;

  /**
   * Never runs anything at once: many requests may have arrived in one turn. What is short has a
   * line of its own, and waits for one piece of what is long, however much of that there is.
   */
  async run<T>(work: Iterator<void, T>, isShort = false): Promise<T> {
    for (;;) {
      await this.#turn(isShort ? this.#short : this.#long);
      const begun = performance.now();
      try {
        do {
          const step = work.next();
          if (step.done === true) return step.value;
        } while (performance.now() < begun + PIECE_MS);
      } finally {
        if (!isShort) this.#restUntil = 2 * performance.now() - begun;
      }
    }
  }

  #turn(line: (() => void)[]): Promise<void> {
    return new Promise((resolve) => {
      line.push(resolve);
      if (!this.#isServing) void this.#serve();
    });
  }

  async #serve(): Promise<void> {
    this.#isServing = true;
    for (let restCount = 1; this.#short.length + this.#long.length > 0; restCount++) {
      await new Promise<void>((resolve) => void setImmediate(resolve));
      const isOver = restCount >= REST_TURN_COUNT_MIN && performance.now() >= this.#restUntil;
      const isRested = isOver || restCount >= REST_TURN_COUNT_MAX;
      const line = isRested && this.#long.length > 0 ? this.#long : this.#short;
      if (line === this.#long) restCount = 0;
      line.shift()?.();
      // It has its piece, and asks for its next one, before this goes on.
      await Promise.resolve();
    }
    this.#isServing = false;
  }
}

/** For work that is known to be short. */
export function runAtOnce<T>(work: Iterator<void, T>): T {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}
