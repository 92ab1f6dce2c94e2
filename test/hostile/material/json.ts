/** `count` copies of an item, with commas. */
export const items = (count: number, item: string): string =>
  Buffer.alloc(count * (item.length + 1), `${item},`)
    .toString("latin1")
    .slice(0, -1);

/** A list of `count` copies of an item. */
export const list = (count: number, item: string): string => `[${items(count, item)}]`;

/** An object of `count` members with different names, each of `length` characters. */
export const names = (count: number, length = 8): string =>
  `{${Array.from({ length: count }, (_, at) => `"${at.toString(36).padStart(length, "n")}":1`).join(",")}}`;

/** Lists in lists, objects in objects, or any nesting with these two ends. */
export const nest = (depth: number, open: string, close: string): string =>
  open.repeat(depth) + close.repeat(depth);
