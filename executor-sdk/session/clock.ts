/** Monotonic time and alarms, as the session needs them: so that it can live on another clock too. */
export interface Clock {
  /** Milliseconds. Never steps. */
  now(): number;
  /** Calls once, not before `at`; the answer calls it off. */
  wakeAt(at: number, call: () => void): () => void;
}

/** What a timer cannot wait it does not wait at all. */
const TIMER_MS_MAX = 2_147_000_000;

/** Shows the same in every thread and process of a machine. */
export const monotonicClock: Clock = {
  now() {
    const [seconds, nanoseconds] = process.hrtime();
    return seconds * 1e3 + nanoseconds / 1e6;
  },
  wakeAt(at, call) {
    const sleep = (): NodeJS.Timeout => {
      const waitMs = Math.ceil(at - monotonicClock.now());
      return setTimeout(wake, Math.min(Math.max(0, waitMs), TIMER_MS_MAX));
    };
    let timer = sleep();
    function wake(): void {
      // A timer may fire a moment early.
      if (monotonicClock.now() < at) timer = sleep();
      else call();
    }
    return () => clearTimeout(timer);
  },
};
