import type { RootContent } from "mdast";
import { fromMarkdown } from "mdast-util-from-markdown";
import { gfmFromMarkdown } from "mdast-util-gfm";
import { gfm } from "micromark-extension-gfm";

/** Parses a text. */
export function parse(text: string): readonly RootContent[] {
  return fromMarkdown(text, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] }).children;
}

/** The blocks of a text that grows. */
export interface Grown {
  readonly blocks: readonly RootContent[];
  /** The beginning of the text, whose blocks no longer change, and these blocks. */
  readonly done: string;
  readonly doneBlocks: readonly RootContent[];
}

export const nothingParsed: Grown = { blocks: [], done: "", doneBlocks: [] };

/** Blocks at the end that a longer text may change: the last one, and one that it may join. */
const openBlocks = 2;

/**
 * Parses a text of which a part was parsed before. Only its last blocks are parsed again, so that its cost
 * does not grow with the text.
 */
export function parseGrown(before: Grown, text: string): Grown {
  const { done, doneBlocks } = text.startsWith(before.done) ? before : nothingParsed;
  const last = parse(text.slice(done.length));
  const blocks = [...doneBlocks, ...last];
  const closed = last.slice(0, -openBlocks);
  const end = last[closed.length]?.position?.start.offset;
  if (closed.length === 0 || end === undefined) return { blocks, done, doneBlocks };
  return { blocks, done: text.slice(0, done.length + end), doneBlocks: [...doneBlocks, ...closed] };
}
