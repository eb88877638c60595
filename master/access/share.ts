/**
 * What one kind of work may take of a turn of the event loop: however much of it comes at once, all else
 * that is due waits for no more than that.
 */
export class Share {
  readonly #msMax: number;
  readonly #goOn: () => void;
  /** In this turn. */
  #spentMs = 0;
  #isCounting = false;

  /** @param goOn Called in the turn after one in which anything was spent. */
  constructor(msMax: number, goOn: () => void) {
    this.#msMax = msMax;
    this.#goOn = goOn;
  }

  get isUsedUp(): boolean {
    return this.#spentMs >= this.#msMax;
  }

  spend<T>(work: () => T): T {
    if (!this.#isCounting) setImmediate(() => this.#turn());
    this.#isCounting = true;
    const begunAt = performance.now();
    try {
      return work();
    } finally {
      this.#spentMs += performance.now() - begunAt;
    }
  }

  #turn(): void {
    this.#isCounting = false;
    this.#spentMs = 0;
    this.#goOn();
  }
}
