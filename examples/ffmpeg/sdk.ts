export class RetryableError extends Error {
  readonly retryAfterMs: number | undefined;
  constructor(message: string, options: { retryAfterMs?: number } = {}) {
    super(message);
    this.retryAfterMs = options.retryAfterMs;
  }
}
export class NonRetryableError extends Error {}
export interface Task {
  readonly id: string;
  readonly params: unknown;
}
export interface TaskContext {
  readonly signal: AbortSignal;
  readonly lastCheckpoint: unknown;
  readonly attempt: number;
  readonly token: string;
  progress(percent: number, state?: unknown): void;
  checkpoint(value: unknown): void;
}
