/**
 * The clock of the master, by which all instants of the API are: that of a browser may be hours off. Known by the header
 * `Date` of answers; never sets anything.
 */

/** What a header that tells whole seconds, and is made once a second, may be behind. */
const COARSE_MS = 2_000;
/** An answer that was waited for longer says too little. */
const WAITED_MS_MAX = 2_000;

let offsetMs = 0;

/** How far the master's clock is before that of the browser; below 0: behind it. Next to nothing counts as 0. */
export function clockOffsetMs(): number {
  return offsetMs;
}

/** The present, as the master has it. */
export function masterNow(): number {
  return Date.now() + offsetMs;
}

/** Of an answer: what its header says, and when, by the browser, it was asked for and came. */
export function noteDate(date: string | null, askedAt: number, cameAt: number): void {
  const at = Date.parse(date ?? '');
  if (Number.isNaN(at) || cameAt - askedAt > WAITED_MS_MAX) return;
  // Between these two it is: the least that fits is taken.
  const [least, most] = [at - cameAt, at + COARSE_MS - askedAt];
  offsetMs = least > 0 ? least : Math.min(0, most);
}
