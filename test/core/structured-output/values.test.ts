import fc from "fast-check";
import { expect, test } from "vitest";
import type { Json, JsonObject } from "../../../src/core/json.ts";
import { conforms } from "../../../src/core/structured-output/conforms.ts";
import { sampleValue } from "../../../src/core/structured-output/sample.ts";
import { zeroValue } from "../../../src/core/structured-output/zero.ts";
import { acceptedSchemas, bent, judgeOf, refusalOf, tangledSchemas } from "./schemas.ts";

const texts = fc.oneof(
  fc.string(),
  fc.constantFrom("", "Total: 7. City = Paris\nIt is open. Three of 12, at -3.5 each", "total: 1".repeat(2_000)),
);

test("every schema of the subset is accepted", () => {
  fc.assert(
    fc.property(acceptedSchemas, (schema) => {
      expect(refusalOf(schema)).toBeUndefined();
    }),
    { numRuns: 150 },
  );
});

test("zero value and sample of every accepted schema conform to it", () => {
  fc.assert(
    fc.property(fc.oneof(acceptedSchemas, tangledSchemas), texts, (schema, text) => {
      fc.pre(refusalOf(schema) === undefined);
      const isSound = judgeOf(schema);
      const [zero, sample] = [zeroValue(schema), sampleValue(schema, text)];
      expect([zero, isSound(zero)]).toEqual([zero, true]);
      expect([sample, isSound(sample)]).toEqual([sample, true]);
      expect([conforms(schema, zero), conforms(schema, sample)]).toEqual([true, true]);
      expect(sampleValue(structuredClone(schema), text)).toEqual(sample);
    }),
    { numRuns: 150 },
  );
});

test("values conform exactly when the judge says so", () => {
  const cases = fc
    .oneof(acceptedSchemas, tangledSchemas)
    .filter((schema) => refusalOf(schema) === undefined)
    .chain((schema) =>
      fc.tuple(
        fc.constant<JsonObject>(schema),
        fc.oneof(bent(zeroValue(schema)), bent(sampleValue(schema, "a: 1. b")), fc.jsonValue() as fc.Arbitrary<Json>),
      ),
    );
  const seen = { true: 0, false: 0 };
  fc.assert(
    fc.property(cases, ([schema, value]) => {
      const verdict = conforms(schema, value);
      seen[`${verdict}`] += 1;
      expect(verdict).toBe(judgeOf(schema)(value));
    }),
    { numRuns: 150 },
  );
  expect(Math.min(seen.true, seen.false)).toBeGreaterThan(10);
});
