/** Who waits for the feed to tell more. Knows how far it has told, and nothing of what. */
import type { Clock } from '../ports.ts';

export class News {
  /** Up to here all is committed. */
  #newest = 0;
  #isOver = false;
  readonly #waiting = new Set<() => void>();

  get waitingCount(): number {
    return this.#waiting.size;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** So far it has told, for certain. */
  advance(newest: number): void {
    if (newest <= this.#newest) return;
    this.#newest = newest;
    this.#wakeAll();
  }

  /** Until there is more than up to that number, or that instant has come, or all is over. */
  wait(after: number, clock: Pick<Clock, 'wakeAt'>, until: number): Promise<void> {
    if (this.#newest > after || this.#isOver) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = (): void => {
        callOff();
        this.#waiting.delete(wake);
        resolve();
      };
      const callOff = clock.wakeAt(until, wake);
      this.#waiting.add(wake);
    });
  }

  /** Nobody tells any more. */
  end(): void {
    this.#isOver = true;
    this.#wakeAll();
  }

  #wakeAll(): void {
    for (const wake of [...this.#waiting]) wake();
  }
}
