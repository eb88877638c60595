/**
 * Holds the one attempt this executor may run, and sees that it ends when it must: when the lease
 * is lost, or when it was told to end. An attempt that does not end within its grace is ended
 * together with the process, because nothing else is certain to stop it.
 * It never decides when a lease is renewed; `session-client.ts` does.
 */
import type { AbortReason } from '../errors.ts';
import { Lease } from './lease.ts';
import type { AttemptKey } from '../thread-messages.ts';

/**
 * `offered`: the handlers' thread has not answered yet. `accepted`: it has, and the master has yet
 * to say that this came in time. `running`: it has. `fenced`: the lease was lost under it, so that
 * nothing it reports may be sent.
 */
type HeldState = 'offered' | 'accepted' | 'running' | 'fenced';

interface HeldAttempt extends AttemptKey {
  state: HeldState;
}

export interface AttemptGuardOptions {
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number;
  readonly abort: (key: AttemptKey, reason: AbortReason) => void;
  /** The lease was lost under an attempt. */
  readonly onLeaseLost: () => void;
  readonly endProcess: (why: string) => void;
}

export class AttemptGuard {
  readonly #options: AttemptGuardOptions;
  readonly #lease = new Lease();
  #held: HeldAttempt | null = null;
  #leaseTimer: NodeJS.Timeout | undefined;
  #graceTimer: NodeJS.Timeout | undefined;
  #onFree: (() => void) | undefined;

  constructor(options: AttemptGuardOptions) {
    this.#options = options;
  }

  get held(): Readonly<HeldAttempt> | null {
    return this.#held;
  }

  get hasLease(): boolean {
    return !this.#lease.isLost(this.#options.now());
  }

  get graceMs(): number {
    return this.#lease.graceMs;
  }

  holds(key: AttemptKey): boolean {
    return this.#held?.taskId === key.taskId && this.#held.attempt === key.attempt;
  }

  /** Only while nothing is held. */
  hold(key: AttemptKey): void {
    this.#held = { ...keyOf(key), state: 'offered' };
    this.#watchLease();
  }

  /** False: the offer was taken back in the meantime, or the lease was lost. */
  accept(key: AttemptKey): boolean {
    if (!this.holds(key) || this.#held?.state !== 'offered') return false;
    this.#held.state = 'accepted';
    return true;
  }

  /** The master has acknowledged that the attempt was accepted. */
  begin(): void {
    if (this.#held?.state === 'accepted') this.#held.state = 'running';
  }

  /** The attempt has ended. Returns whether its result may be sent. */
  release(key: AttemptKey): boolean {
    if (!this.holds(key)) return false;
    const counts = this.#held?.state !== 'fenced';
    this.#held = null;
    clearTimeout(this.#graceTimer);
    clearTimeout(this.#leaseTimer);
    this.#onFree?.();
    return counts;
  }

  /** An offer that belongs to a session that is over: its answer would mean nothing any more. */
  dropOffer(): void {
    const held = this.#held;
    if (held?.state !== 'offered') return;
    this.release(held);
    this.#options.abort(keyOf(held), 'stale_attempt');
  }

  /** Resolves at once unless a fenced attempt has still to end. */
  async noneFenced(): Promise<void> {
    if (this.#held?.state !== 'fenced') return;
    await new Promise<void>((resolve) => {
      this.#onFree = resolve;
    });
  }

  renewLease(sentAt: number, leaseMs: number): void {
    this.#lease.renew(sentAt, leaseMs);
    this.#watchLease();
  }

  /** To be called before anything is sent or believed: the process may have been stopped. */
  noticeLostLease(): void {
    if (this.#held === null || this.#held.state === 'fenced' || this.hasLease) return;
    this.fence();
    this.#options.onLeaseLost();
  }

  /** Whatever the lease says: nobody waits for this attempt any more. */
  fence(): void {
    if (this.#held === null || this.#held.state === 'fenced') return;
    this.#held.state = 'fenced';
    this.#abort(this.#held, 'lease_lost', this.#lease.graceMs);
  }

  /** The master wants the attempt to end. */
  abort(key: AttemptKey, reason: AbortReason, graceMs: number): void {
    if (this.holds(key)) this.#abort(key, reason, graceMs);
  }

  #abort(key: AttemptKey, reason: AbortReason, graceMs: number): void {
    this.#options.abort(keyOf(key), reason);
    clearTimeout(this.#graceTimer);
    this.#graceTimer = setTimeout(() => {
      this.#options.endProcess(
        `attempt ${key.attempt} of task ${key.taskId} was told to end (${reason}) and did not ` +
          `within ${Math.round(graceMs)} ms`,
      );
    }, graceMs);
  }

  #watchLease(): void {
    if (this.#held === null) return;
    clearTimeout(this.#leaseTimer);
    const waitMs = Math.max(0, this.#lease.endsAt - this.#options.now());
    this.#leaseTimer = setTimeout(() => {
      this.noticeLostLease();
      // A timer may fire a moment early.
      if (this.#held !== null && this.#held.state !== 'fenced') this.#watchLease();
    }, Math.ceil(waitMs));
  }
}

export function keyOf({ taskId, attempt }: AttemptKey): AttemptKey {
  return { taskId, attempt };
}
