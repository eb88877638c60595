/**
 * What the master and the handlers have to say to each other about attempts, in the order that
 * both may rely on: an offer is answered, begins once its acceptance is acknowledged, and ends
 * with one result. It never decides when an attempt must end; `attempt-guard.ts` does.
 */
import type { AssignedTask, RunningAttempt, WelcomeFrame } from '@soda-scheduler/protocol';
import type { EventDraft } from '../events.ts';
import type { LogSpool } from '../log/log-spool.ts';
import { type Refusal, rejectBody } from '../outcome.ts';
import type { AttemptKey, FromSession, ToSession } from '../thread-messages.ts';
import { keyOf, offeredTask } from '../thread-messages.ts';
import type { AttemptGuard } from './attempt-guard.ts';
import { type Outbox, type Outgoing, type Refused, runningAttempt, stamped } from './outbox.ts';
import { timeLimits } from './run-time.ts';

/** What handlers say about the attempt that they were given. */
export type Report = Extract<ToSession, { body: string }>;

export interface AttemptsOptions {
  readonly types: readonly string[];
  readonly guard: AttemptGuard;
  readonly outbox: Outbox;
  readonly logs: Pick<LogSpool, 'lineCountOf'>;
  readonly tell: (message: FromSession) => void;
  readonly event: (type: EventDraft['type'], message: string, key: AttemptKey) => void;
}

export class Attempts {
  readonly #options: AttemptsOptions;
  #isDraining = false;

  constructor(options: AttemptsOptions) {
    this.#options = options;
  }

  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** Takes nothing new from now on. */
  drain(): void {
    this.#isDraining = true;
  }

  /** `text`: of the frame with the offer. */
  offer(task: AssignedTask, text: string, { limits, features }: WelcomeFrame): void {
    const { guard, outbox, tell } = this.#options;
    const key = { taskId: task.id, attempt: task.attempt };
    const { mac } = task;
    const refusal = this.#refusal(task.type);
    if (refusal !== null) {
      const body = rejectBody(key, refusal);
      return outbox.send(stamped({ type: 'reject', ...key, body }, mac));
    }
    // An older master would not understand how such an attempt ended; it sees to it by itself.
    const reportsTimeouts = features.includes('timeouts');
    guard.hold({ ...key, mac, limits: timeLimits(reportsTimeouts ? task : {}) });
    const reportsParts = features.includes('parts');
    tell({ type: 'assigned', ...offeredTask(task, text), limits, reportsTimeouts, reportsParts });
  }

  /** From the handlers. */
  report(message: Report): void {
    const { guard, outbox, tell } = this.#options;
    switch (message.type) {
      case 'accept':
        if (guard.accept(message)) return outbox.send(this.#stamped(message));
        return tell({ ...keyOf(message), type: 'abort', reason: 'stale_attempt' });
      case 'reject':
      case 'result':
        return this.#end(message);
      case 'progress':
      case 'checkpoint':
        if (!guard.holds(message) || guard.held?.state !== 'running') return;
        guard.progressed();
        return outbox.report(this.#stamped(message));
      case 'event':
      case 'alert':
        if (!guard.holds(message) || guard.held?.state !== 'running') return;
        return outbox.tell(this.#stamped(message));
    }
  }

  /** Until then another executor may have the task: the answer may have come too late. */
  beginOnceAcknowledged(): void {
    const { guard, outbox, tell } = this.#options;
    const { held } = guard;
    if (held?.state !== 'accepted' || outbox.unacked('accept').length > 0) return;
    guard.begin();
    tell({ type: 'begin', ...keyOf(held) });
  }

  /** A new session has begun. `refused` is not to move to it. */
  moveToNewSession(refused: Refused | null): void {
    const { guard, outbox, tell } = this.#options;
    guard.dropOffer();
    outbox.moveToNewSession((key) => guard.holds(key), refused);
    // Its result says so already; the handler has not begun.
    if (refused?.message.type !== 'accept' || !guard.release(refused.message)) return;
    tell({ type: 'abort', ...keyOf(refused.message), reason: 'stale_attempt' });
  }

  /** With those whose result the master has not acknowledged. */
  running(): RunningAttempt[] {
    const { held } = this.#options.guard;
    const finished = this.#options.outbox.unacked('result');
    return [
      ...(held?.state === 'accepted' || held?.state === 'running'
        ? [runningAttempt({ ...held, ranMs: held.runTime?.ranMs }, 'running')]
        : []),
      ...finished.map((message) => runningAttempt(message, 'finished')),
    ];
  }

  #refusal(type: string): Refusal | null {
    const { types, guard } = this.#options;
    if (!types.includes(type)) return { code: 405, message: 'no handler' };
    if (this.#isDraining) return { code: 406, message: 'draining' };
    if (guard.held !== null) return { code: 406, message: 'busy' };
    return guard.hasLease ? null : { code: 406, message: 'no lease' };
  }

  /** The attempt is over, or was never begun. */
  #end(message: Outgoing): void {
    const { guard, outbox, event } = this.#options;
    const known = this.#stamped(message);
    if (guard.release(message)) return outbox.conclude(known);
    // The offer was taken back before it was answered: nobody waits for that.
    if (message.type === 'reject') return;
    outbox.dropReports(message);
    event('result_dropped', 'the lease was lost before it ended', message);
  }

  /** With what is known of the attempt, if it is the one that is held. */
  #stamped(message: Outgoing): Outgoing {
    const { guard, logs } = this.#options;
    if (guard.held === null || !guard.holds(message)) return message;
    const { mac, runTime } = guard.held;
    return stamped(message, mac, {
      ranMs: runTime?.ranMs,
      logLineCount: logs.lineCountOf(message, mac),
    });
  }
}
