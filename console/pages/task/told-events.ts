/** Reads what the feed has told of a task, page by page, and what it has told since. Shows nothing. */
import type { EventPage } from '@soda-scheduler/protocol';
import { type Query, Refused } from '../../api/call.ts';

export type TaskEvent = EventPage['events'][number];

/** What is known of it, and up to which number; undefined: nobody has looked. */
export interface Told {
  readonly events: readonly TaskEvent[];
  readonly next: number | undefined;
}

const PAGE_LIMIT = 500;
/** Of a task with more of them the newest are kept. */
const EVENTS_MAX = 2_000;

export const NOTHING_TOLD: Told = { events: [], next: undefined };

/**
 * What is known once all was read that follows; begins anew where some of that is not kept any more.
 * @throws {Refused} @throws {Away}
 */
export async function toldSince(
  told: Told,
  ask: (query: Query) => Promise<EventPage>,
): Promise<Told> {
  let known = told;
  for (;;) {
    const page = await ask({ after: known.next, limit: PAGE_LIMIT }).catch((error: unknown) => {
      const isGone = error instanceof Refused && error.status === 410;
      if (isGone && known.next !== undefined) return null;
      throw error;
    });
    if (page === null) {
      known = NOTHING_TOLD;
      continue;
    }
    const { events, next } = page;
    known = { events: [...known.events, ...events].slice(-EVENTS_MAX), next };
    if (events.length < PAGE_LIMIT) return known;
  }
}
