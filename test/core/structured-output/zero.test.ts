import { expect, test } from "vitest";
import type { Json, JsonObject } from "../../../src/core/json.ts";
import { zeroValue } from "../../../src/core/structured-output/zero.ts";
import { judgeOf, objectOf, refTo, refusalOf } from "./schemas.ts";

const text: JsonObject = { type: "string" };
const nothing: JsonObject = { type: "null" };
const list: JsonObject = { type: "array", items: text };

/** Definitions that the schemas below refer to. */
const $defs: JsonObject = {
  text,
  optional: { type: ["string", "null"] },
  tree: objectOf({ name: text, children: { type: "array", items: refTo("tree") } }),
  chain: objectOf({ next: { anyOf: [refTo("chain"), nothing] } }),
  chainByType: { ...objectOf({ next: refTo("chainByType") }), type: ["object", "null"] },
  expression: objectOf({ left: { anyOf: [refTo("expression"), { type: "integer" }] } }),
  ping: objectOf({ pong: { anyOf: [refTo("pong"), text] } }),
  pong: objectOf({ ping: { anyOf: [refTo("ping"), text] } }),
};

const zeros: readonly (readonly [why: string, schema: JsonObject, zero: Json])[] = [
  ["text is empty", text, ""],
  ["a number is 0", { type: "number" }, 0],
  ["an integer is 0", { type: "integer" }, 0],
  ["a boolean is false", { type: "boolean" }, false],
  ["null is null", nothing, null],
  ["an array has no items", list, []],
  [
    "an object has all its properties",
    objectOf({ a: text, b: objectOf({ c: list }) }),
    { a: "", b: { c: [] } },
  ],
  ["an object without properties is empty", objectOf({}), {}],
  ["an enum is its first entry", { type: "string", enum: ["b", "a"] }, "b"],
  ["a nullable type is null", { type: ["string", "null"] }, null],
  ["a nullable array is null", { ...list, type: ["null", "array"] }, null],
  ["a nullable object is null", { ...objectOf({ a: text }), type: ["object", "null"] }, null],
  ["a nullable enum is null", { type: ["string", "null"], enum: ["a", null] }, null],
  ["an enum that leaves null out is its first entry", { type: ["string", "null"], enum: ["a"] }, "a"],
  ["of several types the first counts", { ...objectOf({ a: text }), type: ["object", "string"] }, { a: "" }],
  ["of several types the first counts, also a scalar", { type: ["boolean", "string"] }, false],
  ["anyOf with null is null", { anyOf: [text, nothing] }, null],
  [
    "anyOf with a nullable type is null",
    { anyOf: [{ type: "integer" }, { anyOf: [{ type: ["string", "null"] }] }] },
    null,
  ],
  ["anyOf is its first branch", { anyOf: [objectOf({ a: objectOf({ b: text }) }), text] }, { a: { b: "" } }],
  ["a reference is what it refers to", refTo("text"), ""],
  ["a reference to what may be null is null", refTo("optional"), null],
  ["recursion through an array ends there", refTo("tree"), { name: "", children: [] }],
  ["recursion through null ends there", refTo("chain"), { next: null }],
  ["recursion through a nullable type ends there", refTo("chainByType"), null],
  ["recursion with an alternative ends with it", refTo("expression"), { left: 0 }],
  [
    "so does recursion in turns",
    objectOf({ a: refTo("ping"), b: refTo("pong") }),
    { a: { pong: "" }, b: { ping: "" } },
  ],
];

test.each(zeros)("%s", (_why, schema, zero) => {
  const whole = { ...objectOf({ x: schema }), $defs };
  expect(refusalOf(whole)).toBeUndefined();
  expect(zeroValue(whole)).toEqual({ x: zero });
  expect(judgeOf(whole)({ x: zero })).toBe(true);
});

test("a part that is used in two places occurs twice", () => {
  const zero = zeroValue({ ...objectOf({ a: refTo("tree"), b: refTo("tree") }), $defs });
  expect(zero["a"]).toEqual(zero["b"]);
  expect(zero["a"]).not.toBe(zero["b"]);
});
