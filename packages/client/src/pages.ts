/** A list over all its pages: iterate over the items, or over the pages. */
export interface Paged<Item, Page> extends AsyncIterable<Item> {
  /** The answers of the server, one for each page. */
  pages(): AsyncIterable<Page>;
  /** The items as an array, at most `max`. */
  all(max?: number): Promise<Item[]>;
}

/** @param read returns a page; `undefined` means the first one. */
export function paged<Item, Page extends { readonly next_cursor?: string }>(
  read: (cursor: string | undefined) => Promise<Page>,
  itemsOf: (page: Page) => readonly Item[],
): Paged<Item, Page> {
  async function* pages(): AsyncGenerator<Page> {
    let cursor: string | undefined;
    do {
      const page = await read(cursor);
      yield page;
      cursor = page.next_cursor;
    } while (cursor !== undefined && cursor !== "");
  }
  async function* items(): AsyncGenerator<Item> {
    for await (const page of pages()) yield* itemsOf(page);
  }
  return {
    pages,
    [Symbol.asyncIterator]: items,
    async all(max = Number.POSITIVE_INFINITY) {
      const found: Item[] = [];
      if (max <= 0) return found;
      for await (const item of items()) if (found.push(item) >= max) break;
      return found;
    },
  };
}
