/**
 * How long this executor may go on with its task without hearing from the master. Pure; instants
 * are milliseconds of a monotonic clock, so that a wall clock that is set changes nothing.
 *
 * The lease counts from before the heartbeat was sent that the master answered: the master counts
 * from when it arrived, and so never ends the lease first. The last part of it, the margin, is for
 * the attempt to end in: the handler is told at its beginning, its processes are killed in the
 * middle, and this process ends when three quarters are over. What is left is for clocks that
 * drift.
 */
const MARGIN_FRACTION = 0.1;
const MARGIN_MS_MIN = 2_000;
/** Of a lease so short that the least margin would use it up: older masters grant such. */
const MARGIN_FRACTION_MAX = 1 / 3;

/**
 * While the lease runs, how long to wait before dialling again, and for the master to answer; of a
 * short lease a sixth each, so that there is time for a second try.
 */
const RECONNECT_WAIT_MS_MAX = 1_000;
const HANDSHAKE_MS_MAX = 2_000;

export class Lease {
  #leaseMs = 0;
  #grantedAt = Number.NEGATIVE_INFINITY;

  /** The master answered what was sent at `sentAt`. An older answer than before changes nothing. */
  renew(sentAt: number, leaseMs: number): void {
    this.#grantedAt = Math.max(this.#grantedAt, sentAt);
    this.#leaseMs = leaseMs;
  }

  get marginMs(): number {
    const atLeast = Math.min(MARGIN_MS_MIN, this.#leaseMs * MARGIN_FRACTION_MAX);
    return Math.max(this.#leaseMs * MARGIN_FRACTION, atLeast);
  }

  /** From this instant on no handler may go on as if nothing were: it is told to end. */
  get abortAt(): number {
    return this.#grantedAt + this.#leaseMs - this.marginMs;
  }

  /** What it started is killed. */
  get killAt(): number {
    return this.#grantedAt + this.#leaseMs - this.marginMs / 2;
  }

  /** This process ends, if an attempt still runs in it. */
  get exitAt(): number {
    return this.#grantedAt + this.#leaseMs - this.marginMs / 4;
  }

  get reconnectWaitMsMax(): number {
    return Math.min(RECONNECT_WAIT_MS_MAX, this.#leaseMs / 6);
  }

  get handshakeMsMax(): number {
    return Math.min(HANDSHAKE_MS_MAX, this.#leaseMs / 6);
  }

  isLost(now: number): boolean {
    return now >= this.abortAt;
  }
}

/**
 * How long the answer to a heartbeat may take: a dead connection must be noticed with enough of
 * the lease left to make another, and a busy master given a moment.
 */
export function echoMs(heartbeatMs: number, leaseMs: number): number {
  return Math.max(heartbeatMs * 0.75, Math.min(2_000, leaseMs / 6));
}
