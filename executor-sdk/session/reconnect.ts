/**
 * Connects again and again until told to stop or refused for good: at once when the master asked
 * for it, else after a random wait (full jitter), so that a thousand executors do not come back
 * in step.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { CloseCode } from '@soda-scheduler/protocol';
import pRetry, { AbortError } from 'p-retry';
import type { Closed } from './connection.ts';
import { ExecutorRefused } from '../errors.ts';

const FIRST_WAIT_MS_MAX = 500;

/** Why `connect` failed. `wasHealthy`: heartbeats were answered on the connection before. */
class Disconnected extends Error {
  readonly code: number;
  readonly wasHealthy: boolean;

  constructor(code: number, reason: string, wasHealthy: boolean) {
    super(reason);
    this.code = code;
    this.wasHealthy = wasHealthy;
  }
}

/** The error for `connect` to reject with. */
export function disconnection({ code, reason, isFinal }: Closed, wasHealthy: boolean): Error {
  if (isFinal) return new AbortError(new ExecutorRefused(reason));
  return new Disconnected(code, reason, wasHealthy);
}

export interface ReconnectOptions {
  readonly signal: AbortSignal;
  /** The longest wait, asked for before each. */
  readonly waitMsMax: () => number;
  readonly onFailure: (error: Error, wasHealthy: boolean) => void;
}

/**
 * `connect` resolves or rejects when its connection has ended.
 * @throws {ExecutorRefused} dialling again would bring the same answer.
 */
export async function keepConnecting(
  connect: () => Promise<void>,
  { signal, waitMsMax, onFailure }: ReconnectOptions,
): Promise<void> {
  let failureCount = 0;
  await pRetry(connect, {
    retries: Number.POSITIVE_INFINITY,
    minTimeout: 0,
    signal,
    onFailedAttempt: async ({ error }) => {
      if (signal.aborted) return;
      const wasHealthy = error instanceof Disconnected && error.wasHealthy;
      onFailure(error, wasHealthy);
      if (wasHealthy) failureCount = 0;
      if (wasHealthy && error.code === CloseCode.reattach) return;
      const delayMs = reconnectDelayMs(failureCount, waitMsMax(), Math.random());
      failureCount += 1;
      await sleep(delayMs, undefined, { signal });
    },
  });
}

/** Full jitter under a cap that doubles with each failure. `random`: from 0 to 1. */
export function reconnectDelayMs(failureCount: number, capMs: number, random: number): number {
  return random * Math.min(capMs, FIRST_WAIT_MS_MAX * 2 ** Math.min(failureCount, 20));
}
