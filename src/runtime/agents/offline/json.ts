import type { Json } from "../../../core/json.ts";

const depthMax = 100;

/** Where a text leaves JSON, and how deeply it was nested on the way. */
interface Passage {
  /** Offset of the `]]`; -1 without one. */
  readonly end: number;
  readonly depth: number;
}

/**
 * The offset of the first `]]` that is outside the strings and brackets of the JSON
 * before it; -1 without one. Text that is no JSON has some end too, or none.
 */
export const endOfJson = (text: string, from: number): number => passage(text, from).end;

function passage(text: string, from: number): Passage {
  let [open, depth] = [0, 0];
  for (let at = from; at < text.length; at++) {
    const character = text[at];
    if (character === '"') at = endOfString(text, at);
    else if (character === "[" || character === "{") open += 1;
    else if (open > 0 && (character === "]" || character === "}")) open -= 1;
    else if (character === "]" && text[at + 1] === "]") return { end: at, depth };
    depth = Math.max(depth, open);
  }
  return { end: -1, depth };
}

/** The offset of the quote that closes the string; that of the text's end without one. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at;
}

/**
 * The value of a JSON text; undefined for any other text, and for what not every
 * database and wire can hold: deep nesting, endless numbers, U+0000, lone surrogates.
 */
export function parseJson(text: string): { readonly value: Json } | undefined {
  if (passage(text, 0).depth > depthMax) return undefined;
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
