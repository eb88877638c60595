/** Lists that are read page by page while they are iterated. */

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
