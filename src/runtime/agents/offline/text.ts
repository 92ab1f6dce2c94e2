import type { Json } from "../../../core/json.ts";

const depthMax = 100;
/** The most characters of a quoted text, and the most items of a list. */
const charactersMax = 200;
export const itemsMax = 20;

/**
 * Scans JSON in a text, from an offset. `end` is the offset of the first `]]` outside its strings and
 * brackets, -1 without one; `depth` is its nesting. For invalid JSON both are arbitrary.
 */
export function scanJson(text: string, from: number): { end: number; depth: number } {
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
 * Parses JSON; undefined if it is invalid, or has what not every database and wire supports: deep nesting,
 * infinity, U+0000, lone surrogates.
 */
export function readJson(text: string): { value: Json } | undefined {
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

const canHold = (part: Json): boolean =>
  typeof part === "string"
    ? part.isWellFormed() && !part.includes("\0")
    : typeof part !== "number" || Number.isFinite(part);

export function shorten(text: string): string {
  const characters = [...text.slice(0, 2 * charactersMax + 2)];
  return characters.length <= charactersMax ? text : `${characters.slice(0, charactersMax - 1).join("")}…`;
}

export const count = (n: number, noun: string): string => `${n} ${noun}${n === 1 ? "" : "s"}`;
