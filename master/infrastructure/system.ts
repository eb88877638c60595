/** What the system says: the time, by which every decision of the master is made, and what a process may have. */
import type { Clock } from '../application/ports.ts';
import { CONNECTION_COUNT_MAX } from '../domain/bounds.ts';
import { soon } from './soon.ts';

/** The longest that `setTimeout` can wait; a longer wait is made of several. */
const TIMER_MS_MAX = 2_147_483_647;

/**
 * Wall time as it was when the process began, or when it was last followed, moved on by the
 * monotonic clock: setting the wall clock neither fires timeouts nor holds them back.
 * @param wall tells the wall time.
 */
export function createClock(wall: () => number = Date.now): Clock {
  let anchor = wall() - performance.now();
  const now = () => Math.floor(anchor + performance.now());

  function wakeAt(at: number, call: () => void): () => void {
    let timer: NodeJS.Timeout;
    const from = anchor;
    const passed = () => Math.floor(from + performance.now());
    const arm = () => {
      const waitMs = Math.min(Math.max(at - passed(), 0), TIMER_MS_MAX);
      timer = setTimeout(() => {
        // Timers may fire a little early, and a long wait is not over yet.
        if (passed() < at) arm();
        else call();
      }, waitMs);
    };
    arm();
    return () => clearTimeout(timer);
  }

  return {
    now,
    wakeAt,
    soon,
    departureMs: () => wall() - now(),
    followWall: () => void (anchor = wall() - performance.now()),
  };
}

let openFilesMax: number | null = null;

/** The rest of the files that the process may have open is for the database, callbacks and the log. */
export function connectionCountMax(): number {
  // A report takes longer the more the process does, and says the same each time.
  openFilesMax ??= askOpenFilesMax();
  return Math.min(CONNECTION_COUNT_MAX, Math.floor(0.75 * openFilesMax));
}

/** Infinite where the system does not say. */
function askOpenFilesMax(): number {
  const { userLimits } = process.report.getReport() as {
    readonly userLimits?: { readonly open_files: { readonly soft: number | 'unlimited' } };
  };
  const { soft = 'unlimited' } = userLimits?.open_files ?? {};
  return soft === 'unlimited' ? Number.POSITIVE_INFINITY : soft;
}
