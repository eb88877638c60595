/**
 * Hears from the feed of events that something has happened, so that a page need not wait for its next look. One request
 * waits at a time, and none while nobody sees the page: a browser has few connections to a host.
 */
import { useEffect, useState } from 'preact/hooks';
import type { EventPage } from '@soda-scheduler/protocol';
import { Away, call, type Query, Refused } from '../api/call.ts';

const WAIT_SECONDS = 25;
/** After a failure, and between two looks at a busy feed. */
const PAUSE_MS = 2_000;
/** Some of it is not kept any more; so many follow already. */
const PASSING = new Set([410, 429]);

/** How often it has told of something. @param isAllowed whether this token may read it. */
export function useNews(namespace: string, isAllowed: boolean): number {
  const [count, setCount] = useState(0);
  useEffect(() => {
    if (!isAllowed) return undefined;
    let stop = new AbortController();
    const begin = (): void => {
      stop.abort();
      stop = new AbortController();
      if (document.hidden) return;
      const { signal } = stop;
      const ask = (query: Query) =>
        call<EventPage>({ path: '/events', namespace, query: { ...query, limit: 1 }, signal });
      const tell = () => setCount((n) => n + 1);
      void follow({ ask, tell, rest: () => pause(signal), signal });
    };
    begin();
    document.addEventListener('visibilitychange', begin);
    return () => {
      document.removeEventListener('visibilitychange', begin);
      stop.abort();
    };
  }, [namespace, isAllowed]);
  return count;
}

interface Followed {
  readonly ask: (query: Query) => Promise<EventPage>;
  readonly tell: () => void;
  readonly rest: () => Promise<void>;
  readonly signal: AbortSignal;
}

/** Until it is stopped, or may not. What has happened is not read, but for the first of it. */
export async function follow({ ask, tell, rest, signal }: Followed): Promise<void> {
  let after: number | 'now' = 'now';
  while (!signal.aborted) {
    try {
      const begunAt = performance.now();
      const wait = after === 'now' ? 0 : WAIT_SECONDS;
      const page: EventPage = await ask({ after, wait });
      after = page.next;
      if (page.events.length > 0) {
        // Before it is told: whoever asks then sees all up to there. Page by page a busy feed would be told of for hours.
        after = (await ask({ after: 'now', wait: 0 })).next;
        tell();
        // Sooner than it was asked to wait: the master is about to stop, and lets nobody wait.
      } else if (performance.now() - begunAt >= PAUSE_MS) continue;
      await rest();
    } catch (error) {
      if (signal.aborted) return;
      // Begins anew at what is kept; whoever may not read it goes without.
      const isForGood =
        error instanceof Refused && error.status < 500 && !PASSING.has(error.status);
      if (isForGood) return;
      if (!(error instanceof Refused || error instanceof Away)) return;
      after = 'now';
      await rest();
    }
  }
}

function pause(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, PAUSE_MS);
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
  });
}
