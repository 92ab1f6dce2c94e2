import type { Json } from "../../../core/json.ts";

const depthMax = 100;

/**
 * Scans JSON in a text, from an offset. `end` is the offset of the first `]]` outside its strings and brackets, -1 without one;
 * `depth` is its nesting. For invalid JSON both are arbitrary.
 */
export function scanJson(text: string, from: number): { readonly end: number; readonly depth: number } {
  const token = /"[^"\\]*(?:\\.[^"\\]*)*"?|[[\]{}]/gs;
  token.lastIndex = from;
  let [open, depth] = [0, 0];
  for (const { 0: mark, index } of text.matchAll(token)) {
    if (mark === "[" || mark === "{") open += 1;
    else if (open > 0 && (mark === "]" || mark === "}")) open -= 1;
    else if (mark === "]" && text[index + 1] === "]") return { end: index, depth };
    depth = Math.max(depth, open);
  }
  return { end: -1, depth };
}

/**
 * Parses a JSON text; undefined for invalid JSON, and for values that not every database and wire supports: deep nesting,
 * infinite numbers, U+0000, lone surrogates.
 */
export function parseJson(text: string): { readonly value: Json } | undefined {
  if (scanJson(text, 0).depth > depthMax) return undefined;
  try {
    let holds = true;
    const value: Json = JSON.parse(text, (name, part) => {
      holds &&= canHold(name) && canHold(part);
      return part;
    });
    return holds ? { value } : undefined;
  } catch {
    return undefined;
  }
}

function canHold(part: Json): boolean {
  if (typeof part === "string") return part.isWellFormed() && !part.includes("\0");
  return typeof part !== "number" || Number.isFinite(part);
}

const excerptMax = 200;

/** The most items of a list that are shown. */
const someMax = 20;

/** Shortens a text for a quote to its first 200 characters. */
export function shorten(text: string): string {
  const characters = [...text.slice(0, 2 * excerptMax + 2)];
  return characters.length <= excerptMax ? text : `${characters.slice(0, excerptMax - 1).join("")}…`;
}

/** A number with its noun. */
export const count = (n: number, noun: string): string => `${n} ${noun}${n === 1 ? "" : "s"}`;

/** The texts of the first items of a list, and how many more there are; `noun` names the items. */
export function someOf(items: readonly string[], textOf: (item: string, i: number) => string, noun?: string): readonly string[] {
  const more = items.length - someMax;
  const shown = items.slice(0, someMax).map(textOf);
  return more > 0 ? [...shown, `… and ${noun === undefined ? more : count(more, noun)} more`] : shown;
}
