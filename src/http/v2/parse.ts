import { isUtf8 } from "node:buffer";
import type { JsonValue } from "@bufbuild/protobuf";
import { type ParseErrorCode, visit } from "jsonc-parser";
import { type Failure, invalid } from "../../core/failure.ts";

/** How deep lists and objects may nest (contract/decisions.md 21). */
const depthMax = 100;

/**
 * Reads the bytes of a body as JSON. No bytes, or only white space, are `{}`; of
 * members with the same name the last one counts.
 *
 * @throws Failure `invalid` with the place of a mistake, but never a piece of the body.
 */
export function parseBody(bytes: Uint8Array): JsonValue {
  if (bytes.length === 0) return {};
  if (!isUtf8(bytes)) throw invalid("", "the body is not valid UTF-8");
  const text = withoutMark(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8"));
  checkDepth(text);
  try {
    // JSON.parse gives nothing but JSON values.
    return JSON.parse(text) as JsonValue;
  } catch {
    if (blank.test(text)) return {};
    throw syntaxFailure(text);
  }
}

const blank = /^[ \t\r\n]*$/;

/** Some editors begin a file with a byte order mark; RFC 8259 lets a parser pass over it. */
const withoutMark = (text: string): string => (text.startsWith("\ufeff") ? text.slice(1) : text);

/**
 * Refuses deep nesting before anything is built from it. Brackets are counted
 * outside strings only, and strings are passed over by `indexOf`, so that
 * megabytes of file data cost little.
 */
function checkDepth(text: string): void {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === quote) {
      at = stringEnd(text, at);
    } else if (char === openBracket || char === openBrace) {
      if (++depth > depthMax) throw invalid("", `the body is nested more than ${depthMax} deep`);
    } else if (char === closeBracket || char === closeBrace) {
      depth--;
    }
  }
}

const quote = 0x22;
const backslash = 0x5c;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/** Where the string that begins at `start` ends: its closing quote, or the end of the text. */
function stringEnd(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end !== -1) {
    let escapes = 0;
    while (text.charCodeAt(end - 1 - escapes) === backslash) escapes++;
    if (escapes % 2 === 0) return end;
    end = text.indexOf('"', end + 1);
  }
  return text.length;
}

// The library's enum is a type only; these are its numbers in order, from 1.
const mistakes: Readonly<Record<ParseErrorCode, string>> = {
  1: "not a JSON value",
  2: "not a number",
  3: "a member name in quotes is missing",
  4: "a value is missing",
  5: "a colon is missing",
  6: "a comma is missing",
  7: "a closing brace is missing",
  8: "a closing bracket is missing",
  9: "the JSON value has ended before",
  10: "comments are not JSON",
  11: "comments are not JSON",
  12: "a string has no end",
  13: "a number has no end",
  14: "not a Unicode escape",
  15: "not an escape sequence",
  16: "a control character must be escaped",
};

/** V8's own message quotes the body and its position is not always there: so the text is read once more. */
function syntaxFailure(text: string): Failure {
  let found: Failure | undefined;
  const stop = new Error("the first mistake is enough");
  const onError = (code: ParseErrorCode, _offset: number, _length: number, line: number, column: number): void => {
    found = invalid("", `the body is not valid JSON: line ${line + 1}, column ${column + 1}: ${mistakes[code]}`);
    throw stop;
  };
  try {
    visit(text, { onError }, { disallowComments: true, allowTrailingComma: false });
  } catch (thrown) {
    if (thrown !== stop) throw thrown;
  }
  return found ?? invalid("", "the body is not valid JSON");
}
