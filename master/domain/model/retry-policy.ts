/** How long a failed attempt is waited out. */
import type { RetryPolicy } from './task.ts';

/**
 * Milliseconds before the next attempt, after `attemptsUsed` (from 1) were used up.
 * `interval` above 0: min(2^(n-1), interval) seconds (Asyncflow A-23, contradiction C-4 decided);
 * below 0: always |interval| (A-24); a list: its n-th value, the last one repeated.
 * `random01` in [0, 1) adds up to 10 %, so that tasks that failed together do not return together.
 */
export function backoffMs(policy: RetryPolicy, attemptsUsed: number, random01: number): number {
  return Math.round(intervalSeconds(policy.interval, attemptsUsed) * 1000 * (1 + 0.1 * random01));
}

function intervalSeconds(interval: RetryPolicy['interval'], attemptsUsed: number): number {
  if (typeof interval !== 'number') {
    return interval[Math.min(attemptsUsed, interval.length) - 1] ?? 0;
  }
  // 2^31 seconds is beyond any interval: the exponent is capped so that it cannot overflow.
  return interval < 0 ? -interval : Math.min(2 ** Math.min(attemptsUsed - 1, 31), interval);
}
