import { Ajv, type ValidateFunction } from "ajv";
import fc from "fast-check";
import { Failure } from "../../../src/core/failure.ts";
import type { Json, JsonObject } from "../../../src/core/json.ts";
import { checkSchema } from "../../../src/core/structured-output/schema.ts";

/** An object of these properties, as the subset wants it. */
export const objectOf = (properties: JsonObject): JsonObject => ({
  type: "object",
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});

export const refTo = (name: string): JsonObject => ({
  $ref: `#/$defs/${encodeURIComponent(name.replaceAll("~", "~0").replaceAll("/", "~1"))}`,
});

/** An independent judge of values: Ajv as it comes, with its own reading of references. */
export const judgeOf = (schema: JsonObject): ValidateFunction =>
  new Ajv({ strict: false, ownProperties: true, logger: false }).compile(schema);

/** The public text of the refusal, undefined when there is none; anything thrown but a refusal fails the test. */
export function refusalOf(schema: JsonObject): string | undefined {
  try {
    checkSchema(schema);
    return undefined;
  } catch (thrown) {
    if (thrown instanceof Failure && thrown.reason === "invalid") return thrown.message;
    throw thrown;
  }
}

/** Names that programs like to take for something else. */
const names = fc.constantFrom(
  ..."a b total isOpen unit_price constructor toString hasOwnProperty $ref $id $defs type enum items required".split(" "),
  ...["", "x y", "a.b", "a/b", "a~b", "~1", "%25", "100%", "ä", "日本", "😀", "'\"\\", "#"],
);

/** Names of definitions: those that Ajv, as a judge, can resolve by itself; `$id` it cannot. */
const definitionNames = names.filter((name) => name !== "$id");

const scalarTypes = fc.constantFrom("string", "number", "integer", "boolean");
const described = (schemas: fc.Arbitrary<JsonObject>) =>
  fc.tuple(schemas, fc.boolean()).map(([schema, isDescribed]) => (isDescribed ? { description: "What it is.", ...schema } : schema));

const scalars: fc.Arbitrary<JsonObject> = fc.oneof(
  fc.constantFrom("string", "number", "integer", "boolean", "null").map((type) => ({ type })),
  fc
    .tuple(fc.uniqueArray(scalarTypes, { minLength: 1 }), fc.boolean())
    .map(([types, isNullable]) => ({ type: isNullable ? [...types, "null"] : types })),
  fc.uniqueArray(fc.string(), { minLength: 1 }).map((entries) => ({ type: "string", enum: entries })),
  fc.uniqueArray(fc.integer(), { minLength: 1 }).map((entries) => ({ type: ["integer", "null"], enum: [...entries, null] })),
);

/** Schemas whose objects and arrays nest at most so many levels; the others may stand where there is a level left. */
function nested(levels: number, leaves: fc.Arbitrary<JsonObject>): fc.Arbitrary<JsonObject> {
  if (levels === 0) return described(leaves);
  const parts = nested(levels - 1, leaves);
  return described(
    fc.oneof(
      { weight: 2, arbitrary: leaves },
      { weight: 2, arbitrary: fc.dictionary(names, parts, { maxKeys: 4, noNullPrototype: true }).map(objectOf) },
      fc.tuple(parts, fc.boolean()).map(([items, isNullable]) => ({ type: isNullable ? ["array", "null"] : "array", items })),
      fc.tuple(objects(parts), parts).map(([object, items]) => ({ ...object, type: ["object", "array", "string"], items })),
      fc.array(nested(levels - 1, leaves), { minLength: 1, maxLength: 3 }).map((anyOf) => ({ anyOf })),
      parts.map((schema) => ({ anyOf: [schema, { type: "null" }] })),
    ),
  );
}

const objects = (parts: fc.Arbitrary<JsonObject>): fc.Arbitrary<JsonObject> =>
  fc.dictionary(names, parts, { maxKeys: 4, noNullPrototype: true }).map(objectOf);

/** A definition that leads back to itself, through an array, or through what may be null or else. */
const recursive = (name: string): fc.Arbitrary<JsonObject> =>
  objects(
    fc.oneof(
      scalars,
      fc.constantFrom<JsonObject>(
        { type: "array", items: refTo(name) },
        { anyOf: [refTo(name), { type: "null" }] },
        { anyOf: [refTo(name), { type: "string" }] },
      ),
    ),
  );

/** Any schema that the subset accepts: every type, lists of types, enums, `anyOf`, references, recursion. */
export const acceptedSchemas: fc.Arbitrary<JsonObject> = fc
  .uniqueArray(definitionNames, { minLength: 2, maxLength: 2 })
  .chain(([flat = "", looped = ""]) => {
    // A definition takes up to two levels; whatever refers to it leaves it so many.
    const definitions = fc.record({ [flat]: nested(2, scalars), [looped]: recursive(looped) }, { noNullPrototype: true });
    const leaves = fc.oneof({ weight: 3, arbitrary: scalars }, fc.constantFrom(refTo(flat), refTo(looped)));
    return fc.tuple(objects(nested(2, leaves)), definitions).map(([root, $defs]) => ({ ...root, $defs }));
  });

/** Schemas with references anywhere: many are refused, some are accepted for subtle reasons. */
export const tangledSchemas: fc.Arbitrary<JsonObject> = fc.uniqueArray(definitionNames, { minLength: 1, maxLength: 3 }).chain((defined) => {
  const leaves = fc.oneof(scalars, fc.constantFrom(...defined.map(refTo)));
  const definitions = fc.record(Object.fromEntries(defined.map((name) => [name, nested(1, leaves)])), { noNullPrototype: true });
  return fc.tuple(objects(nested(1, leaves)), definitions).map(([root, $defs]) => ({ ...root, $defs }));
});

/** Values that a schema may or may not have: some others', bent at one place. */
export const bent = (value: Json): fc.Arbitrary<Json> =>
  fc.oneof(
    fc.constant(value),
    fc.constantFrom<Json>(null, "", 1.5, false, [], {}),
    ...(Array.isArray(value) ? [bentItems(value)] : value !== null && typeof value === "object" ? [bentMembers(value)] : []),
  );

const bentItems = (items: Json[]): fc.Arbitrary<Json> =>
  fc.tuple(...items.map(bent)).chain((bentItems) => fc.constantFrom(bentItems, [...bentItems, "more"], []));

const bentMembers = (members: JsonObject): fc.Arbitrary<Json> =>
  fc
    .tuple(
      fc.record(Object.fromEntries(Object.entries(members).map(([name, value]) => [name, bent(value)])), { noNullPrototype: true }),
      names,
      fc.boolean(),
    )
    .map(([record, name, isAdded]) => (isAdded ? { ...record, [name]: "more" } : record));
