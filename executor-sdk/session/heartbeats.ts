/**
 * Says again and again that this executor is here, and notices when nobody answers, or when the
 * thread of the handlers is late. What the answers renew is for `session-client.ts` to say.
 */
import type { ExecutorFrame, WelcomeFrame } from '@soda-scheduler/protocol';
import type { Clock } from './clock.ts';
import { echoMs } from './lease.ts';

type Heartbeat = Extract<ExecutorFrame, { type: 'heartbeat' }>;

export interface HeartbeatsOptions {
  readonly clock: Clock;
  /** What one says, looked at when it is sent. */
  readonly status: () => Pick<
    Heartbeat,
    'ack' | 'state' | 'running' | 'ready' | 'rss_bytes' | 'cpu_percent'
  >;
  readonly send: (text: string) => void;
  /** Before each: it may find that there is no connection any more. */
  readonly onDue: () => void;
  /** To be answered by `pong`. */
  readonly ping: () => void;
  readonly onSilence: () => void;
}

export class Heartbeats {
  readonly #options: HeartbeatsOptions;
  #times: Pick<WelcomeFrame, 'heartbeat_ms' | 'lease_ms'> | null = null;
  #callOffNext: () => void = () => undefined;
  /** Null: none waits for its answer. */
  #callOffSilence: (() => void) | null = null;
  #pingedAt: number | null = null;
  #lagMs = 0;

  constructor(options: HeartbeatsOptions) {
    this.#options = options;
  }

  /** From the first, which goes out now. */
  start(times: Pick<WelcomeFrame, 'heartbeat_ms' | 'lease_ms'>): void {
    this.#times = times;
    this.beat();
  }

  stop(): void {
    this.#times = null;
    this.#callOffNext();
    this.answered();
  }

  /** The master is there. */
  answered(): void {
    this.#callOffSilence?.();
    this.#callOffSilence = null;
  }

  pong(): void {
    this.#lagMs = this.#pingedAt === null ? 0 : this.#options.clock.now() - this.#pingedAt;
    this.#pingedAt = null;
  }

  /** Does nothing while there is no session. */
  beat(): void {
    const { clock, status, send, onDue, ping, onSilence } = this.#options;
    onDue();
    if (this.#times === null) return;
    const { heartbeat_ms: intervalMs, lease_ms: leaseMs } = this.#times;
    const now = clock.now();
    this.#callOffNext();
    this.#callOffNext = clock.wakeAt(now + intervalMs, () => this.beat());
    const heartbeat: ExecutorFrame = {
      type: 'heartbeat',
      // The time it was sent: its answer renews the lease from then.
      n: Math.floor(now),
      ...status(),
      loop_lag_ms: Math.round(this.#pingedAt === null ? this.#lagMs : now - this.#pingedAt),
    };
    send(JSON.stringify(heartbeat));
    this.#callOffSilence ??= clock.wakeAt(now + echoMs(intervalMs, leaseMs), onSilence);
    if (this.#pingedAt !== null) return;
    this.#pingedAt = now;
    ping();
  }
}
