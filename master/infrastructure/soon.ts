/**
 * Calls that are to come soon, of all engines of the process together: those that begin their turns in one piece of the
 * event loop commit together.
 */

/** So long calls follow each other before the event loop has its turn, and until those are done that have begun. */
const PIECE_MS = 5;

const dueSoon: (() => void)[] = [];
/** Now, or in the next turn of the event loop. */
let isCalling = false;

/** Calls it once the event loop has had its turn, in the order in which such calls were asked for. */
export function soon(call: () => void): void {
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
