/**
 * Holds the one attempt this executor may run, and sees that it ends when it must: when the lease
 * is lost, when it took too long, or when it was told to end. First the handler is told, then what
 * it started is killed; an attempt that goes on all the same is ended together with the process,
 * because nothing else is certain to stop it.
 * It never decides when a lease is renewed; `session-client.ts` does.
 */
import type { GroupGuard } from '../children/group-guard.ts';
import type { AbortReason } from '../errors.ts';
import { keyOf } from '../thread-messages.ts';
import type { AttemptKey } from '../thread-messages.ts';
import type { Clock } from './clock.ts';
import { Lease } from './lease.ts';
import { RunTime } from './run-time.ts';
import type { TimeLimits } from './run-time.ts';

/** For a handler that took too long, as long as a master gives where it says nothing else. */
const TIMEOUT_GRACE_MS = 10_000;

/**
 * `offered`: the handlers' thread has not answered yet. `accepted`: it has, and the master has yet
 * to say that this came in time. `running`: it has. `fenced`: the lease was lost under it, so that
 * nothing it reports may be sent.
 */
type HeldState = 'offered' | 'accepted' | 'running' | 'fenced';

interface HeldAttempt extends Offer {
  state: HeldState;
  /** Null until it runs. */
  runTime: RunTime | null;
}

/** What the master has offered, as far as it matters here. */
export interface Offer extends AttemptKey {
  /** To be handed back in whatever is said about this attempt; an older master gives none. */
  readonly mac: string | undefined;
  /** They count from when the handler begins. */
  readonly limits: TimeLimits;
}

export interface AttemptGuardOptions {
  readonly clock: Clock;
  readonly abort: (key: AttemptKey, reason: AbortReason) => void;
  /** The lease was lost under an attempt. */
  readonly onLeaseLost: (key: AttemptKey, hasAccepted: boolean) => void;
  /** The processes that handlers started. */
  readonly groups: Pick<GroupGuard, 'endBy' | 'killAll'>;
  readonly endProcess: (why: string) => void;
}

const nothing = (): void => undefined;

export class AttemptGuard {
  readonly lease = new Lease();
  readonly #options: AttemptGuardOptions;
  #held: HeldAttempt | null = null;
  #callOffLease = nothing;
  #callOffKill = nothing;
  #callOffExit = nothing;
  #killAt = Number.POSITIVE_INFINITY;
  #exitAt = Number.POSITIVE_INFINITY;
  #onFree: (() => void) | undefined;

  constructor(options: AttemptGuardOptions) {
    this.#options = options;
  }

  get held(): Readonly<HeldAttempt> | null {
    return this.#held;
  }

  get hasLease(): boolean {
    return !this.lease.isLost(this.#options.clock.now());
  }

  holds(key: AttemptKey): boolean {
    return this.#held?.taskId === key.taskId && this.#held.attempt === key.attempt;
  }

  /** Only while nothing is held. */
  hold(offer: Offer): void {
    this.#held = { ...offer, state: 'offered', runTime: null };
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
    const held = this.#held;
    if (held?.state !== 'accepted') return;
    held.state = 'running';
    held.runTime = new RunTime(this.#options.clock, held.limits, (reason) =>
      this.#abort(held, reason, TIMEOUT_GRACE_MS),
    );
  }

  /** The handler has reported something. */
  progressed(): void {
    this.#held?.runTime?.progressed();
  }

  /** The attempt has ended. Returns whether its result may be sent. */
  release(key: AttemptKey): boolean {
    if (!this.holds(key)) return false;
    const counts = this.#held?.state !== 'fenced';
    this.#held?.runTime?.stop();
    this.#held = null;
    for (const callOff of [this.#callOffLease, this.#callOffKill, this.#callOffExit]) callOff();
    this.#killAt = Number.POSITIVE_INFINITY;
    this.#exitAt = Number.POSITIVE_INFINITY;
    this.#tellEnd();
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
    this.lease.renew(sentAt, leaseMs);
    this.#tellEnd();
    this.#watchLease();
  }

  /** To be called before anything is sent or believed: the process may have been stopped. */
  noticeLostLease(): void {
    const held = this.#held;
    if (held === null || held.state === 'fenced' || this.hasLease) return;
    const hasAccepted = held.state !== 'offered';
    this.fence();
    this.#options.onLeaseLost(keyOf(held), hasAccepted);
  }

  /** Whatever the lease says: nobody waits for this attempt any more. */
  fence(): void {
    const held = this.#held;
    if (held === null || held.state === 'fenced') return;
    held.state = 'fenced';
    held.runTime?.stop();
    this.#options.abort(keyOf(held), 'lease_lost');
    // A process that stood still past all of this is woken with a moment to end its handler in.
    const { clock } = this.#options;
    const exitAt = Math.max(this.lease.exitAt, clock.now() + this.lease.marginMs / 2);
    this.#endBy(held, 'lease_lost', this.lease.killAt, exitAt);
  }

  /** The master wants the attempt to end. */
  abort(key: AttemptKey, reason: AbortReason, graceMs: number): void {
    if (this.#held !== null && this.holds(key)) this.#abort(this.#held, reason, graceMs);
  }

  #abort(held: HeldAttempt, reason: AbortReason, graceMs: number): void {
    const now = this.#options.clock.now();
    this.#options.abort(keyOf(held), reason);
    // What it started is killed with enough of the grace left to say how it ended.
    this.#endBy(held, reason, now + graceMs / 2, now + graceMs);
  }

  /** The earliest end that was asked for counts. */
  #endBy({ taskId, attempt }: AttemptKey, reason: AbortReason, killAt: number, exitAt: number) {
    const { clock, groups, endProcess } = this.#options;
    if (killAt < this.#killAt) {
      this.#callOffKill();
      this.#killAt = killAt;
      this.#callOffKill = clock.wakeAt(killAt, () => groups.killAll());
    }
    if (exitAt < this.#exitAt) {
      this.#callOffExit();
      this.#exitAt = exitAt;
      const forMs = Math.round(exitAt - clock.now());
      this.#callOffExit = clock.wakeAt(exitAt, () => {
        endProcess(
          `attempt ${attempt} of task ${taskId} was told to end (${reason}) and did not ` +
            `within ${forMs} ms`,
        );
      });
    }
    this.#tellEnd();
  }

  /** To whom it falls to end them should this process stand still by then. */
  #tellEnd(): void {
    const { killAt, exitAt } = this.lease;
    this.#options.groups.endBy(Math.min(killAt, this.#killAt), Math.min(exitAt, this.#exitAt));
  }

  #watchLease(): void {
    if (this.#held === null || this.#held.state === 'fenced') return;
    this.#callOffLease();
    this.#callOffLease = this.#options.clock.wakeAt(this.lease.abortAt, () =>
      this.noticeLostLease(),
    );
  }
}
