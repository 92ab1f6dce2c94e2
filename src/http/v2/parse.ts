import type { JsonValue } from "@bufbuild/protobuf";
import { type ParseErrorCode, visit } from "jsonc-parser";
import { type Failure, invalidArgument } from "../../core/failure.ts";
import { checkBody } from "../bounds/check.ts";
import { freeBody } from "../pieces.ts";

/**
 * Reads the bytes of a body as JSON. An empty body, or only white space, is `{}`; of members with the same
 * name the last one applies. Frees the bytes of a large body.
 *
 * @throws Failure `invalid_argument` with the position of a mistake, but never a part of the body;
 * `too_large` for too many elements.
 */
export function parseBody(bytes: Uint8Array): JsonValue {
  try {
    return parseJson(bytes);
  } finally {
    freeBody(bytes);
  }
}

function parseJson(bytes: Uint8Array): JsonValue {
  checkBody(bytes, null);
  if (bytes.length === 0) return {};
  const text = withoutMark(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8"));
  try {
    // JSON.parse returns only JSON values.
    return JSON.parse(text) as JsonValue;
  } catch {
    if (blank.test(text)) return {};
    throw syntaxFailure(text);
  }
}

const blank = /^[ \t\r\n]*$/;

/** Removes the byte order mark that some editors write; RFC 8259 allows parsers to ignore it. */
const withoutMark = (text: string): string => (text.startsWith("\ufeff") ? text.slice(1) : text);

// The library's enum is only a type; these are its numbers in order, from 1.
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

/** The length of text that is searched for the position of a mistake, in UTF-16 code units. */
const searchedLength = 65_536;

/**
 * V8's message quotes the body and does not always have a position, so the beginning of the text is parsed
 * again.
 */
function syntaxFailure(text: string): Failure {
  const searched = text.slice(0, searchedLength);
  let failure: Failure | undefined;
  const stop = new Error("the first mistake is enough");
  const onError = (
    code: ParseErrorCode,
    offset: number,
    length: number,
    line: number,
    column: number,
  ): void => {
    // A mistake at the end of the searched part may exist only because the rest is missing.
    const isCut = text.length > searchedLength && offset + length >= searchedLength;
    if (!isCut)
      failure = invalidArgument(
        "",
        `the body is not valid JSON: line ${line + 1}, column ${column + 1}: ${mistakes[code]}`,
      );
    throw stop;
  };
  try {
    visit(searched, { onError }, { disallowComments: true, allowTrailingComma: false });
  } catch (thrown) {
    if (thrown !== stop) throw thrown;
  }
  const beyond =
    text.length > searchedLength ? `: the mistake is after the first ${searchedLength} characters` : "";
  return failure ?? invalidArgument("", `the body is not valid JSON${beyond}`);
}
