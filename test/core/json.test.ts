import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { checkJson, countJson, elementsMax, nameMax, namesMax } from "../../src/core/json.ts";

const bytes = (text: string) => Buffer.from(text, "utf8");
const count = (text: string, max = Number.POSITIVE_INFINITY) => countJson(bytes(text), max);

/** The number of members and items of a built value. */
function naive(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return Object.values(value).reduce((sum: number, one) => sum + 1 + naive(one), 0);
}

describe("counting JSON", () => {
  test("counts the members and items of any value, with any spacing", () => {
    const text = fc.string({
      unit: fc.constantFrom('"', "\\", "[", "]", "{", "}", ",", ":", "a", "é", "\n", "\ud83d\ude00"),
      maxLength: 200,
    });
    const value = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 6 },
        fc.jsonValue({ maxDepth: 0 }),
        text,
        fc.array(tie("value")),
        fc.dictionary(text, tie("value")),
      ),
    })).value;
    fc.assert(
      fc.property(value, fc.constantFrom(undefined, 2, "\r\n\t"), (made, space) => {
        expect(count(JSON.stringify(made, null, space))).toBe(naive(made));
      }),
    );
  });

  test("finds the end of strings of any length and any escapes", () => {
    const piece = fc.constantFrom("\\", '"', "x".repeat(100), "y", "\\\\", "z".repeat(63), "é".repeat(40));
    fc.assert(
      fc.property(fc.array(fc.array(piece, { maxLength: 30 })), (strings) => {
        const texts = strings.map((pieces) => pieces.join(""));
        expect(count(JSON.stringify(texts))).toBe(texts.length);
      }),
    );
  });

  test("stops after the limit", () => {
    expect(count("[1,1,1,1,1,1]", 3)).toBe(4);
    expect(count("[1,1,1]", 3)).toBe(3);
  });

  test("counts malformed text up to the mistake, and never throws for it", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (any) => {
        expect(countJson(any, 1000)).toBeLessThanOrEqual(any.length);
      }),
    );
  });
});

describe("a JSON body", () => {
  const items = (n: number) => `[${Array(n).fill("1").join(",")}]`;

  test(`of ${elementsMax} elements is accepted, with one more it is refused`, () => {
    expect(() => checkJson(bytes(items(elementsMax)))).not.toThrow();
    expect(() => checkJson(bytes(items(elementsMax + 1)))).toThrow(
      expect.objectContaining({
        reason: "too_large",
        message: "the body has more than 100000 members and list items",
      }),
    );
  });

  test("is counted by members of objects too, and over all depths together", () => {
    const half = elementsMax / 2;
    const both = (n: number) => `{"a":{${Array(n).fill('"a":{}').join(",")}},"b":${items(half)}}`;
    expect(() => checkJson(bytes(both(half - 2)))).not.toThrow();
    expect(() => checkJson(bytes(both(half - 1)))).toThrow(expect.objectContaining({ reason: "too_large" }));
  });

  test("may be megabytes of text with few elements, with any content", () => {
    for (const text of ['\\"', "[", ",", "\\\\", "x"])
      expect(() => checkJson(bytes(`{"a":"${text.repeat(2_000_000)}"}`))).not.toThrow();
  });
});

describe("the names of members", () => {
  const named = (count: number, length: number) => {
    const members = Array.from(
      { length: count },
      (_, at) => `"${String(at).padStart(length, "n")}" : "${"v".repeat(2000)}"`,
    );
    return bytes(`{"a":[{${members.join(",")}}]}`);
  };
  const tooLarge = (message: string) => expect.objectContaining({ reason: "too_large", message });

  test("have at most 1,024 bytes each; values may be longer", () => {
    expect(() => checkJson(named(2, nameMax))).not.toThrow();
    expect(() => checkJson(named(2, nameMax + 1))).toThrow(
      tooLarge("a member's name has more than 1024 bytes"),
    );
    expect(() => checkJson(bytes(`{"${"é".repeat(nameMax / 2)}x":1}`))).toThrow(
      tooLarge("a member's name has more than 1024 bytes"),
    );
  });

  test("have at most 2 MiB together, over all depths", () => {
    // With the name `a`.
    const most = namesMax / nameMax - 1;
    expect(() => checkJson(named(most, nameMax))).not.toThrow();
    expect(() => checkJson(named(most + 1, nameMax))).toThrow(
      tooLarge("the names of all members have more than 2097152 bytes"),
    );
  });
});
