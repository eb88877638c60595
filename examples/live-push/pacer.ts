/**
 * When frames are due. Time is cut into slots of one frame each, counted from a beginning; every slot is due once, when its
 * time has come. Pure: instants are milliseconds of a monotonic clock.
 */
export interface Due {
  /** The first slot that is due, and how many are. */
  readonly from: number;
  readonly count: number;
  /** So many before it were due so long ago that they are left out. */
  readonly skippedCount: number;
}

export class Pacer {
  readonly #beginAt: number;
  readonly #rate: number;
  readonly #burstMax: number;
  #next = 0;

  /** @param burstMax so many slots at most are made up for after this process was held up. */
  constructor(beginAt: number, rate: number, burstMax: number) {
    this.#beginAt = beginAt;
    this.#rate = rate;
    this.#burstMax = burstMax;
  }

  /** When the next slot is due. */
  get nextAt(): number {
    return this.timeOf(this.#next);
  }

  timeOf(slot: number): number {
    return this.#beginAt + (slot * 1000) / this.#rate;
  }

  /** They are not due again. */
  take(now: number): Due {
    // What a timer calls at its time is due, although the sum may differ by a bit.
    const end = Math.floor(((now - this.#beginAt) * this.#rate) / 1000 + 1e-6) + 1;
    const count = Math.max(0, Math.min(end - this.#next, this.#burstMax));
    const from = Math.max(this.#next, end - count);
    const skippedCount = from - this.#next;
    this.#next = from + count;
    return { from, count, skippedCount };
  }
}
