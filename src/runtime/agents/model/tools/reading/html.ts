import type { Page, PageSource } from "./html-worker.ts";
import { cutPart, type Part, type Reading, readFullText, type Source } from "./text.ts";
import { readInThread } from "./thread.ts";

const charactersMax = 10_000_000;
/** The limits of the thread of one page. */
const limits = { ms: 10_000, memory: 256 * 1024 ** 2, heapMb: 192 };
const unreadable = "the page cannot be read: it is too large or too deeply nested; save_as keeps it as it is";

/** Reads a part of a page as Markdown, by characters: its article, or all of it. Nothing of it is run or loaded. */
export async function readHtml(source: Source, { from, signal }: Part): Promise<Reading> {
  const page: PageSource = { html: await readFullText(source, charactersMax), url: source.url ?? null };
  const module = new URL("./html-worker.ts", import.meta.url);
  const { title, text } = await readInThread<Page>(module, page, limits, unreadable, signal);
  return { ...(from === 0 ? { title } : {}), ...cutPart(text.slice(from), from) };
}
