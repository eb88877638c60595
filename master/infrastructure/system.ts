/** The clock of the real world: every decision of the master is made by its time. */
import type { Clock } from '../application/ports.ts';

/** The longest that `setTimeout` can wait; a longer wait is made of several. */
const TIMER_MS_MAX = 2_147_483_647;

/**
 * Wall time as it was when the process began, moved on by the monotonic clock: setting the wall
 * clock neither fires timeouts nor holds them back. The price: a correction of the wall clock,
 * or a machine that slept, is noticed at the next start only.
 */
export function createClock(): Clock {
  const anchor = Date.now() - performance.now();
  const now = () => Math.floor(anchor + performance.now());

  function wakeAt(at: number, call: () => void): () => void {
    let timer: NodeJS.Timeout;
    const arm = () => {
      const waitMs = Math.min(Math.max(at - now(), 0), TIMER_MS_MAX);
      timer = setTimeout(() => {
        // Timers may fire a little early, and a long wait is not over yet.
        if (now() < at) arm();
        else call();
      }, waitMs);
    };
    arm();
    return () => clearTimeout(timer);
  }

  return { now, wakeAt, soon: (call) => void setImmediate(call) };
}
