/**
 * Finds the frame that a master refuses each time it comes. It would be sent again after every
 * reconnect, and close every connection. An older master only says that some frame was bad (4400)
 * or too large (1009): one that is the first it has not received, twice in a row, is the one. A
 * newer one says so at once (4422) and names the frame, and has ended the session.
 */
import { CloseCode } from '@soda-scheduler/protocol';
import type { Ended } from './reconnect.ts';
import type { Outgoing, Refused } from './outbox.ts';

const TOO_LARGE = 1009;

export class RefusedFrames {
  #lastRefusal: Ended | null = null;
  #suspect: Outgoing | null = null;
  #found: Refused | null = null;

  /** A connection has ended like this, while these were not acknowledged. */
  ended(ended: Ended, unacked: readonly Outgoing[]): void {
    const isRefusal = ended.code === CloseCode.badFrame || ended.code === TOO_LARGE;
    this.#lastRefusal = isRefusal ? ended : null;
    if (ended.code !== CloseCode.frameRefused || this.#found !== null) return;
    // The reason begins with the task; if that is none of ours, the newest frame it must be.
    const named = unacked.findLast(({ taskId }) => ended.reason.startsWith(`${taskId}: `));
    const message = named ?? unacked.at(-1);
    if (message !== undefined) this.#found = { message, why: ended.reason };
  }

  /** Whether this, the first that is to be sent again, will never be taken. */
  isRefusedAgain(first: Outgoing | null): boolean {
    const why = this.#lastRefusal?.reason;
    if (why !== undefined && first !== null && first === this.#suspect) {
      this.#found ??= { message: first, why };
    }
    this.#suspect = why === undefined ? null : first;
    return this.#found !== null;
  }

  /** Not to be moved into the session that begins now. */
  takeFound(): Refused | null {
    const found = this.#found;
    this.#found = null;
    return found;
  }
}
