/** What every call of the client rejects with, except when its signal was aborted. */
import type { Problem } from '@soda-scheduler/protocol';

export class SodaError extends Error {
  override readonly name = 'SodaError';
  /** The HTTP status; 0 where no answer came. */
  readonly status: number;
  /** The code of the API, which for an item of a batch differs from the status of the request. */
  readonly code: number;
  /** The master's own words (RFC 9457), where it gave some. */
  readonly problem: Problem | null;
  /** How long the master asked to wait, in milliseconds. */
  readonly retryAfterMs: number | null;

  constructor(
    message: string,
    details: {
      status: number;
      code?: number;
      problem?: Problem | null;
      retryAfterMs?: number | null;
      cause?: unknown;
    },
  ) {
    super(message, { cause: details.cause });
    this.status = details.status;
    this.code = details.code ?? details.status;
    this.problem = details.problem ?? null;
    this.retryAfterMs = details.retryAfterMs ?? null;
  }

  /** True where the same request may well succeed later: no answer, 429, 5xx other than 501. */
  get isTransient(): boolean {
    const { code } = this;
    return code === 0 || code === 429 || (code >= 500 && code !== 501);
  }
}
