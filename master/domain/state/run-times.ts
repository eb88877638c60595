/**
 * How long attempts have run lately, by type: the newest of those that came to an end of their own, so that a type
 * that becomes slower is known to be after some dozen of them. In memory only: nothing is known after a restart.
 */
import { RUN_TIME_COUNT_MAX, RUN_TIME_TYPES_MAX } from '../bounds.ts';

interface Newest {
  /** Milliseconds; the newest takes the place of the oldest. */
  readonly times: Float32Array;
  /** Of all that were noted. */
  count: number;
}

export class RunTimes {
  readonly #types = new Map<string, Newest>();

  note(type: string, ranMs: number): void {
    let newest = this.#types.get(type);
    if (newest === undefined) {
      newest = { times: new Float32Array(RUN_TIME_COUNT_MAX), count: 0 };
      const [oldest] = this.#types.size < RUN_TIME_TYPES_MAX ? [] : this.#types.keys();
      if (oldest !== undefined) this.#types.delete(oldest);
      this.#types.set(type, newest);
    }
    newest.times[newest.count++ % RUN_TIME_COUNT_MAX] = Math.max(0, ranMs);
  }

  /** Milliseconds, the shortest first; empty: nothing is known. */
  of(type: string): Float32Array {
    const { times, count } = this.#types.get(type) ?? NOTHING;
    return times.slice(0, count).sort();
  }
}

const NOTHING: Newest = { times: new Float32Array(0), count: 0 };
