import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseDataUri } from "../../../src/core/files/part.ts";

const broken = () => new Error("broken");

/** The decoded bytes of a data URI, or undefined if they are refused. */
function decodeBytes(base64: string): Buffer | undefined {
  const uri = parseDataUri(`data:text/plain;base64,${base64}`);
  if (!uri) throw new Error("its head is right");
  try {
    const bytes = Buffer.concat([...uri.decode(broken)]);
    expect(bytes.length, "the size was known before").toBe(uri.bytes);
    return bytes;
  } catch (thrown) {
    if (thrown instanceof Error && thrown.message === "broken") return undefined;
    throw thrown;
  }
}

const anyBytes = fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes));
/** Around the length where another piece begins. */
const longBytes = fc
  .integer({ min: 3 * 64 * 1024 - 4, max: 3 * 64 * 1024 + 4 })
  .map((length) => Buffer.alloc(length, "kept"));

describe("the bytes of a data URI", () => {
  test("decode to the encoded bytes, for any content and any number of pieces", () => {
    const same = fc.property(fc.oneof(anyBytes, longBytes), (bytes) => {
      expect(decodeBytes(bytes.toString("base64"))?.equals(bytes)).toBe(true);
    });
    fc.assert(same);
  });

  test("are refused or are the canonical encoding, after any change of their base64", () => {
    const change = fc.record({
      at: fc.nat(),
      remove: fc.integer({ min: 0, max: 3 }),
      insert: fc.oneof(
        fc.string({ unit: "binary", maxLength: 3 }),
        fc.constantFrom("=", "==", "-", "_", " ", "\n", "%3D", "A", "\0", "Ā"),
      ),
    });
    const exact = fc.property(fc.oneof(anyBytes, longBytes), change, (bytes, { at, remove, insert }) => {
      const right = bytes.toString("base64");
      const place = at % (right.length + 1);
      const changed = right.slice(0, place) + insert + right.slice(place + remove);
      const decoded = decodeBytes(changed);
      if (decoded) expect(decoded.toString("base64")).toBe(changed);
    });
    fc.assert(exact, { numRuns: 500 });
  });

  test.each([
    ["without its padding", "QQ"],
    ["with half of its padding", "QQ="],
    ["with padding that it does not need", "QUFB="],
    ["with padding in the middle", "QQ==QQ=="],
    ["with a line break", "QUFB\nQUFB"],
    ["with a blank at its end", "QUFB "],
    ["of the URL alphabet", "-_-_"],
    ["with bits after its last byte", "QR=="],
    ["percent-encoded", "QQ%3D%3D"],
    ["with one character too many", "QUFBQ"],
    ["with only padding", "===="],
    ["with another character", "QUF!"],
  ])("%s are refused", (_what, base64) => {
    expect(decodeBytes(base64)).toBeUndefined();
  });

  test("may be empty", () => {
    expect(decodeBytes("")).toEqual(Buffer.alloc(0));
  });

  test("of 20 MB are decoded in pieces, without a second full copy", () => {
    const uri = parseDataUri(`data:text/plain;base64,${"QUFB".repeat((20 * 1024 * 1024) / 3)}`);
    let largest = 0;
    let all = 0;
    for (const piece of uri?.decode(broken) ?? []) {
      largest = Math.max(largest, piece.length);
      all += piece.length;
    }
    expect(all).toBe(uri?.bytes);
    expect(largest).toBeLessThanOrEqual(256 * 1024);
  });
});

describe("the head of a data URI", () => {
  test.each([
    ["data:text/plain;base64,", "text/plain"],
    ["data:Text/CSV;charset=utf-8;base64,", "text/csv"],
    ['data:text/plain;name="a;b";base64,', "text/plain"],
    ["DATA:image/svg+xml;BASE64,", "image/svg+xml"],
  ])("%s has the type %s", (head, contentType) => {
    expect(parseDataUri(`${head}QQ==`)).toMatchObject({ contentType, bytes: 1 });
  });

  test.each([
    ["no head", "aGk="],
    ["no media type", "data:;base64,aGk="],
    ["no base64", "data:text/plain,hi"],
    ["base64 that is not the last", "data:text/plain;base64;charset=utf-8,aGk="],
    ["a word that is not a media type", "data:text;base64,aGk="],
    ["another scheme", "blob:text/plain;base64,aGk="],
    ["a blank before", " data:text/plain;base64,aGk="],
    ["no comma", "data:text/plain;base64"],
    ["no end within 500 characters", `data:text/plain;a=${"b".repeat(500)};base64,aGk=`],
    ["a line break", "data:text/\nplain;base64,aGk="],
    ["nothing", ""],
  ])("with %s is invalid", (_what, text) => {
    expect(parseDataUri(text)).toBeUndefined();
  });
});
