/**
 * The feed as a stream of server-sent events. It reads a page, hands it to the socket, and reads on when the socket
 * has taken it: nothing else is ever held for whoever reads slowly.
 */
import type { FeedHandle } from '../../../application/feed.ts';
import type { EventPage, EventQuery } from '../../../application/ports.ts';
import type { StoredEvent } from '../../../domain/feed/feed-event.ts';
import type { ApiRequest, Stream } from '../../http/route.ts';

/** So long a stream that has brought something waits before it reads again: one read for all that comes meanwhile. */
const PACE_MS = 100;
/** How often it looks whether its reader may still see it. */
const LOOK_MS = 1_000;
/** After so long in silence it says that it is there. */
const SILENCE_MS = 15_000;

/** And so long after a page that has found nothing: what is rare may be behind millions. */
const REST_MS = 20;

export function pause(feed: FeedHandle): Promise<void> {
  return feed.news(Number.POSITIVE_INFINITY, REST_MS);
}

type Asked = Omit<EventQuery, 'lookCount'>;

export function streamOf(options: {
  readonly feed: FeedHandle;
  readonly request: ApiRequest;
  readonly query: Asked;
  /** What comes after `query.after`. */
  readonly first: EventPage;
  readonly textOf: (event: StoredEvent) => string;
  /** To be called when it has ended. */
  readonly end: () => void;
}): Stream {
  const { feed, request, query, first, textOf, end } = options;
  const isOver = (): boolean => feed.isOver || request.isOver();
  return async (write) => {
    try {
      let saidAt = feed.now();
      for (let page = first; ; ) {
        const isSilent = feed.now() - saidAt >= SILENCE_MS;
        const text = page.events.map((event) => {
          const lines = textOf(event).split(/\r\n?|\n/);
          return `id: ${event.seq}\n${lines.map((line) => `data: ${line}\n`).join('')}\n`;
        });
        // Without data it moves on where the next stream begins, and nobody is told of an event.
        if (isSilent) text.push(`: still here\nid: ${page.next}\n\n`);
        if (text.length > 0) {
          if (!(await write(text.join('')))) return;
          saidAt = feed.now();
        }
        if (isOver()) return;
        if (page.next >= page.newest) {
          if (page.events.length > 0) await feed.news(Number.POSITIVE_INFINITY, PACE_MS);
          await feed.news(page.next, LOOK_MS);
        } else if (page.events.length === 0) await pause(feed);
        if (isOver()) return;
        page = await feed.read({ ...query, after: page.next });
        // It was too slow: who comes again is told so.
        if (page.oldest > page.next + 1) return;
      }
    } finally {
      end();
    }
  };
}
