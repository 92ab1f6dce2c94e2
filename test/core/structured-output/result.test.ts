import { expect, test } from "vitest";
import type { Json } from "../../../src/core/json.ts";
import { structuredResult } from "../../../src/core/structured-output/structured-output.ts";
import { objectOf } from "./schemas.ts";

const schema = objectOf({ total: { type: "integer" }, note: { type: ["string", "null"] } });
const zero = { total: 0, note: null };

test("a conforming value is the result", () => {
  expect(structuredResult(schema, { total: 7, note: "n" })).toEqual({
    success: true,
    value: { total: 7, note: "n" },
  });
});

test("without a value the result is the zero value", () => {
  expect(structuredResult(schema, undefined)).toEqual({
    success: false,
    value: zero,
    error: "Failed to extract structured output",
  });
});

const nonConforming: readonly Json[] = [
  null,
  "7",
  [],
  {},
  { total: 7 },
  { total: 7.5, note: null },
  { total: 7, note: null, more: 1 },
];
test.each(nonConforming)("the zero value replaces the non-conforming value %j", (value) => {
  const error = "Extracted value does not conform to the provided schema";
  expect(structuredResult(schema, value)).toEqual({ success: false, value: zero, error });
});
