import { Failure, invalidArgument } from "./failure.ts";

/** The maximum number of elements in one request, counted before the text is parsed. */
export const elementsMax = 100_000;

/**
 * The longest name of a member, and all names of one request together, in bytes as they are sent
 * (spec/decisions.md 21).
 */
export const nameMax = 1024;
export const namesMax = 2 * 1024 ** 2;

/** The maximum nesting depth of lists and objects (spec/decisions.md 21). */
const depthMax = 100;

/**
 * Adds the bytes of a name to those of the names before it.
 *
 * @throws Failure `too_large` for a name above 1,024 bytes, and for names above 2 MiB in all.
 */
export function addName(before: number, bytes: number): number {
  if (bytes > nameMax) throw new Failure("too_large", `a member's name has more than ${nameMax} bytes`);
  if (before + bytes > namesMax)
    throw new Failure("too_large", `the names of all members have more than ${namesMax} bytes`);
  return before + bytes;
}

/**
 * Refuses JSON text that would cost too much to parse: more than 100,000 members and list items, names above
 * the limits of `addName`, or nesting more than 100 deep. It checks nothing else: the parser refuses
 * malformed text.
 *
 * @param bytes the text in UTF-8.
 * @throws Failure `too_large` for too many elements and too long names, `invalid_argument` for deep nesting.
 */
export function checkJson(bytes: Uint8Array): void {
  if (countJson(bytes, elementsMax) > elementsMax)
    throw new Failure("too_large", `the body has more than ${elementsMax} members and list items`);
}

/**
 * Counts the members of all objects and the items of all lists of a JSON text, in one pass that allocates
 * nothing for an element. Stops at `max + 1`. The text before a colon is a name.
 *
 * @throws Failure `invalid_argument` when lists and objects nest more than 100 deep; as `addName`.
 */
export function countJson(bytes: Uint8Array, max: number): number {
  const nextQuote = quoteFinder(bytes);
  let count = 0;
  let depth = 0;
  let names = 0;
  let textLength = 0;
  // True after an opening bracket: the next token is the first element, unless it is the closing bracket.
  let opened = false;
  const { length } = bytes;
  for (let at = 0; at < length && count <= max; at++) {
    const kind = kinds[bytes[at] ?? 0];
    if (kind === blank || (kind === other && !opened)) continue;
    if (kind === comma) {
      count++;
      continue;
    }
    if (kind === colon) {
      names = addName(names, textLength);
      continue;
    }
    if (opened && kind !== closing) count++;
    opened = kind === opening;
    if (kind === closing) depth--;
    else if (kind === quote) {
      const start = at + 1;
      at = nextQuote(start);
      textLength = at - start;
    } else if (opened && ++depth > depthMax)
      throw invalidArgument("", `the body is nested more than ${depthMax} deep`);
  }
  return count;
}

// The kind of each byte outside of strings. A table lookup takes a fraction of the time of comparisons.
const other = 0;
const blank = 1;
const comma = 2;
const opening = 3;
const closing = 4;
const quote = 5;
const colon = 6;
const kinds = Uint8Array.from({ length: 256 }, (_, byte) => kindOf(String.fromCharCode(byte)));

function kindOf(character: string): number {
  if (" \n\r\t".includes(character)) return blank;
  if ("[{".includes(character)) return opening;
  if ("]}".includes(character)) return closing;
  if (character === ",") return comma;
  if (character === ":") return colon;
  return character === '"' ? quote : other;
}

/**
 * Native search skips the rest of strings that are longer than this many bytes, so megabytes of base64 cost
 * little.
 */
const shortString = 256;

/**
 * Finds the end of a string: the index of the closing quote, or the length of the text. It remembers the
 * quote and the backslash that native search found last, so that no text is searched twice, even with many
 * escapes.
 */
function quoteFinder(bytes: Uint8Array): (from: number) => number {
  let quoteAt = -1;
  let backslashAt = -1;
  const following = (byte: number, from: number, known: number): number => {
    if (known >= from) return known;
    const index = bytes.indexOf(byte, from);
    return index === -1 ? bytes.length : index;
  };
  return (from) => {
    let steps = 0;
    for (let at = from; at < bytes.length; at++) {
      if (++steps > shortString) {
        quoteAt = following(quoteByte, at, quoteAt);
        backslashAt = following(backslash, at, backslashAt);
        if (quoteAt < backslashAt) return quoteAt;
        at = backslashAt;
        steps = 0;
      }
      const byte = bytes[at];
      if (byte === quoteByte) return at;
      if (byte === backslash) at++;
    }
    return bytes.length;
  };
}

const quoteByte = 0x22;
const backslash = 0x5c;

export type Json = null | boolean | number | string | Json[] | { [member: string]: Json };

export type JsonObject = { [member: string]: Json };

/** True for a JSON object: not null, not a list, not a scalar. Use it only for parsed JSON. */
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const isText = (value: unknown): value is string => typeof value === "string";

/** The value of a JSON text; undefined for a text that is not JSON. */
export function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether the JSON text of a value has more than `most` characters. It stops there, and makes no text. */
export function isLonger(value: unknown, most: number): boolean {
  let length = 0;
  const left = [value];
  while (left.length > 0 && length <= most) {
    const next = left.pop();
    // Brackets or quotes, and a comma.
    length += typeof next === "string" ? next.length + 3 : 3;
    if (typeof next !== "object" || next === null) continue;
    for (const name in next) {
      if (!Array.isArray(next)) length += name.length + 3;
      if (length > most) break;
      left.push((next as JsonObject)[name]);
    }
  }
  return length > most;
}
