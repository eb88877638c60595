/** A clock that stands still until it is moved: timeouts happen when the test says so. */
import type { Clock } from '../../master/application/ports.ts';

export class ManualClock implements Clock {
  #now: number;
  readonly #alarms = new Set<{ readonly at: number; readonly call: () => void }>();

  constructor(startAt = 1_000_000) {
    this.#now = startAt;
  }

  now(): number {
    return this.#now;
  }

  wakeAt(at: number, call: () => void): () => void {
    const alarm = { at, call };
    this.#alarms.add(alarm);
    return () => this.#alarms.delete(alarm);
  }

  soon(call: () => void): void {
    setImmediate(call);
  }

  /** Moves on, stopping at each alarm on the way. */
  advance(ms: number): void {
    const until = this.#now + ms;
    for (;;) {
      const [next] = [...this.#alarms].filter(({ at }) => at <= until).sort((a, b) => a.at - b.at);
      if (next === undefined) break;
      this.#alarms.delete(next);
      this.#now = Math.max(this.#now, next.at);
      next.call();
    }
    this.#now = until;
  }
}
