/** Who waits for events or lines of logs, in whatever namespace: so many at a time, and of one token what it leaves for others. */
import { EVENT_FOLLOWERS_MAX, type Fill } from '../../../domain/bounds.ts';
import type { Actor } from '../../auth.ts';
import { Problem } from '../../http/problem.ts';

export class Followers {
  #count = 0;
  readonly #byToken = new Map<string, number>();

  fills(): Fill[] {
    return [{ bound: 'event_followers_count', used: this.#count, limit: EVENT_FOLLOWERS_MAX }];
  }

  /** Returns what ends it. @throws {Problem} there are too many, or too many of that token. */
  begin({ name }: Pick<Actor, 'name'>): () => void {
    const token = name ?? '';
    const freeCount = EVENT_FOLLOWERS_MAX - this.#count;
    if (freeCount === 0) {
      const detail = `${this.#count} requests wait for events or logs already, and no more may.`;
      throw new Problem('unavailable', detail, { retryAfter: 5 });
    }
    const ownCount = this.#byToken.get(token) ?? 0;
    if (ownCount >= freeCount) {
      const who = name === null ? 'Whoever has no token' : `The token ${name}`;
      const detail = `${who} waits for events or logs ${ownCount} times, and may no more often than there is room for others: ${freeCount} of ${EVENT_FOLLOWERS_MAX} (event_followers_count).`;
      throw new Problem('full', detail, { retryAfter: 5 });
    }
    this.#add(token, 1);
    let isOver = false;
    return () => {
      if (!isOver) this.#add(token, -1);
      isOver = true;
    };
  }

  #add(token: string, count: 1 | -1): void {
    this.#count += count;
    const ownCount = (this.#byToken.get(token) ?? 0) + count;
    if (ownCount === 0) this.#byToken.delete(token);
    else this.#byToken.set(token, ownCount);
  }
}
