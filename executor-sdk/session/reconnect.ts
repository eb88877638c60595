/**
 * Connects again and again until told to stop or refused for good: at once when the master asked
 * for it, else after a random wait (full jitter), so that a thousand executors do not come back
 * in step.
 */
import { CloseCode } from '@soda-scheduler/protocol';
import { ExecutorRefused } from '../errors.ts';
import type { EventDraft } from '../events.ts';
import type { Clock } from './clock.ts';
import type { Closed } from './dial.ts';

const FIRST_WAIT_MS_MAX = 500;

/** How a connection ended. `wasHealthy`: heartbeats were answered on it. */
export interface Ended extends Closed {
  readonly wasHealthy: boolean;
}

export const NEVER_DIALLED: Ended = {
  code: 1006,
  reason: 'leaving',
  isFinal: false,
  wasHealthy: false,
};

export interface ReconnectOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** The longest wait, asked for before each. */
  readonly waitMsMax: () => number;
  /** From 0 to 1. */
  readonly random: () => number;
  readonly onFailure: (ended: Ended) => void;
}

/**
 * `connect` resolves when its connection has ended. Resolves once told to stop.
 * @throws {ExecutorRefused} dialling again would bring the same answer.
 */
export async function keepConnecting(
  connect: () => Promise<Ended>,
  { clock, signal, waitMsMax, random, onFailure }: ReconnectOptions,
): Promise<void> {
  let failureCount = 0;
  while (!signal.aborted) {
    const ended = await connect();
    if (signal.aborted) return;
    if (ended.isFinal) throw new ExecutorRefused(ended.reason);
    onFailure(ended);
    if (ended.wasHealthy) failureCount = 0;
    if (ended.wasHealthy && ended.code === CloseCode.reattach) continue;
    await sleep(clock, reconnectDelayMs(failureCount, waitMsMax(), random()), signal);
    failureCount += 1;
  }
}

/** What is told of connections that fail: as long as it is the same, once. */
export class Failures {
  #told: string | null = null;

  /** There is a session. */
  reached(): void {
    this.#told = null;
  }

  /** Null: that is known. */
  describe(ended: Ended, executorId: string): EventDraft | null {
    if (ended.wasHealthy) {
      return { type: 'disconnected', message: `disconnected from the master: ${ended.reason}` };
    }
    const failure = failureInWords(ended, executorId);
    if (failure === this.#told) return null;
    this.#told = failure;
    const event = { type: 'unreachable', message: `${failure}; trying on` } as const;
    // Only people can change that; whoever upgrades the master finds it there all the same.
    return ended.knowsNoNamespace === true ? { ...event, level: 'error' } : event;
  }
}

function failureInWords({ code, reason, knowsNoNamespace }: Ended, executorId: string): string {
  if (code === CloseCode.idInUse) {
    return `another living process uses the executor id ${executorId}: give each its own id`;
  }
  if (knowsNoNamespace === true) {
    const why = reason.replace(/\.$/, '');
    return `the master knows no namespaces (${why}): upgrade it, or leave out the namespace`;
  }
  return `cannot reach the master: ${reason}`;
}

/** Full jitter under a cap that doubles with each failure. `random`: from 0 to 1. */
export function reconnectDelayMs(failureCount: number, capMs: number, random: number): number {
  return random * Math.min(capMs, FIRST_WAIT_MS_MAX * 2 ** Math.min(failureCount, 20));
}

async function sleep(clock: Clock, forMs: number, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const callOff = clock.wakeAt(clock.now() + forMs, done);
    function done(): void {
      signal.removeEventListener('abort', done);
      callOff();
      resolve();
    }
    signal.addEventListener('abort', done);
  });
}
