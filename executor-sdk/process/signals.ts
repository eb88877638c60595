/**
 * SIGTERM and SIGINT, for all executors of this process: the first stops those that go by signals, a second ends the
 * process at once. After a signal the process ends with the last of all its sessions.
 */
import { openSessionCount } from './open-session.ts';

export interface GoesBySignals {
  /** What it may take at most, as it is known; then the process ends all the same. */
  readonly stopTimeoutMs: number;
  readonly stop: (signal: NodeJS.Signals) => void;
}

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

const executors = new Set<GoesBySignals>();
/** The first; null: there was none. */
let received: NodeJS.Signals | null = null;
let lastResort: NodeJS.Timeout | undefined;

export function goBySignals(executor: GoesBySignals): void {
  if (executors.size === 0 && received === null) {
    for (const name of SIGNALS) process.on(name, take);
  }
  executors.add(executor);
  // It was started while the others stop.
  if (received !== null) executor.stop(received);
}

/** The session of this executor is over, whether it went by signals or not. */
export function hasStopped(executor: GoesBySignals): void {
  executors.delete(executor);
  if (executors.size > 0) return;
  clearTimeout(lastResort);
  if (received === null) for (const name of SIGNALS) process.off(name, take);
  // Whoever waits for it in `stop` goes on first.
  else if (openSessionCount() === 0) setImmediate(() => process.exit());
}

function take(name: NodeJS.Signals): void {
  if (received !== null) process.exit(1);
  received = name;
  const timeoutMs = Math.max(...[...executors].map(({ stopTimeoutMs }) => stopTimeoutMs));
  lastResort = setTimeout(() => process.exit(1), timeoutMs).unref();
  for (const executor of executors) executor.stop(name);
}
