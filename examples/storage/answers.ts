/** What the status of an answer says of trying again, alike for inputs and for outputs. */
import type { Readable } from 'node:stream';
import { NonRetryableError, RetryableError } from '@soda-scheduler/executor-sdk';
import {
  connectionProblem,
  type GuardedAnswer,
  readBounded,
  retryAfterMs,
} from '@soda-scheduler/executors';
import pRetry from 'p-retry';
import { DiskFullError, isFullDisk } from './disk.ts';

/** Within one attempt; then it is an ordinary failure of the attempt. */
const RETRIES = 5;
const RETRY_AFTER_MS_MAX = 60_000;
const EXCERPT_BYTES_MAX = 2_048;

/** Without a byte for so long a connection is given up. */
export const SILENCE_MS = 30_000;

/** A short answer takes no longer, however lively it is. */
export const SHORT_ANSWER_MS_MAX = 60_000;

/**
 * Calls it again after what may pass: answers of 408, 425, 429 and 5xx, and connections that are cut.
 * `hasHeadway`: whether the last call, though it failed, has brought something. Then it is not counted.
 * @throws {NonRetryableError} at once; {RetryableError} once it has failed often enough; the reason of the signal; what a full
 * disk says, which nobody could change by asking again.
 */
export async function again<Result>(
  what: string,
  signal: AbortSignal,
  work: () => Promise<Result>,
  hasHeadway: () => boolean = () => false,
): Promise<Result> {
  const attempt = async (): Promise<Result> => {
    try {
      return await work();
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof NonRetryableError || error instanceof RetryableError) throw error;
      if (isFullDisk(error)) throw error;
      throw new RetryableError(`${what}: ${connectionProblem(error)}`, { cause: error });
    }
  };
  return pRetry(attempt, {
    retries: RETRIES,
    minTimeout: 200,
    maxTimeout: 10_000,
    randomize: true,
    signal,
    shouldConsumeRetry: () => !hasHeadway(),
    shouldRetry: ({ error }) => mayPassSoon(error),
    onFailedAttempt: async ({ error, retriesLeft }) => {
      const waitMs = mayPassSoon(error) ? (error.retryAfterMs ?? 0) : 0;
      if (waitMs > 0 && retriesLeft > 0) await pause(Math.min(waitMs, RETRY_AFTER_MS_MAX), signal);
    },
  });
}

function mayPassSoon(error: Error): error is RetryableError {
  return error instanceof RetryableError && !(error instanceof DiskFullError);
}

/** What an answer that is no success is to be thrown as. Reads the beginning of its body. */
export async function failureOf(
  what: string,
  answer: GuardedAnswer,
  msMax = SHORT_ANSWER_MS_MAX,
): Promise<Error> {
  const { status } = answer;
  const body = (await readShort(answer.body, EXCERPT_BYTES_MAX, msMax).catch(() => null)) ?? '';
  const code = /<Code>([A-Za-z]{1,64})<\/Code>/.exec(body.toString())?.[1];
  const message = `${what}: answered ${status}${code === undefined ? '' : ` (${code})`}`;
  if (status < 500 && ![408, 409, 425, 429].includes(status)) return new NonRetryableError(message);
  const afterMs = retryAfterMs(answer.headers, Date.now());
  return new RetryableError(message, afterMs === null ? {} : { retryAfterMs: afterMs });
}

/** As `readBounded`, for answers that are short. @throws it is not whole by then. */
export async function readShort(
  body: Readable,
  bytesMax: number,
  msMax = SHORT_ANSWER_MS_MAX,
): Promise<Buffer | null> {
  const giveUp = () => body.destroy(new Error(`no whole answer within ${msMax / 1000} s`));
  const timer = setTimeout(giveUp, msMax);
  try {
    return await readBounded(body, bytesMax);
  } finally {
    clearTimeout(timer);
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    function done() {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    }
    signal.addEventListener('abort', done);
  });
}
