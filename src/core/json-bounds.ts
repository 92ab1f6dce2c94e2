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
  for (let at = 0; at < bytes.length && count <= max; at++) {
    const byte = bytes[at];
    if (byte === space || byte === lineFeed || byte === carriageReturn || byte === tab) continue;
    if (byte === comma) count++;
    else if (byte === closeBracket || byte === closeBrace) {
      depth--;
      opened = false;
    } else {
      if (opened) count++;
      opened = byte === openBracket || byte === openBrace;
      if (opened && ++depth > depthMax) throw invalid("", `the body is nested more than ${depthMax} deep`);
      if (byte === quote) at = nextQuote(at + 1);
    }
  }
  return count;
}

/** Strings that go on for longer than this are passed over by native search: base64 of megabytes costs little. */
const shortString = 64;

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
        quoteAt = following(quote, at, quoteAt);
        backslashAt = following(backslash, at, backslashAt);
        if (quoteAt < backslashAt) return quoteAt;
        at = backslashAt;
        steps = 0;
      }
      const byte = bytes[at];
      if (byte === quote) return at;
      if (byte === backslash) at++;
    }
    return bytes.length;
  };
}

const space = 0x20;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const tab = 0x09;
const comma = 0x2c;
const quote = 0x22;
const backslash = 0x5c;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;
