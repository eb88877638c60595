/**
 * Sessions whose peer may have to be told of a newer ack, once all that the engine has for them now is handed over: a
 * handler waits for that of its acceptance.
 */
import { type ExecutorSession, write } from './session.ts';

export class AckQueue {
  readonly #due = new Set<ExecutorSession>();

  add(session: ExecutorSession): void {
    if (!session.frames.ackDue) return;
    if (this.#due.size === 0) void Promise.resolve().then(() => this.#flush());
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
