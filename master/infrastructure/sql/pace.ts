/**
 * Shares the event loop between the store and everything else of the process. SQLite's driver is
 * synchronous, and an `await` of what is there already goes to microtasks only: without a pause
 * any number of store calls would be one block, in which no heartbeat is read and no timer fires.
 */

/** Of one turn of the event loop: others may have had as much of it before. */
const SHARE_MS = 3;

export class Pace {
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** When the store began to work in this turn of the event loop; null: not yet. */
  #begunAt: number | null = null;

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
}
