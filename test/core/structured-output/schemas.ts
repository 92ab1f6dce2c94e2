import { Ajv, type ValidateFunction } from "ajv";
import fc from "fast-check";
import { Failure } from "../../../src/core/failure.ts";
import type { Json, JsonObject } from "../../../src/core/json.ts";
import { checkSchema } from "../../../src/core/structured-output/structured-output.ts";

/** An object with these properties, in the form that the subset requires. */
export const objectOf = (properties: JsonObject): JsonObject => ({
  type: "object",
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});

export const refTo = (name: string): JsonObject => ({
  $ref: `#/$defs/${encodeURIComponent(name.replaceAll("~", "~0").replaceAll("/", "~1"))}`,
});

/**
 * An independent judge of values: Ajv with default reference resolution. Without `allErrors` it accepts an
 * object that lacks a required property whose name is empty.
 */
export const judgeOf = (schema: JsonObject): ValidateFunction =>
  new Ajv({
    strict: false,
    ownProperties: true,
    allErrors: true,
    logger: false,
    code: { optimize: false },
  }).compile(schema);

/** The public text of the refusal, undefined if there is none; any other error fails the test. */
export function refusalOf(schema: JsonObject): string | undefined {
  try {
    checkSchema(schema);
    return undefined;
  } catch (thrown) {
    if (thrown instanceof Failure && thrown.reason === "invalid_argument") return thrown.message;
    throw thrown;
  }
}

/** Names with a special meaning in many programs. */
const names = fc.constantFrom(
  ..."a b total isOpen unit_price constructor toString hasOwnProperty $ref $id $defs type enum items required".split(
    " ",
  ),
  ...["", "x y", "a.b", "a/b", "a~b", "~1", "%25", "100%", "ä", "日本", "😀", "'\"\\", "#"],
);
/** Names of definitions that Ajv can resolve as a judge. With a definition named `$id` it resolves none. */
const definitionNames = names.filter((name) => name !== "$id");

const recordOf = (values: Readonly<Record<string, fc.Arbitrary<Json>>>): fc.Arbitrary<JsonObject> =>
  fc.record(values, { noNullPrototype: true });

const objects = (parts: fc.Arbitrary<JsonObject>): fc.Arbitrary<JsonObject> =>
  fc.dictionary(names, parts, { maxKeys: 4, noNullPrototype: true }).map(objectOf);

const nullType: JsonObject = { type: "null" };
const typeNames = fc.constantFrom("string", "number", "integer", "boolean", "null");

const scalars: fc.Arbitrary<JsonObject> = fc.oneof(
  typeNames.map((type) => ({ type })),
  fc.uniqueArray(typeNames, { minLength: 1 }).map((type) => ({ type })),
  fc.uniqueArray(fc.string(), { minLength: 1 }).map((entries) => ({ type: "string", enum: entries })),
  fc
    .uniqueArray(fc.integer(), { minLength: 1 })
    .map((entries) => ({ type: ["integer", "null"], enum: [...entries, null] })),
);

const described = (schemas: fc.Arbitrary<JsonObject>): fc.Arbitrary<JsonObject> =>
  fc
    .tuple(schemas, fc.boolean())
    .map(([schema, isDescribed]) => (isDescribed ? { description: "What it is.", ...schema } : schema));

/** Schemas whose objects and arrays nest at most this many levels above the leaves. */
function nested(levels: number, leaves: fc.Arbitrary<JsonObject>): fc.Arbitrary<JsonObject> {
  if (levels === 0) return described(leaves);
  const parts = nested(levels - 1, leaves);
  const branchings = fc.oneof(
    fc
      .tuple(parts, fc.constantFrom<Json>("array", ["array", "null"]))
      .map(([items, type]) => ({ type, items })),
    fc
      .tuple(objects(parts), parts)
      .map(([object, items]) => ({ ...object, type: ["object", "array", "string"], items })),
    fc.array(parts, { minLength: 1, maxLength: 3 }).map((anyOf) => ({ anyOf })),
    parts.map((schema) => ({ anyOf: [schema, nullType] })),
  );
  return described(
    fc.oneof(
      { weight: 2, arbitrary: leaves },
      { weight: 2, arbitrary: objects(parts) },
      { weight: 4, arbitrary: branchings },
    ),
  );
}

/** A definition that refers to itself: through an array, or as an alternative to null or a simpler type. */
function recursive(name: string): fc.Arbitrary<JsonObject> {
  const self = refTo(name);
  const loops = [
    { type: "array", items: self },
    { anyOf: [self, nullType] },
    { anyOf: [self, { type: "string" }] },
  ];
  return objects(fc.oneof(scalars, fc.constantFrom<JsonObject>(...loops)));
}

/** Schemas of the subset: every type, lists of types, enums, `anyOf`, references, recursion. */
export const acceptedSchemas: fc.Arbitrary<JsonObject> = fc
  .uniqueArray(definitionNames, { minLength: 2, maxLength: 2 })
  .chain(([flat = "", looped = ""]) => {
    // The root, two levels below it, and at most two of a definition: five.
    const leaves = fc.oneof({ weight: 3, arbitrary: scalars }, fc.constantFrom(refTo(flat), refTo(looped)));
    const definitions = recordOf({ [flat]: nested(2, scalars), [looped]: recursive(looped) });
    return fc.tuple(objects(nested(2, leaves)), definitions).map(([root, $defs]) => ({ ...root, $defs }));
  });

/**
 * Schemas with references anywhere: about half of them are refused, the others accepted, some for subtle
 * reasons.
 */
export const tangledSchemas: fc.Arbitrary<JsonObject> = fc
  .uniqueArray(definitionNames, { minLength: 1, maxLength: 3 })
  .chain((defined) => {
    const leaves = fc.oneof(scalars, fc.constantFrom(...defined.map(refTo)));
    const definitions = recordOf(Object.fromEntries(defined.map((name) => [name, nested(1, leaves)])));
    return fc.tuple(objects(nested(1, leaves)), definitions).map(([root, $defs]) => ({ ...root, $defs }));
  });

/** A value, or the value with some parts changed. */
export function changed(value: Json): fc.Arbitrary<Json> {
  const others = fc.constantFrom<Json>(null, "", 1.5, false, [], {});
  if (Array.isArray(value)) {
    const items = fc.tuple(...value.map(changed));
    return fc.oneof(
      { weight: 4, arbitrary: items },
      { weight: 1, arbitrary: items.map((kept) => [...kept, "more"]) },
      others,
    );
  }
  if (value === null || typeof value !== "object")
    return fc.oneof({ weight: 6, arbitrary: fc.constant(value) }, others);
  const members = recordOf(
    Object.fromEntries(Object.entries(value).map(([name, member]) => [name, changed(member)])),
  );
  const widened = fc.tuple(members, names).map(([kept, name]): Json => ({ ...kept, [name]: "more" }));
  return fc.oneof({ weight: 6, arbitrary: members }, { weight: 1, arbitrary: widened }, others);
}

/** Each subschema with its path, written as in the specification (spec/api.md 9.5). */
export function subschemas(
  schema: JsonObject,
  path = "",
): { readonly path: string; readonly subschema: JsonObject }[] {
  const { properties, items, anyOf, $defs } = schema;
  const within = (members: Json | undefined, prefix: string) =>
    Object.entries(members ?? {}).flatMap(([name, member]) =>
      subschemas(member as JsonObject, `${path}${prefix}.${name}`),
    );
  const below = [...within(properties, ""), ...within(anyOf, ".anyOf"), ...within($defs, ".$defs")];
  return [
    { path, subschema: schema },
    ...below,
    ...(items === undefined ? [] : subschemas(items as JsonObject, `${path}.items`)),
  ];
}
