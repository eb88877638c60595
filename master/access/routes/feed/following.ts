/**
 * What grows while somebody reads it, as a stream of server-sent events or with a wait for more: the feed, and the log of
 * a task. A stream reads a page, hands it to the socket, and reads on when the socket has taken it: nothing else is
 * ever held for whoever reads slowly.
 */
import { invalidFields } from '../../http/problem.ts';
import type { ApiRequest, Reply, Route, Stream } from '../../http/route.ts';
import type { Followers } from './followers.ts';

const EVENT_STREAM = 'text/event-stream';

/** So long whoever has read what is new waits before he reads again: one read for all that comes meanwhile. */
const PACE_MS = 100;
/** And so long after a page that has found nothing: what is rare may be behind millions. */
const REST_MS = 20;
/** How often it looks whether its reader may still see it, and is there. */
const LOOK_MS = 1_000;
/** After so long in silence it says that it is there. */
const SILENCE_MS = 15_000;

export interface Followed<Page> {
  now(): number;
  /** Nothing more is told by this master, or to this reader. */
  isOver(): boolean;
  /** Resolves when there is more than this page has, or after so long; without a page after so long. */
  news(page: Page | null, withinMs: number): Promise<void>;
  /** Null: it is not there any more. */
  readAfter(page: Page): Promise<Page | null>;
  /** There was no more than this when it was read. */
  isAtEnd(page: Page): boolean;
  /** Nothing will ever follow it. */
  isLast(page: Page): boolean;
  replyOf(page: Page): Reply;
  /** What it brings, as server-sent events; empty: nothing. */
  textOf(page: Page): string;
  /** Where whoever has this page goes on. */
  idOf(page: Page): string | number;
}

/** What of a route every such answer has. */
export const FOLLOWED = {
  method: 'GET',
  headers: { 'Last-Event-ID': 'Of a stream that goes on: the `id` of the last event that came.' },
  streams: [EVENT_STREAM],
} as const satisfies Partial<Route>;

/** What a browser says by itself where a stream was cut off. @throws {Problem} it is of no event. */
export function lastEventIn(
  { headers }: Pick<ApiRequest, 'headers'>,
  form: RegExp,
  expected: string,
): string | null {
  const given = headers['last-event-id'];
  if (given === undefined) return null;
  if (typeof given === 'string' && form.test(given)) return given;
  throw invalidFields([{ field: 'Last-Event-ID', message: `expected ${expected}` }]);
}

/** A page as it is, or once it brings anything; or all that comes, for whoever accepts events. */
export async function replyTo<Page>(
  { headers: { accept = '' }, actor }: Pick<ApiRequest, 'headers' | 'actor'>,
  followers: Followers,
  followed: Followed<Page>,
  first: Page,
  { wait, isFollowing = false }: { readonly wait: number; readonly isFollowing?: boolean },
): Promise<Reply> {
  const isStream = isFollowing || accept.toLowerCase().includes(EVENT_STREAM);
  if (!isStream && wait === 0) return followed.replyOf(first);
  const end = followers.begin(actor);
  if (isStream) return { body: '', stream: streamOf(followed, first, end) };
  try {
    return followed.replyOf(await awaited(followed, first, wait * 1000));
  } finally {
    end();
  }
}

/** A server-sent event. JSON that is told as it was written may have lines. */
export function eventText(id: string | number, json: string): string {
  const lines = json.split(/\r\n?|\n/);
  return `id: ${id}\n${lines.map((line) => `data: ${line}\n`).join('')}\n`;
}

/** @param end To be called when it has ended. */
function streamOf<Page>(followed: Followed<Page>, first: Page, end: () => void): Stream {
  return async (write) => {
    try {
      let saidAt = followed.now();
      let id = followed.idOf(first);
      for (let page: Page | null = first; page !== null; page = await followed.readAfter(page)) {
        const text = followed.textOf(page);
        const isSilent = followed.now() - saidAt >= SILENCE_MS;
        // Without data it moves on where the next stream begins, and nobody is told of an event.
        const silence = isSilent ? `: still here\nid: ${followed.idOf(page)}\n\n` : '';
        if (text !== '' || isSilent) {
          if (!(await write(text + silence))) return;
          saidAt = followed.now();
        }
        if (followed.isOver() || followed.isLast(page)) return;
        if (followed.isAtEnd(page)) {
          // Also where nothing of what is new was asked for: else each commit would be a read.
          if (text !== '' || followed.idOf(page) !== id) await followed.news(null, PACE_MS);
          id = followed.idOf(page);
          await followed.news(page, LOOK_MS);
        } else if (text === '') await followed.news(null, REST_MS);
        if (followed.isOver()) return;
      }
    } finally {
      end();
    }
  };
}

/**
 * All that there is now, and nothing else. Fails where it cannot be all.
 * @param end To be called when it has ended.
 */
export function wholeOf<Page>(
  followed: Followed<Page>,
  first: Page,
  textOf: (page: Page) => string,
  end: () => void,
): Stream {
  return async (write) => {
    try {
      for (let page: Page | null = first; page !== null; page = await followed.readAfter(page)) {
        const text = textOf(page);
        if (text !== '' && !(await write(text))) return;
        if (followed.isAtEnd(page)) return;
        if (text === '') await followed.news(null, REST_MS);
        if (followed.isOver()) break;
      }
      throw new Error('it was cut off');
    } finally {
      end();
    }
  };
}

/** The first page that brings anything, or is the last, or where it has looked when the time is over. */
async function awaited<Page>(
  followed: Followed<Page>,
  first: Page,
  withinMs: number,
): Promise<Page> {
  const until = followed.now() + withinMs;
  const leftMs = () => Math.max(until - followed.now(), 0);
  let id = followed.idOf(first);
  for (let page = first; ; ) {
    const isDone = followed.textOf(page) !== '' || followed.isLast(page);
    if (isDone || leftMs() === 0 || followed.isOver()) return page;
    if (followed.isAtEnd(page)) {
      if (followed.idOf(page) !== id) await followed.news(null, Math.min(leftMs(), PACE_MS));
      id = followed.idOf(page);
      await followed.news(page, Math.min(leftMs(), LOOK_MS));
    } else await followed.news(null, REST_MS);
    // Nothing is read for somebody who may not see it any more.
    if (followed.isOver()) return page;
    const next = await followed.readAfter(page);
    if (next === null) return page;
    page = next;
  }
}
