/** What is said where a disk is full. */
import { RetryableError } from '@soda-scheduler/executor-sdk';

const RETRY_AFTER_MS = 60_000;

/** There is too little room for what is to be written; some may be made. To try again at once is of no use. */
export class DiskFullError extends RetryableError {
  constructor(message: string) {
    super(message, { retryAfterMs: RETRY_AFTER_MS });
  }
}

export function isFullDisk(error: unknown): boolean {
  return (
    error instanceof Error && 'code' in error && /^(?:ENOSPC|EDQUOT)$/.test(String(error.code))
  );
}
