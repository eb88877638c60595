/**
 * What is to be on air at an instant: the warm-up until the class begins, then the class, by the clock alone. So one that
 * starts late is at the same place as one that was never interrupted. Pure; instants are milliseconds, all of one clock.
 */
export type Part = 'warmup' | 'main';

export interface Wanted {
  readonly part: Part;
  /** Of that part, from 0. */
  readonly frame: number;
}

export interface TimelineOptions {
  /** From when on the warm-up runs. */
  readonly beginAt: number;
  readonly startsAt: number;
  readonly endsAt: number | null;
  /** How long the class is; null: as long as there are frames. */
  readonly mainMs: number | null;
  readonly rate: number;
}

export class Timeline {
  #options: TimelineOptions;
  #endAt: number;

  constructor(options: TimelineOptions) {
    this.#options = options;
    const { startsAt, endsAt, mainMs } = options;
    this.#endAt = Math.min(
      endsAt ?? Number.POSITIVE_INFINITY,
      mainMs === null ? Number.POSITIVE_INFINITY : startsAt + mainMs,
    );
  }

  /** Infinite: nobody knows. */
  get endAt(): number {
    return this.#endAt;
  }

  /** Has the class begin, and end, by so much later. */
  moveBy(ms: number): void {
    this.#options = { ...this.#options, startsAt: this.#options.startsAt + ms };
    this.#endAt += ms;
  }

  isOver(at: number): boolean {
    return at >= this.#endAt;
  }

  /** How much of it is over; undefined: nobody knows. */
  percent(at: number): number | undefined {
    const { beginAt } = this.#options;
    if (this.#endAt === Number.POSITIVE_INFINITY) return undefined;
    return Math.min(100, (100 * (at - beginAt)) / (this.#endAt - beginAt));
  }

  wanted(at: number): Wanted {
    const { beginAt, startsAt, rate } = this.#options;
    const part = at < startsAt ? 'warmup' : 'main';
    const since = at - (part === 'main' ? startsAt : beginAt);
    return { part, frame: Math.floor((since * rate) / 1000 + 1e-6) };
  }
}
