/**
 * How long this executor may go on with its task without hearing from the master. Pure; instants
 * are milliseconds of a monotonic clock, so that a wall clock that is set changes nothing.
 *
 * The lease counts from before the heartbeat was sent that the master answered: the master counts
 * from when it arrived, and so never ends the lease first. An attempt is told to end at three
 * quarters of it, and gets a fifth of it to do so: what is left is for clocks that drift.
 */
const ABORT_FRACTION = 0.75;
const GRACE_FRACTION = 0.2;

export class Lease {
  #leaseMs = 0;
  #grantedAt = Number.NEGATIVE_INFINITY;

  /** The master answered what was sent at `sentAt`. An older answer than before changes nothing. */
  renew(sentAt: number, leaseMs: number): void {
    this.#grantedAt = Math.max(this.#grantedAt, sentAt);
    this.#leaseMs = leaseMs;
  }

  /** From this instant on no task may run. */
  get endsAt(): number {
    return this.#grantedAt + this.#leaseMs * ABORT_FRACTION;
  }

  /** How long a task may take to end once it was told to. */
  get graceMs(): number {
    return this.#leaseMs * GRACE_FRACTION;
  }

  isLost(now: number): boolean {
    return now >= this.endsAt;
  }
}
