/**
 * Decides which callback goes next, so that no receiver can stall the others: bounded in total
 * and per origin, origins in turn, and an origin in trouble gets one at a time until it answers
 * again. Knows nothing of HTTP and holds no timer.
 */

interface Origin<T> {
  readonly name: string;
  readonly waiting: T[];
  inFlightCount: number;
  failing: boolean;
}

export interface OriginLimits {
  readonly inFlightMax: number;
  readonly inFlightPerOriginMax: number;
  /** Origins in trouble that are remembered while nothing is queued for them. */
  readonly failingOriginsMax: number;
}

export class OriginQueue<T> {
  readonly #start: (item: T) => void;
  readonly #limits: OriginLimits;
  readonly #origins = new Map<string, Origin<T>>();
  /** Origins that may start another item, in the order of their turns. */
  readonly #ready = new Set<Origin<T>>();
  #inFlightCount = 0;

  /** @param start Called for each item when its turn comes; `settle` must follow, later. */
  constructor(limits: OriginLimits, start: (item: T) => void) {
    this.#limits = limits;
    this.#start = start;
  }

  add(name: string, item: T): void {
    let origin = this.#origins.get(name);
    if (origin === undefined) {
      origin = { name, waiting: [], inFlightCount: 0, failing: false };
      this.#origins.set(name, origin);
    }
    origin.waiting.push(item);
    this.#offerTurn(origin);
    this.#startNext();
  }

  /**
   * An item of this origin has ended. `healthy` is null where it says nothing about the origin.
   * @returns true if the origin was in trouble before, so that this is not its first failure.
   */
  settle(name: string, healthy: boolean | null): boolean {
    const origin = this.#origins.get(name);
    if (origin === undefined) return false;
    const wasFailing = origin.failing;
    if (healthy !== null) origin.failing = !healthy;
    origin.inFlightCount -= 1;
    this.#inFlightCount -= 1;
    this.#offerTurn(origin);
    this.#startNext();
    this.#forgetIfIdle(origin);
    return wasFailing && origin.failing;
  }

  /** Takes out everything that waits for this origin. */
  takeWaiting(name: string): T[] {
    const origin = this.#origins.get(name);
    if (origin === undefined) return [];
    this.#ready.delete(origin);
    return origin.waiting.splice(0);
  }

  /** What is in flight goes on, and is to be settled. */
  clearWaiting(): void {
    this.#ready.clear();
    for (const origin of this.#origins.values()) {
      origin.waiting.length = 0;
      this.#forgetIfIdle(origin);
    }
  }

  clear(): void {
    this.#origins.clear();
    this.#ready.clear();
  }

  #offerTurn(origin: Origin<T>): void {
    const max = origin.failing ? 1 : this.#limits.inFlightPerOriginMax;
    if (origin.waiting.length > 0 && origin.inFlightCount < max) this.#ready.add(origin);
    else this.#ready.delete(origin);
  }

  #startNext(): void {
    while (this.#inFlightCount < this.#limits.inFlightMax) {
      const [origin] = this.#ready;
      const item = origin?.waiting.shift();
      if (origin === undefined || item === undefined) return;
      origin.inFlightCount += 1;
      this.#inFlightCount += 1;
      // Back to the end of the line: every origin gets its turn.
      this.#ready.delete(origin);
      this.#offerTurn(origin);
      this.#start(item);
    }
  }

  #forgetIfIdle(origin: Origin<T>): void {
    if (origin.inFlightCount > 0 || origin.waiting.length > 0) return;
    if (!origin.failing || this.#origins.size > this.#limits.failingOriginsMax) {
      this.#origins.delete(origin.name);
    }
  }
}
