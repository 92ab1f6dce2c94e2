import { Failure, invalid } from "./failure.ts";

/** How many elements one request may have, counted before anything is built from it. */
export const elementsMax = 100_000;

/** How deep lists and objects may nest (contract/decisions.md 21). */
const depthMax = 100;

/**
 * Refuses JSON text that would cost too much to build: more than 100,000 members and list items, or nesting more than
 * 100 deep. The text is not checked otherwise: malformed text is the parser's to refuse.
 *
 * @param bytes the text in UTF-8.
 * @throws Failure `too_large` for too many elements, `invalid` for deep nesting.
 */
export function checkJson(bytes: Uint8Array): void {
  if (countJson(bytes, elementsMax) > elementsMax)
    throw new Failure("too_large", `the body has more than ${elementsMax} members and list items`);
}

/**
 * Counts the members of all objects and the items of all lists of a JSON text, in one pass that allocates nothing for an
 * element. Stops at `max + 1`.
 *
 * @throws Failure `invalid` when lists and objects nest more than 100 deep.
 */
export function countJson(bytes: Uint8Array, max: number): number {
  const nextQuote = quoteFinder(bytes);
  let count = 0;
  let depth = 0;
  // After an opening bracket: what comes next is the first element, unless it is the closing one.
  let opened = false;
  const { length } = bytes;
  for (let at = 0; at < length && count <= max; at++) {
    const kind = kinds[bytes[at] ?? 0];
    if (kind === blank || (kind === other && !opened)) continue;
    if (kind === comma) {
      count++;
      continue;
    }
    if (opened && kind !== closing) count++;
    opened = kind === opening;
    if (kind === closing) depth--;
    else if (kind === quote) at = nextQuote(at + 1);
    else if (opened && ++depth > depthMax) throw invalid("", `the body is nested more than ${depthMax} deep`);
  }
  return count;
}

// What a byte means outside of strings: a table takes a fraction of the time of comparisons.
const other = 0;
const blank = 1;
const comma = 2;
const opening = 3;
const closing = 4;
const quote = 5;
const kinds = Uint8Array.from({ length: 256 }, (_, byte) => kindOf(String.fromCharCode(byte)));

function kindOf(character: string): number {
  if (" \n\r\t".includes(character)) return blank;
  if ("[{".includes(character)) return opening;
  if ("]}".includes(character)) return closing;
  if (character === ",") return comma;
  return character === '"' ? quote : other;
}

/** Strings that go on for longer than this are passed over by native search: base64 of megabytes costs little. */
const shortString = 256;

/**
 * Finds where strings end: the index of the closing quote, or the length of the text. A quote or a backslash that
 * native search has found is kept for the next call, so that no text is searched twice, whatever its escapes.
 */
function quoteFinder(bytes: Uint8Array): (from: number) => number {
  let quoteAt = -1;
  let backslashAt = -1;
  const following = (byte: number, from: number, known: number): number => {
    if (known >= from) return known;
    const found = bytes.indexOf(byte, from);
    return found === -1 ? bytes.length : found;
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
