import type { Json } from "../../../core/json.ts";

const depthMax = 100;

/** The end of the JSON in a text, and its nesting depth. */
interface Passage {
  /** Offset of the `]]`; -1 without one. */
  readonly end: number;
  readonly depth: number;
}

/**
 * The offset of the first `]]` that is outside the strings and brackets of the JSON
 * before it; -1 without one. For invalid JSON the result is arbitrary.
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

/** The offset of the string's closing quote; the end of the text without one. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at;
}

/**
 * Parses a JSON text; undefined for invalid JSON, and for values that not every database and wire supports: deep nesting,
 * infinite numbers, U+0000, lone surrogates.
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

const excerptMax = 200;

/** The most items of a list that are shown. */
export const someMax = 20;

/** Shortens a text for a quote to its first 200 characters. */
export function shorten(text: string): string {
  const characters = [...text.slice(0, 2 * excerptMax + 2)];
  return characters.length <= excerptMax ? text : `${characters.slice(0, excerptMax - 1).join("")}…`;
}

/** A number with its noun. */
export const count = (n: number, noun: string): string => `${n} ${noun}${n === 1 ? "" : "s"}`;

/** The first items of a list, and how many more there are. */
export const listSome = (words: readonly string[]): string =>
  [...words.slice(0, someMax).map(shorten), ...(words.length > someMax ? [`… and ${words.length - someMax} more`] : [])].join(", ");
