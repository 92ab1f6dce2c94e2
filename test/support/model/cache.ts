import type { Json, JsonObject } from "../../../src/core/json.ts";
import type { WireForm } from "./script.ts";

/** The input of a request in tokens, and those of it that the cache had and that were written into it. */
export interface CountedInput {
  readonly input: number;
  readonly cached: number;
  readonly written: number;
}

/** Counts the requests of a server in order, each from its own text and those before it. */
export type InputCounter = (body: JsonObject) => CountedInput;

const bytesPerToken = 4;
/** Providers cache no shorter beginning. */
const tokensLeast = 1_024;
const tokensOf = (text: string): number => Math.ceil(Buffer.byteLength(text) / bytesPerToken);

/** The counter of a new server of this API. */
export const inputCounter = (api: WireForm["api"]): InputCounter =>
  api === "anthropic" ? countByMarks() : countByPrefix();

/** OpenAI's services keep the longest equal beginning, in steps of 128 tokens, by model and `prompt_cache_key`. */
function countByPrefix(): InputCounter {
  const known = new Map<string, string[]>();
  return ({ model = "", prompt_cache_key = "", tools = [], messages = [], input = [] }) => {
    const key = JSON.stringify([model, prompt_cache_key]);
    const text = JSON.stringify([tools, messages, input]);
    const texts = known.get(key) ?? [];
    known.set(key, [...texts, text]);
    const equal = Math.max(0, ...texts.map((before) => tokensOf(text.slice(0, countEqual(before, text)))));
    return { input: tokensOf(text), cached: equal < tokensLeast ? 0 : equal - (equal % 128), written: 0 };
  };
}

/** The number of characters at the start that two texts share. */
export function countEqual(one: string, other: string): number {
  let count = 0;
  while (count < one.length && one[count] === other[count]) count += 1;
  return count;
}

/** Anthropic's service looks for an entry at a mark and at the 20 blocks before it. */
const lookBack = 20;
const marksMax = 4;

/**
 * Anthropic's service writes an entry at each `cache_control`, and reads the longest one that it finds.
 * @throws Error for a fifth mark.
 */
function countByMarks(): InputCounter {
  const entries = new Set<string>();
  return (body) => {
    const blocks = blocksOf(body);
    const ends = beginnings(blocks.map(({ text }) => text));
    const marks = blocks.flatMap(({ isMarked }, at) => (isMarked ? [at] : []));
    if (marks.length > marksMax)
      throw new Error(`${marks.length} marks, and at most ${marksMax} are allowed`);
    const sizes = marks.map((mark) => {
      for (let at = mark; at >= Math.max(0, mark - lookBack); at -= 1)
        if (entries.has(ends[at] ?? "")) return tokensOf(ends[at] ?? "");
      return 0;
    });
    const cached = Math.max(0, ...sizes);
    for (const mark of marks) if (tokensOf(ends[mark] ?? "") >= tokensLeast) entries.add(ends[mark] ?? "");
    const last = tokensOf(ends[marks.at(-1) ?? -1] ?? "");
    return { input: tokensOf(ends.at(-1) ?? ""), cached, written: Math.max(0, last - cached) };
  };
}

/** The text up to the end of each block. */
function beginnings(texts: readonly string[]): readonly string[] {
  let all = "";
  return texts.map((text) => {
    all += text;
    return all;
  });
}

interface Block {
  readonly text: string;
  readonly isMarked: boolean;
}

/** The blocks of a request in the order of the cache: tools, system, messages. */
function blocksOf({ model = "", tools = [], system = [], messages = [] }: JsonObject): readonly Block[] {
  const block = (value: Json, role = ""): Block => {
    const { cache_control: mark, ...rest } =
      typeof value === "string" ? { text: value } : (value as JsonObject);
    return { text: JSON.stringify([model, role, rest]), isMarked: mark !== undefined };
  };
  const list = (value: Json): readonly Json[] => (Array.isArray(value) ? value : [value]);
  const written = messages as unknown as readonly { readonly role: string; readonly content: Json }[];
  return [
    ...[...list(tools), ...list(system)].map((value) => block(value)),
    ...written.flatMap(({ role, content }) => list(content).map((value) => block(value, role))),
  ];
}

/** A request as text, with the messages at its end: what was added is at the end too. */
export function textOf({ messages, input, system = null, tools = [], ...others }: JsonObject): string {
  return JSON.stringify({ ...others, tools, system, messages: messages ?? input ?? [] });
}
