/** A clock that stands still until it is moved: timeouts happen when the test says so. */
import type { Clock } from '../../master/application/ports.ts';

/** Everything that can go on without an answer from the test has gone on. */
export async function settled(): Promise<void> {
  for (let i = 0; i < 20; i++) await new Promise<void>((resolve) => void setImmediate(resolve));
}

export class ManualClock implements Clock {
  #now = 1_800_000_000_000;
  #departureMs = 0;
  /** In all. */
  #followedMs = 0;
  readonly #alarms = new Set<{ at: number; readonly call: () => void }>();

  now(): number {
    return this.#now;
  }

  /** When someone wants to be woken; infinite while nobody does. */
  get nextAlarmAt(): number {
    return Math.min(Number.POSITIVE_INFINITY, ...[...this.#alarms].map(({ at }) => at));
  }

  wakeAt(at: number, call: () => void): () => void {
    const alarm = { at, call };
    this.#alarms.add(alarm);
    return () => this.#alarms.delete(alarm);
  }

  soon(call: () => void): void {
    setImmediate(call);
  }

  /** The wall clock is set, so far ahead of this one; or back. */
  setWall(departureMs: number): void {
    this.#departureMs = departureMs;
  }

  departureMs(): number {
    return this.#departureMs;
  }

  followWall(): void {
    this.#now += this.#departureMs;
    this.#followedMs += this.#departureMs;
    for (const alarm of this.#alarms) alarm.at += this.#departureMs;
    this.#departureMs = 0;
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

  /** The process is stopped for so long: all that was due meanwhile comes afterwards. */
  standStill(ms: number): void {
    this.#now += ms;
    this.advance(0);
  }

  /** As `advance`, but each alarm has its consequences before the next. */
  async pass(ms: number): Promise<void> {
    const until = this.#now - this.#followedMs + ms;
    await settled();
    while (this.nextAlarmAt <= until + this.#followedMs) {
      this.advance(Math.max(0, this.nextAlarmAt - this.#now));
      await settled();
    }
    this.#now = until + this.#followedMs;
  }
}
