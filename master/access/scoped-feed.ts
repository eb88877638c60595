/** What the feed tells of what somebody may see. Its numbers go on with those of all: what they are of is not told. */
import type { FeedHandle } from '../application/feed.ts';
import { isWithin } from '../domain/feed/feed-event.ts';
import type { Sight } from '../domain/model/task-filter.ts';

export function scopedFeed({ types, groups }: Sight, feed: FeedHandle): FeedHandle {
  const within = { types, groups };
  return {
    get isOver() {
      return feed.isOver;
    },
    now: () => feed.now(),
    news: (after, withinMs) => feed.news(after, withinMs),
    async read(query) {
      const page = await feed.read({ ...query, within });
      // To some databases texts are equal that differ in blanks at their end.
      return { ...page, events: page.events.filter((event) => isWithin(within, event)) };
    },
  };
}
