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
const PAUSE_MS = 200;
const PAUSE_MS_MAX = 10_000;
const RETRY_AFTER_MS_MAX = 60_000;
const EXCERPT_BYTES_MAX = 2_048;

/** Without a byte for so long a connection is given up. */
export const SILENCE_MS = 30_000;

/** A short answer takes no longer, however lively it is. */
export const SHORT_ANSWER_MS_MAX = 60_000;

export interface Tries {
  /** Whether the last call, though it failed, has brought something. Then it is not counted. */
  readonly hasHeadway?: () => boolean;
  /** Called for each that is counted: what went wrong, which of how many it was, and when the next one begins. */
  readonly onFailedTry?: ((words: string) => void) | undefined;
}

/**
 * Calls it again after what may pass: answers of 408, 425, 429 and 5xx, and connections that are cut.
 * @throws {NonRetryableError} at once; {RetryableError} once it has failed often enough; the reason of the signal; what a full
 * disk says, which nobody could change by asking again.
 */
export async function again<Result>(
  what: string,
  signal: AbortSignal,
  work: () => Promise<Result>,
  { hasHeadway = () => false, onFailedTry }: Tries = {},
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
  let isCounted = true;
  return pRetry(attempt, {
    retries: RETRIES,
    // Waited for below, where it can be told.
    minTimeout: 0,
    signal,
    onFailedAttempt: async ({ error, retriesConsumed, retriesLeft }) => {
      isCounted = !hasHeadway();
      if (!mayPassSoon(error)) return;
      const askedMs = Math.min(error.retryAfterMs ?? 0, RETRY_AFTER_MS_MAX);
      const waitMs = askedMs + (isCounted ? pauseMsAfter(retriesConsumed) : 0);
      const next =
        retriesLeft > 0 ? `, the next one begins in ${(waitMs / 1000).toFixed(1)} s` : '';
      const which = `try ${retriesConsumed + 1} of ${RETRIES + 1}`;
      if (isCounted) onFailedTry?.(`${error.message}: ${which}${next}`);
      if (retriesLeft > 0) await pause(waitMs, signal);
    },
    shouldConsumeRetry: () => isCounted,
    shouldRetry: ({ error }) => mayPassSoon(error),
  });
}

/** Twice as long after each that has failed, and never for two that failed together alike. */
function pauseMsAfter(failedCount: number): number {
  return Math.min(PAUSE_MS_MAX, PAUSE_MS * 2 ** failedCount * (1 + Math.random()));
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
    if (signal.aborted || ms === 0) return resolve();
    const timer = setTimeout(done, ms);
    function done() {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    }
    signal.addEventListener('abort', done);
  });
}
