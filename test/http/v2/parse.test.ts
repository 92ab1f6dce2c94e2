import { describe, expect, test } from "vitest";
import { parseBody } from "../../../src/http/v2/parse.ts";

const bytes = (text: string) => Buffer.from(text, "utf8");
const failure = (message: string) => expect.objectContaining({ reason: "invalid_argument", message });

describe("a body", () => {
  test.each(["", " ", "\r\n\t ", "\ufeff"])("%j without content is an empty object", (text) => {
    expect(parseBody(bytes(text))).toEqual({});
  });

  test("may begin with a byte order mark", () => {
    expect(parseBody(bytes('\ufeff{"a":1}'))).toEqual({ a: 1 });
  });

  test("keeps the last of two members with one name", () => {
    expect(parseBody(bytes('{"a":1,"a":2}'))).toEqual({ a: 2 });
  });

  test("cannot change a prototype", () => {
    const json = parseBody(bytes('{"__proto__":{"polluted":true}}'));
    expect(Object.getPrototypeOf(json)).toBe(Object.prototype);
    expect("polluted" in {}).toBe(false);
  });

  test.each([
    ["a byte that is not UTF-8", Buffer.from([0x7b, 0xff, 0x7d])],
    ["an encoded surrogate", Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
    ["a cut character", Buffer.from([0x22, 0xc3])],
  ])("is refused for %s", (_why, body) => {
    expect(() => parseBody(body)).toThrow(failure("the body is not valid UTF-8"));
  });

  test.each([
    ['{"a":}', "line 1, column 6: a value is missing"],
    ['{\n  "a": 1\n  "b": 2\n}', "line 3, column 3: a comma is missing"],
    ['{\r\n"a": 1,\r\n}', "line 3, column 1: a member name in quotes is missing"],
    ["[1,]", "line 1, column 4: a value is missing"],
    ['{"a":1}x', "line 1, column 8: not a JSON value"],
    ['{"a":1}{}', "line 1, column 8: the JSON value has ended before"],
    ["{a:1}", "line 1, column 2: not a JSON value"],
    ["{'a':1}", "line 1, column 2: not a JSON value"],
    ['{"a":1 // one\n}', "line 1, column 8: comments are not JSON"],
    ['{"a":"x\ny"}', "line 1, column 6: a string has no end"],
    ['{"a":"\\x"}', "line 1, column 6: not an escape sequence"],
    ['{"a":"\\u12"}', "line 1, column 6: not a Unicode escape"],
    ['{"a":"\t"}', "line 1, column 6: a control character must be escaped"],
    ['{"a":01}', "line 1, column 7: a comma is missing"],
    ['{"a":NaN}', "line 1, column 6: not a JSON value"],
    ['{"a":[1', "line 1, column 8: a closing bracket is missing"],
    ["[1}", "line 1, column 3: a comma is missing"],
    ["true false", "line 1, column 6: the JSON value has ended before"],
  ])("with the mistake in %j is refused with its position", (text, place) => {
    expect(() => parseBody(bytes(text))).toThrow(failure(`the body is not valid JSON: ${place}`));
  });

  test("is never quoted in the answer", () => {
    expect(() => parseBody(bytes('{"password": hunter2 }'))).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining("hunter2") }),
    );
  });
});

describe("depth", () => {
  const nested = (open: string, close: string, depth: number) => open.repeat(depth) + close.repeat(depth);

  test("of a hundred is accepted", () => {
    expect(JSON.stringify(parseBody(bytes(nested("[", "]", 100))))).toBe(nested("[", "]", 100));
  });

  test.each([
    ["lists", nested("[", "]", 101)],
    ["objects", `${'{"a":'.repeat(101)}1${"}".repeat(101)}`],
    ["a body that never closes", "[".repeat(1_000_000)],
    ["what follows a string with an escaped quote", `["\\"","\\\\",${nested("[", "]", 100)}]`],
  ])("beyond a hundred is refused: %s", (_what, text) => {
    expect(() => parseBody(bytes(text))).toThrow(failure("the body is nested more than 100 deep"));
  });

  test("does not count brackets in strings", () => {
    const text = JSON.stringify({ a: "[".repeat(200), 'b"\\[': '\\"'.repeat(100) + "[".repeat(200) });
    expect(parseBody(bytes(text))).toEqual(JSON.parse(text));
  });

  test("counts siblings once", () => {
    const text = `[${Array.from({ length: 500 }, () => "[[]]").join(",")}]`;
    expect(parseBody(bytes(text))).toEqual(JSON.parse(text));
  });
});
