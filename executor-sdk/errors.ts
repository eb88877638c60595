/** What a handler may throw to say more than "it failed", and what it is given when it must end. */

export interface HandlerErrorOptions extends ErrorOptions {
  /** Any JSON; stored with the attempt and shown to whoever asks for the task. */
  readonly details?: unknown;
}

/**
 * The attempt failed and another may succeed. Every error but `NonRetryableError` counts as such;
 * this one may also say when: `retryAfterMs` replaces what the retry policy of the task says.
 */
export class RetryableError extends Error {
  override readonly name = 'RetryableError';
  readonly retryAfterMs: number | undefined;
  readonly details: unknown;

  constructor(message: string, options: HandlerErrorOptions & { retryAfterMs?: number } = {}) {
    super(message, options);
    this.retryAfterMs = options.retryAfterMs;
    this.details = options.details;
  }
}

/** No further attempt can succeed: the task fails now, whatever its retry policy says. */
export class NonRetryableError extends Error {
  override readonly name: string = 'NonRetryableError';
  readonly details: unknown;

  constructor(message: string, options: HandlerErrorOptions = {}) {
    super(message, options);
    this.details = options.details;
  }
}

/**
 * What the task is to work on is not there, or may not be read: the task fails now with `failure_reason`
 * `input_unavailable`, and no attempt is used up. A master before it knew this reason says `non_retryable`.
 */
export class InputUnavailableError extends NonRetryableError {
  override readonly name = 'InputUnavailableError';
}

/**
 * Why a running attempt has to end.
 *
 * - `canceled`: someone canceled the task.
 * - `booking_end`: the window of its booking is over; nothing comes after this attempt.
 * - `suspended`: someone suspended the task; it goes on from its last checkpoint once it is resumed.
 * - `execution_timeout`, `stalled`, `deadline`: it took too long, reported no progress for too
 *   long, or the whole task is out of time.
 * - `drain`: this executor is stopping; the task goes on elsewhere, from its last checkpoint.
 * - `lease_lost`: the master cannot be reached, and may give the task to another executor.
 * - `stale_attempt`: it has done so already; nothing this attempt reports counts.
 */
export type AbortReason =
  | 'canceled'
  | 'suspended'
  | 'booking_end'
  | 'execution_timeout'
  | 'stalled'
  | 'deadline'
  | 'drain'
  | 'lease_lost'
  | 'stale_attempt';

/** `ctx.signal.reason`. A handler that notices it stops what it does and may rethrow it. */
export class TaskAborted extends Error {
  override readonly name = 'TaskAborted';
  readonly reason: AbortReason;

  constructor(reason: AbortReason, attempt = 'the attempt') {
    super(`${attempt} has to end: ${reason}`);
    this.reason = reason;
  }
}

/** The executor cannot go on by itself: the master refused it, or another took its place. */
export class ExecutorRefused extends Error {
  override readonly name = 'ExecutorRefused';
}
