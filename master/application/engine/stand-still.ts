/**
 * Notices that this process stood still: stopped, swapped out, or held up by one long piece of work.
 * A timer of the event loop says so, not the turns of the engine: a turn may wait for a slow commit
 * as long as it likes, and the loop goes on reading what executors say.
 */
import type { Clock } from '../ports.ts';

const BEAT_MS = 250;
/** A beat that comes so much late was not held up by ordinary work. */
const LATE_MS = 1_000;

export class StandStill {
  readonly #clock: Clock;
  #beatAt: number;
  #hiddenMs = 0;
  #callOff: () => void = () => undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#beatAt = clock.now();
  }

  start(): void {
    this.#beatAt = this.#clock.now();
    this.#beat();
  }

  stop(): void {
    this.#callOff();
  }

  /** How long it stood still since this was asked last; 0 where it did not. */
  take(): number {
    this.#note();
    const hiddenMs = this.#hiddenMs;
    this.#hiddenMs = 0;
    return hiddenMs;
  }

  #beat(): void {
    this.#note();
    this.#callOff = this.#clock.wakeAt(this.#clock.now() + BEAT_MS, () => this.#beat());
  }

  /** Whoever comes first after it: a turn may be sooner than the timer. */
  #note(): void {
    const now = this.#clock.now();
    const gapMs = now - this.#beatAt;
    if (gapMs > BEAT_MS + LATE_MS) this.#hiddenMs += gapMs;
    this.#beatAt = now;
  }
}
