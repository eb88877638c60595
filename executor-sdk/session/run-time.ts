/**
 * How long a handler has run, and when that is too long. Time in which this process stood still
 * (it was stopped, its machine was frozen) counts against nobody: the handler did not run in it,
 * could report nothing, and is not to be ended for it on waking. So time is counted in steps, and
 * of a step that took far longer than was asked for only what was asked for.
 */
import type { AssignedTask } from '@soda-scheduler/protocol';
import type { Clock } from './clock.ts';

const STEP_MS_MAX = 1_000;
/** A busy machine wakes us late; one that stood still, much later. */
const LATE_MS_MAX = 1_000;

export interface TimeLimits {
  readonly executionTimeoutMs: number;
  readonly stallTimeoutMs: number;
}

export type TimedOut = 'execution_timeout' | 'stalled';

export class RunTime {
  readonly #clock: Clock;
  readonly #limits: TimeLimits;
  readonly #onTimeout: (reason: TimedOut) => void;
  #countedMs = 0;
  #countedAt: number;
  #progressAtMs = 0;
  #callOff: () => void = () => undefined;

  /** Counts from now until `stop`. Infinite limits are none. `onTimeout` is called once. */
  constructor(clock: Clock, limits: TimeLimits, onTimeout: (reason: TimedOut) => void) {
    this.#clock = clock;
    this.#limits = limits;
    this.#onTimeout = onTimeout;
    this.#countedAt = clock.now();
    this.#step();
  }

  /** Whole milliseconds. */
  get ranMs(): number {
    return Math.floor(this.#countedMs + Math.min(this.#clock.now() - this.#countedAt, STEP_MS_MAX));
  }

  /** The handler has reported something: it has not stalled. */
  progressed(): void {
    this.#progressAtMs = this.ranMs;
  }

  stop(): void {
    this.#callOff();
  }

  #step(): void {
    const { executionTimeoutMs, stallTimeoutMs } = this.#limits;
    const leftMs = executionTimeoutMs - this.#countedMs;
    const quietLeftMs = this.#progressAtMs + stallTimeoutMs - this.#countedMs;
    if (leftMs <= 0) return this.#onTimeout('execution_timeout');
    if (quietLeftMs <= 0) return this.#onTimeout('stalled');
    const askedMs = Math.min(leftMs, quietLeftMs, STEP_MS_MAX);
    this.#callOff = this.#clock.wakeAt(this.#countedAt + askedMs, () => {
      const now = this.#clock.now();
      const tookMs = now - this.#countedAt;
      this.#countedMs += tookMs > askedMs + LATE_MS_MAX ? askedMs : tookMs;
      this.#countedAt = now;
      this.#step();
    });
  }
}

/** Of the task, as it came with the offer. */
export function timeLimits(
  task: Pick<AssignedTask, 'execution_timeout_ms' | 'stall_timeout_ms'>,
): TimeLimits {
  return {
    executionTimeoutMs: task.execution_timeout_ms ?? Number.POSITIVE_INFINITY,
    stallTimeoutMs: task.stall_timeout_ms ?? Number.POSITIVE_INFINITY,
  };
}
