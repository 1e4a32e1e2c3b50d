import type { Page } from './types.js';

/** As many as the service puts on a page. */
export const MAX_PAGE = { limit: 100 };

/** All entries of a paged list, read a page at a time as they are asked for. */
export async function* entries<T>(page: (cursor: string | null | undefined) => Promise<Page<T>>, from?: string | null): AsyncGenerator<T, void, undefined> {
  for (let cursor = from; ; ) {
    const { items, nextCursor } = await page(cursor);
    yield* items;
    // A cursor that does not move would go round for ever.
    if (nextCursor === null || nextCursor === cursor) return;
    cursor = nextCursor;
  }
}
