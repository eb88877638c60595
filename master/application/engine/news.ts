/** Who waits for the feed to tell more. Knows how far it has told, and nothing of what. */
import type { Clock } from '../ports.ts';

export class News {
  /** Up to here all is committed. */
  #newest = 0;
  #isOver = false;
  /** What wakes whoever waits, and for more than which number. */
  readonly #waiting = new Map<() => void, number>();

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
    this.#wake(newest);
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
      this.#waiting.set(wake, after);
    });
  }

  /** Nobody tells any more. */
  end(): void {
    this.#isOver = true;
    this.#wake();
  }

  /** Without a number: all. */
  #wake(newest?: number): void {
    for (const [wake, after] of [...this.#waiting]) {
      if (newest === undefined || after < newest) wake();
    }
  }
}
