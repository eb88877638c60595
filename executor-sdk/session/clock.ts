/** Monotonic time and alarms, as the session needs them: so that it can live on another clock too. */
export interface Clock {
  /** Milliseconds. Never steps. */
  now(): number;
  /** Calls once, not before `at`; the answer calls it off. */
  wakeAt(at: number, call: () => void): () => void;
}

export const monotonicClock: Clock = {
  now: () => performance.now(),
  wakeAt(at, call) {
    let timer: NodeJS.Timeout | undefined;
    const wait = (): void => {
      const waitMs = at - performance.now();
      // A timer may fire a moment early.
      if (waitMs > 0) timer = setTimeout(wait, Math.ceil(waitMs));
      else call();
    };
    timer = setTimeout(wait, Math.max(0, Math.ceil(at - performance.now())));
    return () => clearTimeout(timer);
  },
};
