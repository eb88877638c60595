/**
 * What this executor has to say about its attempts, kept until the master has acknowledged it:
 * over lost connections in the session, and from one session to the next. Progress gives way to
 * newer progress, so that a master that is slow to acknowledge does not fill the window.
 */
import { Session } from '@soda-scheduler/protocol';
import type { AttemptKey, ToSession } from '../thread-messages.ts';

/** Reports without an ack; beyond that only the newest of each kind is kept. */
const REPORTS_UNACKED_MAX = 16;

/** A frame about an attempt. */
export type Outgoing = Extract<ToSession, { body: string }>;

export class Outbox {
  readonly #write: (seq: number, message: Outgoing) => void;
  readonly #waitingReports = new Map<Outgoing['type'], Outgoing>();
  #session = new Session<Outgoing>();

  /** `write` may do nothing: a frame that was not sent goes out when the session is resumed. */
  constructor(write: (seq: number, message: Outgoing) => void) {
    this.#write = write;
  }

  get session(): Session<Outgoing> {
    return this.#session;
  }

  send(message: Outgoing): void {
    const frame = this.#session.send(message, Buffer.byteLength(message.body));
    // One attempt at a time and few reports of each: only a master that never acknowledges and
    // still assigns can fill the window.
    if (frame === null) throw new Error('the master does not acknowledge results');
    this.#write(frame.seq, message);
  }

  /** Sends progress or a checkpoint, now or once there is room. */
  report(message: Outgoing): void {
    this.#waitingReports.set(message.type, message);
    this.sendReports();
  }

  /** To be called after an ack. */
  sendReports(unackedMax = REPORTS_UNACKED_MAX): void {
    for (const [type, message] of this.#waitingReports) {
      const isReport = (sent: Outgoing) => sent.type === 'progress' || sent.type === 'checkpoint';
      if (this.#session.unacked().filter(isReport).length >= unackedMax) return;
      this.#waitingReports.delete(type);
      this.send(message);
    }
  }

  /** The last word about an attempt: whatever still waits goes before it. */
  conclude(message: Outgoing): void {
    this.sendReports(Number.POSITIVE_INFINITY);
    this.send(message);
  }

  dropReports(): void {
    this.#waitingReports.clear();
  }

  unacked(type: Outgoing['type']): readonly Outgoing[] {
    return this.#session.unacked().filter((message) => message.type === type);
  }

  /**
   * Begins a new session: results move to it, and of the attempt that is still held its acceptance
   * and its newest checkpoint. The rest was only news.
   */
  moveToNewSession(isHeld: (key: AttemptKey) => boolean): void {
    const accepts = this.unacked('accept').filter(isHeld);
    const checkpoint = this.unacked('checkpoint').filter(isHeld).at(-1);
    const kept = this.#session.unacked().filter((message) => {
      return message.type === 'result' || accepts.includes(message) || message === checkpoint;
    });
    this.#session = new Session();
    for (const message of kept) this.send(message);
  }
}
