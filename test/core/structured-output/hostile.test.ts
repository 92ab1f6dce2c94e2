import fc from "fast-check";
import { expect, test } from "vitest";
import type { Json, JsonObject } from "../../../src/core/json.ts";
import { conforms } from "../../../src/core/structured-output/structured-output.ts";
import { zeroValue } from "../../../src/core/structured-output/zero.ts";
import { sampleValue } from "../../../src/runtime/agents/offline/sample.ts";
import { objectOf, refTo, refusalOf } from "./schemas.ts";

const text: JsonObject = { type: "string" };
const many = (count: number, schema: (index: number) => Json): JsonObject =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`d${index}`, schema(index)]));
const notSchema = (path: string) => `structured_output_schema: ${path}: not a valid JSON Schema`;

const cycles: readonly (readonly [why: string, $defs: JsonObject, path: string])[] = [
  ["itself", { d0: refTo("d0") }, ".$defs.d0"],
  ["each other", { d0: refTo("d1"), d1: refTo("d0") }, ".$defs.d0"],
  ["a ring", many(200, (index) => refTo(`d${(index + 1) % 200}`)), ".$defs.d0"],
  ["itself by anyOf", { d0: { anyOf: [{ type: "null" }, refTo("d0")] } }, ".$defs.d0.anyOf.1"],
];
test.each(cycles)("references that only lead to %s are not a valid schema", (_why, $defs, path) => {
  expect(refusalOf({ ...objectOf({ x: refTo("d0") }), $defs })).toBe(notSchema(path));
});

test("a schema has at most 1000 schemas, 64 kB, 64 levels, and a zero value of 64 kB", () => {
  const wide = (count: number) => objectOf(many(count, () => ({ type: "null" })));
  expect(refusalOf(wide(999))).toBeUndefined();
  expect(refusalOf(wide(1_000))).toBe("structured_output_schema: must have at most 1000 schemas");

  const long = (length: number) => ({ ...objectOf({}), description: "d".repeat(length) });
  expect(refusalOf(long(65_000))).toBeUndefined();
  expect(refusalOf(long(65_536))).toBe("structured_output_schema: must be at most 64 kB");
  expect(refusalOf({ ...objectOf({}), required: new Array(70_000).fill("a") })).toBe(
    "structured_output_schema: must be at most 64 kB",
  );

  const deep = (levels: number): JsonObject => {
    let schema = text;
    for (let level = 0; level < levels; level += 1) schema = { anyOf: [schema] };
    return objectOf({ x: schema });
  };
  expect(refusalOf(deep(30))).toBeUndefined();
  expect(refusalOf(deep(32))).toBe("structured_output_schema: must not be nested more than 64 levels deep");
  expect(refusalOf(deep(100_000))).toBe(
    "structured_output_schema: must not be nested more than 64 levels deep",
  );

  const fan = (count: number) => ({
    ...objectOf(many(count, () => refTo("d0"))),
    $defs: many(3, (index) => objectOf(many(count, () => (index === 2 ? text : refTo(`d${index + 1}`))))),
  });
  expect(refusalOf(fan(8))).toBeUndefined();
  expect(refusalOf(fan(100))).toBe("structured_output_schema: must have a zero value of at most 64 kB");
});

test("__proto__ is refused as a name, and nothing is read from it", () => {
  const schema = objectOf({ x: text });
  expect(
    refusalOf(
      JSON.parse(
        '{"type":"object","properties":{"__proto__":{"type":"string"}},"required":["__proto__"],"additionalProperties":false}',
      ),
    ),
  ).toBe(notSchema(".__proto__"));
  expect(refusalOf({ ...schema, $defs: JSON.parse('{"__proto__":{"type":"string"}}') })).toBe(
    notSchema(".$defs.__proto__"),
  );
  expect(refusalOf(JSON.parse('{"__proto__":{"type":"object"}}'))).toBe(
    'structured_output_schema: unsupported keyword "__proto__"',
  );
  expect(conforms(schema, JSON.parse('{"x":"","__proto__":{}}'))).toBe(false);
  expect(conforms(schema, JSON.parse('{"__proto__":{"x":""}}'))).toBe(false);
  expect({}).not.toHaveProperty("x");
});

test("properties inherited by every object are not properties of a value", () => {
  const schema = objectOf({ toString: text, constructor: { type: ["string", "null"] } });
  expect(conforms(schema, {})).toBe(false);
  expect(conforms(schema, { toString: "", constructor: null })).toBe(true);
});

test("a property whose name is empty is required too", () => {
  expect([conforms(objectOf({ "": text }), {}), conforms(objectOf({ "": text }), { "": "" })]).toEqual([
    false,
    true,
  ]);
});

test("nested alternatives are each compared with a value once", () => {
  const doubled = (index: number) => ({ anyOf: [refTo(`d${index + 1}`), refTo(`d${index + 1}`)] });
  const schema = {
    ...objectOf({ x: refTo("d0") }),
    $defs: many(200, (index) => (index === 199 ? text : doubled(index))),
  };
  expect(refusalOf(schema)).toBeUndefined();
  expect([conforms(schema, { x: "a" }), conforms(schema, { x: 1 })]).toEqual([true, false]);
  expect([zeroValue(schema), sampleValue(schema, "Yes.")]).toEqual([{ x: "" }, { x: "Yes." }]);
});

/**
 * Two identical definitions as alternatives, nested this many levels deep, with a value that neither accepts.
 */
function ambiguous(levels: number): { readonly schema: JsonObject; readonly value: JsonObject } {
  const part = objectOf({ x: { anyOf: [refTo("d0"), refTo("d1"), { type: "null" }] } });
  let value: JsonObject = { x: 1 };
  for (let level = 1; level < levels; level += 1) value = { x: value };
  return { schema: { ...part, $defs: { d0: part, d1: part } }, value };
}

test("a deep value of an ambiguous recursive schema is compared in time", () => {
  const { schema, value } = ambiguous(90);
  expect(refusalOf(schema)).toBeUndefined();
  expect(conforms(schema, value)).toBe(false);
});

test("a value too deep for the stack does not conform", () => {
  const { schema, value } = ambiguous(100_000);
  expect(conforms(schema, value)).toBe(false);
  expect(conforms(schema, { x: null })).toBe(true);
});

/** Keywords with values that are valid, invalid, or valid elsewhere. */
const anyKeywords: fc.Arbitrary<JsonObject> = fc.letrec<{ schema: JsonObject; value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom<Json>(
      "object",
      "string",
      "array",
      ["string", "null"],
      ["x"],
      false,
      true,
      null,
      "#/$defs/x",
      "#/$defs/__proto__",
      0,
      [],
      {},
    ),
    tie("schema"),
    fc.array(tie("schema"), { maxLength: 2 }),
    fc.dictionary(fc.constantFrom("x", "", "constructor", "type"), tie("schema"), {
      maxKeys: 2,
      noNullPrototype: true,
    }) as fc.Arbitrary<JsonObject>,
  ),
  schema: fc
    .array(
      fc.tuple(
        fc.constantFrom(
          "type",
          "properties",
          "required",
          "additionalProperties",
          "items",
          "enum",
          "anyOf",
          "$ref",
          "$defs",
          "description",
        ),
        tie("value"),
      ),
      { maxLength: 5 },
    )
    .map((members) => Object.fromEntries(members)),
})).schema;

test("any schema is refused or has a zero value that conforms", () => {
  const objectLike = anyKeywords.map((schema) => ({
    type: "object",
    additionalProperties: false,
    required: ["x"],
    ...schema,
  }));
  fc.assert(
    fc.property(
      fc.oneof(
        anyKeywords,
        objectLike,
        fc.jsonValue().map((value) => ({ value }) as JsonObject),
      ),
      (schema) => {
        const refusal = refusalOf(schema);
        if (refusal === undefined) expect(conforms(schema, zeroValue(schema))).toBe(true);
        else expect(refusal).toMatch(/^structured_output_schema: \S/);
      },
    ),
    { numRuns: 1_000 },
  );
});
