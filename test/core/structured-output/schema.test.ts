import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/json.ts";
import { checkSchema } from "../../../src/core/structured-output/structured-output.ts";
import { acceptedSchemas, objectOf, refTo, refusalOf, subschemas, tangledSchemas } from "./schemas.ts";

const text: JsonObject = { type: "string" };
const nothing: JsonObject = { type: "null" };

/** A schema with this schema as its property `x`. */
const withX = (x: JsonObject): JsonObject => objectOf({ x });

const notSchema = "not a valid JSON Schema";
const notCombined = (keyword: string, other: string) => `"${keyword}" must not be combined with "${other}"`;
const tooDeep = "must not nest objects and arrays more than 5 levels deep";

/** This many nested objects around a string. */
const objectsDeep = (levels: number): JsonObject => (levels === 0 ? text : withX(objectsDeep(levels - 1)));
const arraysDeep = (levels: number): JsonObject =>
  levels === 0 ? text : { type: "array", items: arraysDeep(levels - 1) };

describe("a schema is refused with the path and the rule it breaks", () => {
  const { additionalProperties: _, ...open } = withX(text);
  const refusedSchemas: readonly (readonly [why: string, schema: JsonObject, message: string])[] = [
    ["an unknown keyword at the root", { ...withX(text), nullable: true }, 'unsupported keyword "nullable"'],
    [
      "a keyword of JSON Schema outside the subset",
      withX({ ...text, pattern: "a" }),
      '.x: unsupported keyword "pattern"',
    ],
    [
      "one inside an array",
      withX({ type: "array", items: { ...text, format: "date" } }),
      '.x.items: unsupported keyword "format"',
    ],
    [
      "one inside anyOf",
      withX({ anyOf: [text, { ...nothing, not: {} }] }),
      '.x.anyOf.1: unsupported keyword "not"',
    ],
    [
      "one inside a definition",
      { ...withX(text), $defs: { n: { ...text, if: {} } } },
      '.$defs.n: unsupported keyword "if"',
    ],
    ["one in a nested object", withX(withX({ ...text, const: 1 })), '.x.x: unsupported keyword "const"'],
    ["a keyword with quotes in it", { ...withX(text), 'a"b': 1 }, 'unsupported keyword "a\\"b"'],
    [
      "a very long keyword",
      { ...withX(text), ["k".repeat(500)]: 1 },
      `unsupported keyword "${"k".repeat(64)}…"`,
    ],
    [
      "an error below a very long name",
      objectOf({ ["n".repeat(500)]: {} }),
      `.${"n".repeat(64)}…: must have a "type" field`,
    ],
    ["an object without additionalProperties", open, '"additionalProperties" must be set to false'],
    [
      "an object open for other properties",
      { ...withX(text), additionalProperties: true },
      '"additionalProperties" must be set to false',
    ],
    [
      "properties by schema",
      { ...withX(text), additionalProperties: text },
      '"additionalProperties" must be set to false',
    ],
    [
      "an open nullable object",
      withX({ type: ["object", "null"] }),
      '.x: "additionalProperties" must be set to false',
    ],
    ["an optional property", { ...withX(text), required: [] }, '"required" must include all properties'],
    [
      "an object without required",
      withX({ ...withX(text), required: ["y"] }),
      '.x: "required" must include all properties',
    ],
    [
      "a required unknown property",
      { ...withX(text), required: ["x", "y"] },
      '"required" must include only properties',
    ],
    [
      "a required inherited name",
      { ...withX(text), required: ["x", "toString"] },
      '"required" must include only properties',
    ],
    ["an empty schema", {}, 'must have a "type" field'],
    ["a property without type", withX({}), '.x: must have a "type" field'],
    ["an enum without type", withX({ enum: ["a"] }), '.x: must have a "type" field'],
    ["a root of anyOf", { anyOf: [withX(text)] }, 'must have a "type" field'],
    ["a root reference", { ...refTo("n"), $defs: { n: withX(text) } }, 'must have a "type" field'],
    ["a root that is a list", { type: "array", items: text }, '"type" must be "object"'],
    ["a nullable root", { ...withX(text), type: ["object", "null"] }, '"type" must be "object"'],
    ["an array of anything", withX({ type: "array" }), '.x: must have an "items" field'],
    ["a nullable array of anything", withX({ type: ["null", "array"] }), '.x: must have an "items" field'],
    ["an unknown type", withX({ type: "date" }), `.x: ${notSchema}`],
    ["an inherited name as type", withX({ type: "toString" }), `.x: ${notSchema}`],
    ["no type", withX({ type: [] }), `.x: ${notSchema}`],
    ["an unknown type among others", withX({ type: ["string", "date"] }), `.x: ${notSchema}`],
    ["a type twice", withX({ type: ["string", "null", "string"] }), `.x: ${notSchema}`],
    ["a type that is a number", withX({ type: 3 }), `.x: ${notSchema}`],
    ["a type that is null", withX({ type: null }), `.x: ${notSchema}`],
    ["a property that is not a schema", objectOf({ x: true }), `.x: ${notSchema}`],
    [
      "properties that are a list",
      { type: "object", properties: [], required: [], additionalProperties: false },
      notSchema,
    ],
    [
      "properties that are null",
      { type: "object", properties: null, required: [], additionalProperties: false },
      notSchema,
    ],
    ["required that is a string", { ...withX(text), required: "x" }, notSchema],
    ["required with a number", { ...withX(text), required: ["x", 1] }, notSchema],
    ["required twice", { ...withX(text), required: ["x", "x"] }, notSchema],
    ["items that are a list", withX({ type: "array", items: [text] }), `.x.items: ${notSchema}`],
    ["a description that is a number", withX({ ...text, description: 1 }), `.x: ${notSchema}`],
    ["definitions that are a list", { ...withX(text), $defs: [] }, notSchema],
    ["a definition that is not a schema", { ...withX(text), $defs: { n: false } }, `.$defs.n: ${notSchema}`],
    ["an enum without entries", withX({ ...text, enum: [] }), `.x: ${notSchema}`],
    ["an enum that is a string", withX({ ...text, enum: "a" }), `.x: ${notSchema}`],
    ["an entry twice", withX({ ...text, enum: ["a", "b", "a"] }), `.x: ${notSchema}`],
    ["an entry of another type", withX({ ...text, enum: ["a", 1] }), `.x: ${notSchema}`],
    ["a fraction among integers", withX({ type: "integer", enum: [1, 1.5] }), `.x: ${notSchema}`],
    ["null where it may not be", withX({ ...text, enum: ["a", null] }), `.x: ${notSchema}`],
    [
      "an entry that is a list",
      withX({ type: "array", items: text, enum: [["a"]] }),
      '.x: "enum" must not hold objects or arrays',
    ],
    ["anyOf without branches", withX({ anyOf: [] }), `.x: ${notSchema}`],
    ["anyOf that is an object", withX({ anyOf: text }), `.x: ${notSchema}`],
    ["a branch that is not a schema", withX({ anyOf: [text, null] }), `.x.anyOf.1: ${notSchema}`],
    ["anyOf narrowed by a type", withX({ ...text, anyOf: [text] }), `.x: ${notCombined("anyOf", "type")}`],
    [
      "a reference narrowed by a type",
      { ...withX({ ...refTo("n"), ...text }), $defs: { n: text } },
      `.x: ${notCombined("$ref", "type")}`,
    ],
    [
      "a reference combined with anyOf",
      { ...withX({ ...refTo("n"), anyOf: [text] }), $defs: { n: text } },
      `.x: ${notCombined("$ref", "anyOf")}`,
    ],
    ["objects nested too deeply", objectsDeep(6), `.x.x.x.x.x: ${tooDeep}`],
    ["arrays nested too deeply", withX(arraysDeep(5)), `.x.items.items.items.items: ${tooDeep}`],
    [
      "depth in one of many branches",
      withX({ anyOf: [nothing, objectsDeep(5)] }),
      `.x.anyOf.1.x.x.x.x: ${tooDeep}`,
    ],
    [
      "depth by reference",
      { ...withX(withX(refTo("n"))), $defs: { n: arraysDeep(4) } },
      `.$defs.n.items.items.items: ${tooDeep}`,
    ],
    [
      "depth of an unused definition",
      { ...withX(text), $defs: { n: objectsDeep(6) } },
      `.$defs.n.x.x.x.x.x: ${tooDeep}`,
    ],
    [
      "an object that holds itself",
      { ...withX(refTo("n")), $defs: { n: withX(refTo("n")) } },
      `.$defs.n.x: ${notSchema}`,
    ],
    [
      "two objects that hold each other",
      { ...withX(refTo("n")), $defs: { n: withX(refTo("m")), m: objectOf({ y: refTo("n") }) } },
      `.$defs.n.x: ${notSchema}`,
    ],
    [
      "branches that all hold it",
      { ...withX(refTo("n")), $defs: { n: withX({ anyOf: [refTo("n"), withX(refTo("n"))] }) } },
      `.$defs.n.x.anyOf.0: ${notSchema}`,
    ],
  ];

  test.each(refusedSchemas)("%s", (_why, schema, message) => {
    expect(refusalOf(schema)).toBe(`structured_output_schema: ${message}`);
  });

  const strayReferences = [
    ...[
      "",
      "#",
      "#/",
      "n",
      "#n",
      "#/$defs",
      "#/$defs/",
      "#/$defs/m",
      "#/$defs/toString",
      "#/$defs/n/",
      "#/$defs/n/properties/x",
    ],
    ...[
      "#/definitions/n",
      "#/properties/x",
      "/$defs/n",
      "https://example.net/#/$defs/n",
      "#/$defs/%6",
      "#/$defs/~2",
      "#/$defs/n~",
      1,
      null,
      {},
    ],
  ];
  test.each(strayReferences)("a reference to %j", (reference) => {
    const schema = { ...withX({ $ref: reference }), $defs: { n: text, "~2": text, "n~": text, "%6": text } };
    expect(refusalOf(schema)).toBe(`structured_output_schema: .x: ${notSchema}`);
  });
});

describe("a schema is accepted", () => {
  const accepted: readonly (readonly [why: string, schema: JsonObject])[] = [
    ["without properties", { type: "object", additionalProperties: false }],
    ["with descriptions everywhere", { ...withX({ ...text, description: "D" }), description: "D" }],
    ["with five levels of objects", objectsDeep(5)],
    ["with five levels of objects and arrays", withX(arraysDeep(4))],
    ["with five levels by reference", { ...withX(withX(refTo("n"))), $defs: { n: arraysDeep(3) } }],
    ["with nullable types", withX({ type: ["string", "null"] })],
    ["with several types", withX({ ...withX(text), type: ["object", "array", "integer"], items: text })],
    ["with whole numbers among integers", withX({ type: "integer", enum: [1, 2.0, -3] })],
    [
      "with a reference and a description",
      { ...withX({ ...refTo("n"), description: "D" }), $defs: { n: text } },
    ],
    [
      "recursive through an array",
      { ...withX(refTo("n")), $defs: { n: withX({ type: "array", items: refTo("n") }) } },
    ],
    [
      "recursive through null",
      { ...withX(refTo("n")), $defs: { n: withX({ anyOf: [refTo("n"), nothing] }) } },
    ],
    [
      "recursive through a nullable type",
      { ...withX(refTo("n")), $defs: { n: { ...withX(refTo("n")), type: ["object", "null"] } } },
    ],
    [
      "recursive with an alternative",
      { ...withX(refTo("n")), $defs: { n: withX({ anyOf: [refTo("n"), text] }) } },
    ],
    ["with unused definitions", { ...withX({ ...text, $defs: { m: text } }), $defs: { n: text } }],
    ["with keywords that its types ignore", withX({ ...text, items: text, properties: { y: text } })],
  ];
  test.each(accepted)("%s", (_why, schema) => {
    expect(refusalOf(schema)).toBeUndefined();
  });

  test.each(["$id", "~0", "a~1b", "%41", "", "toString", "ä ö"])("with a definition named %j", (name) => {
    expect(refusalOf({ ...withX(refTo(name)), $defs: { [name]: text } })).toBeUndefined();
  });
});

/** A copy without shared parts, as if received from the wire. */
const unshared = (schema: JsonObject): JsonObject => JSON.parse(JSON.stringify(schema));

const forbidden: readonly (readonly [keyword: string, value: JsonObject[string]])[] = [
  ...["pattern", "format", "$anchor", "contentEncoding"].map((keyword) => [keyword, "a"] as const),
  ...["minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"].map(
    (keyword) => [keyword, 1] as const,
  ),
  ...["multipleOf", "minItems", "maxItems", "minProperties", "maxProperties"].map(
    (keyword) => [keyword, 1] as const,
  ),
  ...["uniqueItems", "deprecated", "nullable", "readOnly", "const"].map(
    (keyword) => [keyword, true] as const,
  ),
  ...["allOf", "oneOf", "prefixItems"].map((keyword) => [keyword, [{ type: "string" }]] as const),
  ...["not", "if", "then", "else", "contains", "propertyNames", "patternProperties", "definitions"].map(
    (keyword) => [keyword, {}] as const,
  ),
];

test("a forbidden keyword anywhere in an accepted schema is refused with its path", () => {
  const cases = fc.tuple(fc.oneof(acceptedSchemas, tangledSchemas), fc.nat(), fc.constantFrom(...forbidden));
  fc.assert(
    fc.property(cases, ([schema, at, [keyword, value]]) => {
      const copy = unshared(schema);
      const parts = subschemas(copy);
      const chosen = parts[at % parts.length];
      if (!chosen) return;
      chosen.subschema[keyword] = value;
      const { path } = chosen;
      expect(refusalOf(copy)).toBe(
        `structured_output_schema: ${path}${path && ": "}unsupported keyword "${keyword}"`,
      );
    }),
    { numRuns: 200 },
  );
});

const annotations = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  $id: "x",
  title: "T",
  default: {},
  examples: [{}],
};

test("annotations anywhere in an accepted schema are dropped, and a property may have their name", () => {
  fc.assert(
    fc.property(acceptedSchemas, (schema) => {
      const copy = unshared(schema);
      for (const { subschema } of subschemas(copy)) Object.assign(subschema, annotations, { $comment: "C" });
      expect(checkSchema(copy)).toEqual(schema);
    }),
    { numRuns: 100 },
  );
  const named = objectOf({ title: text, default: { type: "array", items: text } });
  expect(checkSchema({ ...named, $defs: { examples: text } })).toEqual({
    ...named,
    $defs: { examples: text },
  });
});

test("each object of an accepted schema must be closed and require all its properties", () => {
  fc.assert(
    fc.property(acceptedSchemas, fc.nat(), fc.boolean(), (schema, at, isOpened) => {
      const copy = unshared(schema);
      const objects = subschemas(copy).filter(
        ({ subschema }) =>
          Array.isArray(subschema["required"]) && (isOpened || subschema["required"].length > 0),
      );
      const chosen = objects[at % objects.length];
      fc.pre(chosen !== undefined);
      Object.assign(chosen.subschema, isOpened ? { additionalProperties: true } : { required: [] });
      const rule = isOpened
        ? '"additionalProperties" must be set to false'
        : '"required" must include all properties';
      expect(refusalOf(copy)).toBe(`structured_output_schema: ${chosen.path}${chosen.path && ": "}${rule}`);
    }),
  );
});
