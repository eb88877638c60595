/** What the system says: the time, by which every decision of the master is made, and what a process may have. */
import type { Clock } from '../application/ports.ts';
import { CONNECTION_COUNT_MAX } from '../domain/bounds.ts';

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

/** So long calls follow each other before the event loop has its turn, and until those are done that have begun. */
const PIECE_MS = 5;

const dueSoon: (() => void)[] = [];
/** Now, or in the next turn of the event loop. */
let isCalling = false;

/** Of all clocks together: engines that begin their turns in one piece of the event loop commit together. */
function soon(call: () => void): void {
  dueSoon.push(call);
  if (isCalling) return;
  isCalling = true;
  setImmediate(callDue);
}

function callDue(): void {
  const until = performance.now() + PIECE_MS;
  // What is asked for meanwhile has the next piece.
  let leftCount = dueSoon.length;
  const next = (): void => {
    if (leftCount > 0 && performance.now() < until) {
      leftCount -= 1;
      // Before the call: one that throws holds up no other.
      queueMicrotask(next);
      dueSoon.shift()?.();
      return;
    }
    isCalling = dueSoon.length > 0;
    if (isCalling) setImmediate(callDue);
  };
  next();
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
