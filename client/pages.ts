/** Lists that are read page by page while they are iterated. */
import { type ApiCaller, type CallOptions, signalOf } from './api-call.ts';

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
