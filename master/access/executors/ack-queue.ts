/** Sessions whose peer may have to be told of a newer ack at the end of this turn of the event loop. */
import type { Clock } from '../../application/ports.ts';
import { type ExecutorSession, write } from './session.ts';

export class AckQueue {
  readonly #clock: Pick<Clock, 'soon'>;
  readonly #due = new Set<ExecutorSession>();

  constructor(clock: Pick<Clock, 'soon'>) {
    this.#clock = clock;
  }

  add(session: ExecutorSession): void {
    if (!session.frames.ackDue) return;
    if (this.#due.size === 0) this.#clock.soon(() => this.#flush());
    this.#due.add(session);
  }

  /** It has ended. */
  delete(session: ExecutorSession): void {
    this.#due.delete(session);
  }

  /** Acks that found no frame to ride on. */
  #flush(): void {
    for (const { connection, frames } of this.#due) {
      if (connection === null || !frames.ackDue) continue;
      write(connection.socket, { type: 'ack', ack: frames.announceAck() });
    }
    this.#due.clear();
  }
}
