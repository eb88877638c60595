/** Who waits for events or lines of logs, in whatever namespace: so many at a time. */
import { EVENT_FOLLOWERS_MAX, type Fill } from '../../../domain/bounds.ts';
import { Problem } from '../../http/problem.ts';

export class Followers {
  #count = 0;

  fills(): Fill[] {
    return [{ bound: 'event_followers_count', used: this.#count, limit: EVENT_FOLLOWERS_MAX }];
  }

  /** Returns what ends it. @throws {Problem} there are too many. */
  begin(): () => void {
    if (this.#count >= EVENT_FOLLOWERS_MAX) {
      const detail = `${this.#count} requests wait for events or logs already, and no more may.`;
      throw new Problem('unavailable', detail, { retryAfter: 5 });
    }
    this.#count += 1;
    let isOver = false;
    return () => {
      if (!isOver) this.#count -= 1;
      isOver = true;
    };
  }
}
