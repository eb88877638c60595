/** How fast an executor may tell of something: one for all its attempts, and a little less than the master takes. */
export class Pace {
  readonly #atOnceMax: number;
  readonly #intervalMs: number;
  /** When all that went would have gone, had each waited for the one before. */
  #paidUntil = Number.NEGATIVE_INFINITY;

  /** So many at once, and then one each so often. */
  constructor(atOnceMax: number, intervalMs: number) {
    this.#atOnceMax = atOnceMax;
    this.#intervalMs = intervalMs;
  }

  /** How long the next one is to wait; 0: it may go. */
  waitMs(now: number): number {
    return Math.max(0, this.#paidUntil - this.#atOnceMax * this.#intervalMs - now);
  }

  /** One goes, in time or not. */
  count(now: number): void {
    this.#paidUntil = Math.max(now, this.#paidUntil) + this.#intervalMs;
  }
}

export const eventPace = (): Pace => new Pace(100, 100);
export const alertPace = (): Pace => new Pace(10, 1_000);
