/** Lists that are read page by page while they are iterated. */
import { setTimeout as delay } from 'node:timers/promises';
import { type AbsenceOptions, type ApiCaller, type CallOptions, signalOf } from './api-call.ts';

/** Less than a try of a call may take. */
const WAIT_SECONDS = 10;
/** Between two questions, where the master does not wait: it stops, or its store is slow. */
const PAUSE_MS = 1_000;

/** All that a list has, of those that `filters` leave, from their `cursor` on. `field`: in which of a page they are. */
export function allOf<T>(
  api: ApiCaller,
  path: string,
  field: string,
  options: CallOptions = {},
  filters: object = {},
): AsyncIterableIterator<T> {
  type Page = { readonly next_cursor: string | null } & Readonly<Record<string, readonly T[]>>;
  return eachOf(
    async (cursor) => {
      const query = { ...filters, ...(cursor !== undefined && { cursor }) };
      const question = { path, field, query, signal: signalOf(options) };
      return (await api.call({ method: 'GET', ...question })) as Page;
    },
    (page) => page[field] ?? [],
  );
}

/** `first`: the cursor of the page to begin with. */
export async function* eachOf<P extends { readonly next_cursor: string | null }, T>(
  read: (cursor: string | undefined) => Promise<P>,
  itemsOf: (page: P) => readonly T[],
  first?: string,
): AsyncIterableIterator<T> {
  for (let cursor: string | null | undefined = first; cursor !== null; ) {
    const page: P = await read(cursor);
    yield* itemsOf(page);
    cursor = page.next_cursor;
  }
}

export interface FollowedPages extends CallOptions, AbsenceOptions {
  readonly path: string;
  /** One that every page has. */
  readonly field: string;
  readonly filters: object;
  /** Where to begin. */
  readonly after: unknown;
  /** True: it waits for more, without end, whatever becomes of the master. False: it ends with the newest that there is. */
  readonly follow: boolean;
}

/** Of what grows at its end. */
export async function* pagesAfter<P extends { readonly next: string | number }>(
  api: ApiCaller,
  { path, field, filters, after: from, follow, signal, ...absence }: FollowedPages,
): AsyncIterableIterator<P> {
  for (let after: unknown = from; ; ) {
    const query = { ...filters, after, ...(follow && { wait: WAIT_SECONDS }) };
    const call = { method: 'GET', path, field, query, signal } as const;
    const askedAt = performance.now();
    const page = (await (follow ? api.callPatiently(call, absence) : api.call(call))) as P;
    yield page;
    const isNew = page.next !== after;
    if (!isNew && !follow) return;
    const leftMs = askedAt + WAIT_SECONDS * 1000 - performance.now();
    if (!isNew && leftMs > 0) await delay(Math.min(leftMs, PAUSE_MS), undefined, { signal });
    after = page.next;
  }
}
