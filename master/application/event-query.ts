/** What the application asks of what feeds have told: see `ports.ts`. */
import type { StoredEvent } from '../domain/feed/feed-event.ts';
import type { Sight } from '../domain/model/task-filter.ts';

/** All that are null ask for nothing. */
export interface EventQuery {
  /** Only later ones; null: from the oldest that is kept. */
  readonly after: number | null;
  readonly taskSeq: number | null;
  readonly type: string | null;
  readonly group: string | null;
  /** Or what is before its dot. */
  readonly kind: string | null;
  /** Those that name neither a type nor a group are none of these; null: all. */
  readonly within: Sight | null;
  readonly limit: number;
  /** Numbers to look at: only the task has an index. */
  readonly lookCount: number;
}

export interface EventPage {
  /** By number; fewer than asked for, or none, where too many were looked at. */
  readonly events: readonly StoredEvent[];
  /** Up to which number it has looked: the next page is what comes after it. */
  readonly next: number;
  /** The first number that is kept, or the next that will be. */
  readonly oldest: number;
  /** 0: nothing was ever told. */
  readonly newest: number;
}
