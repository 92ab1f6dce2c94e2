import { expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/json.ts";
import { sampleValue } from "../../../src/runtime/agents/offline/sample.ts";
import { objectOf, refTo } from "./schemas.ts";

const text: JsonObject = { type: "string" };
const number: JsonObject = { type: "number" };
const integer: JsonObject = { type: "integer" };
const boolean: JsonObject = { type: "boolean" };

const samples: readonly (readonly [why: string, properties: JsonObject, text: string, sample: JsonObject])[] =
  [
    [
      "strings are the sentences in turn",
      { a: text, b: text, c: text },
      "One.  Two\nthree? ",
      { a: "One.", b: "Two", c: "three?" },
    ],
    [
      "and from the first again",
      { a: text, b: text, c: text },
      "One. Two.",
      { a: "One.", b: "Two.", c: "One." },
    ],
    ["a long sentence is cut", { a: text }, "w ".repeat(100), { a: "w ".repeat(40).trim() }],
    ["a character is not cut in two", { a: text }, "😀".repeat(100), { a: "😀".repeat(80) }],
    [
      "numbers are the text's numbers in turn",
      { a: number, b: number, c: number },
      "from -2.5 to 40",
      { a: -2.5, b: 40, c: -2.5 },
    ],
    ["an integer has no fraction", { a: integer, b: integer }, "2.9, -2.9", { a: 2, b: -2 }],
    ["without numbers they are 0", { a: number, b: integer }, "one two three", { a: 0, b: 0 }],
    [
      "a boolean is whether the text has the name",
      { Urgent: boolean, late: boolean },
      "It is urgent.",
      { Urgent: true, late: false },
    ],
    ["an enum is its first entry", { a: { type: "string", enum: ["x", "y"] } }, "y", { a: "x" }],
    [
      "what may be null is not",
      { a: { type: ["null", "string"] }, b: { anyOf: [{ type: "null" }, number] } },
      "Seven 7",
      { a: "Seven 7", b: 7 },
    ],
    ["null is null", { a: { type: "null" } }, "x", { a: null }],
    ["an array of plain items has two", { a: { type: "array", items: integer } }, "5, 6, 7", { a: [5, 6] }],
    [
      "an array of others has one",
      { a: { type: "array", items: objectOf({ b: text }) } },
      "One. Two.",
      { a: [{ b: "One." }] },
    ],
    [
      "an empty text gives names and zeros",
      { name: text, a: number, b: boolean },
      "",
      { name: "name", a: 0, b: false },
    ],
  ];

test.each(samples)("%s", (_why, properties, from, sample) => {
  expect(sampleValue(objectOf(properties), from)).toEqual(sample);
});

test("recursion ends with an empty array or null", () => {
  const tree = objectOf({ children: { type: "array", items: refTo("tree") } });
  const chain = objectOf({ next: { anyOf: [refTo("chain"), { type: "null" }] } });
  const sample = sampleValue(
    { ...objectOf({ tree: refTo("tree"), chain: refTo("chain") }), $defs: { tree, chain } },
    "x",
  );
  expect(sample).toEqual({
    tree: { children: [{ children: [{ children: [] }] }] },
    chain: { next: { next: { next: { next: null } } } },
  });
});

test("a sample of a schema that fans out is not much longer than its zero value", () => {
  const wide = (items: JsonObject): JsonObject =>
    objectOf(Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`p${index}`, items])));
  const $defs = {
    a: wide({ anyOf: [refTo("b"), { type: "null" }] }),
    b: wide({ type: "array", items: refTo("a") }),
  };
  expect(
    JSON.stringify(sampleValue({ ...wide({ anyOf: [refTo("a"), { type: "null" }] }), $defs }, "x")).length,
  ).toBeLessThan(20_000);
});
