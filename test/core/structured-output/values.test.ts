import fc from "fast-check";
import { expect, test } from "vitest";
import type { Json, JsonObject } from "../../../src/core/json.ts";
import { conforms } from "../../../src/core/structured-output/structured-output.ts";
import { zeroValue } from "../../../src/core/structured-output/zero.ts";
import { sampleValue } from "../../../src/runtime/agents/offline/sample.ts";
import { acceptedSchemas, changed, judgeOf, refusalOf, tangledSchemas } from "./schemas.ts";

const texts = fc.oneof(
  fc.string(),
  fc.constantFrom(
    "",
    "Total: 7. City = Paris\nIt is open. Three of 12, at -3.5 each",
    "total: 1".repeat(2_000),
  ),
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
      const judge = judgeOf(schema);
      const [zero, sample] = [zeroValue(schema), sampleValue(schema, text)];
      expect([zero, judge(zero)]).toEqual([zero, true]);
      expect([sample, judge(sample)]).toEqual([sample, true]);
      expect([conforms(schema, zero), conforms(schema, sample)]).toEqual([true, true]);
      expect(sampleValue(structuredClone(schema), text)).toEqual(sample);
    }),
    { numRuns: 150 },
  );
});

test("values conform exactly if the judge accepts them", () => {
  const cases = fc
    .oneof(acceptedSchemas, tangledSchemas)
    .filter((schema) => refusalOf(schema) === undefined)
    .chain((schema) =>
      fc.tuple(
        fc.constant<JsonObject>(schema),
        fc.oneof(
          changed(zeroValue(schema)),
          changed(sampleValue(schema, "a: 1. b")),
          fc.jsonValue() as fc.Arbitrary<Json>,
        ),
      ),
    );
  const verdictCounts = { true: 0, false: 0 };
  fc.assert(
    fc.property(cases, ([schema, value]) => {
      const verdict = conforms(schema, value);
      verdictCounts[`${verdict}`] += 1;
      expect(verdict).toBe(judgeOf(schema)(value));
    }),
    { numRuns: 150 },
  );
  expect(Math.min(verdictCounts.true, verdictCounts.false)).toBeGreaterThan(10);
});
