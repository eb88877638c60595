/**
 * Shares the event loop between the store and everything else of the process. SQLite's driver is
 * synchronous, and an `await` of what is there already goes to microtasks only: without a pause
 * any number of store calls would be one block, in which no heartbeat is read and no timer fires.
 */

/** Of one turn of the event loop: others may have had as much of it before. */
const SHARE_MS = 3;
/**
 * After a piece of work that can wait all else has as much time, in so many turns of the event loop at least
 * and at most: a request needs some of them until its commit is under way.
 */
const REST_TURN_COUNT_MIN = 4;
const REST_TURN_COUNT_MAX = 16;

export class Pace {
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** When the store began to work in this turn of the event loop; null: not yet. */
  #begunAt: number | null = null;
  /** Ends when the newest piece of what can wait, and the rest after it, will have ended. */
  #aside: Promise<void> = Promise.resolve();

  constructor(now: () => number = () => performance.now()) {
    this.now = now;
  }

  /**
   * To be asked between pieces of work: true once this turn of the event loop has had its share.
   * Cheap enough for every row, and a turn that stays within its share is never cut.
   */
  get isOver(): boolean {
    if (this.#begunAt === null) {
      this.#begunAt = this.now();
      setImmediate(() => {
        this.#begunAt = null;
      });
      return false;
    }
    return this.now() - this.#begunAt >= SHARE_MS;
  }

  /** Lets the event loop turn. Others that wait may go first, and use up the next turn as well. */
  async pause(): Promise<void> {
    do await new Promise<void>((resolve) => void setImmediate(resolve));
    while (this.isOver);
  }

  /**
   * A piece of work that only a person waits for, such as a search. One at a time, whosever it is, so that
   * a commit finds one before it at most; then all else has its turns.
   */
  async aside<T>(piece: () => Promise<T>): Promise<T> {
    const before = this.#aside;
    let end: () => void = () => undefined;
    this.#aside = new Promise((resolve) => {
      end = resolve;
    });
    await before;
    const begun = this.now();
    try {
      return await piece();
    } finally {
      void this.#rest(2 * this.now() - begun).then(end);
    }
  }

  async #rest(until: number): Promise<void> {
    for (let turnCount = 0; turnCount < REST_TURN_COUNT_MAX; turnCount++) {
      if (turnCount >= REST_TURN_COUNT_MIN && this.now() >= until) return;
      await new Promise<void>((resolve) => void setImmediate(resolve));
    }
  }
}
