import fc from "fast-check";
import { isPart, type Part, resolved } from "./documents.ts";

/** Values to use for members of these names. */
export type Known = Readonly<Record<string, fc.Arbitrary<unknown>>>;

/** Texts and lists are this much longer than they must be, at most. */
const more = 12;

const numberAt = (schema: Part, name: string): number | undefined => {
  const value = schema[name];
  return typeof value === "number" ? value : undefined;
};

/** Lengths from the smallest that a schema allows; at most its greatest. */
function lengths(
  schema: Part,
  least: string,
  most: string,
): { readonly minLength: number; readonly maxLength: number } {
  const minLength = numberAt(schema, least) ?? 0;
  return {
    minLength,
    maxLength: Math.min(numberAt(schema, most) ?? Number.POSITIVE_INFINITY, minLength + more),
  };
}

const anyJson = fc.jsonValue({ maxDepth: 2 });

/** Values that conform to a schema of a document, within the keywords that api/ uses. */
export function valuesOf(document: Part, schema: Part, known: Known, depth = 0): fc.Arbitrary<unknown> {
  const of = resolved(document, schema);
  const below = (each: Part): fc.Arbitrary<unknown> => valuesOf(document, each, known, depth + 1);
  const alternatives = [of["anyOf"], of["oneOf"]].flat().filter(isPart);
  if (alternatives.length > 0) return fc.oneof(...alternatives.map(below));
  if ("const" in of) return fc.constant(of["const"]);
  if (Array.isArray(of["enum"])) return fc.constantFrom(...of["enum"]);
  const types: readonly unknown[] = [of["type"]].flat();
  return fc.oneof(
    ...types.map((type) =>
      typeof type === "string" ? valuesOfType(type, of, { below, known, depth }) : anyJson,
    ),
  );
}

interface Context {
  readonly below: (schema: Part) => fc.Arbitrary<unknown>;
  readonly known: Known;
  readonly depth: number;
}

function valuesOfType(type: string, schema: Part, context: Context): fc.Arbitrary<unknown> {
  switch (type) {
    case "null":
      return fc.constant(null);
    case "boolean":
      return fc.boolean();
    case "integer":
      return fc.integer({
        min: numberAt(schema, "minimum") ?? -1000,
        max: numberAt(schema, "maximum") ?? 1000,
      });
    case "number":
      return fc.double({ noNaN: true, noDefaultInfinity: true });
    case "string":
      return textsOf(schema);
    case "array":
      return listsOf(schema, context);
    default:
      return objectsOf(schema, context);
  }
}

function textsOf(schema: Part): fc.Arbitrary<string> {
  const { pattern, format, contentEncoding } = schema;
  const { minLength, maxLength } = lengths(schema, "minLength", "maxLength");
  const longest = numberAt(schema, "maxLength") ?? Number.POSITIVE_INFINITY;
  // JSON Schema counts code points; a grapheme may have several.
  const fits = (text: string): boolean => [...text].length >= minLength && [...text].length <= longest;
  if (typeof pattern === "string") return fc.stringMatching(new RegExp(pattern)).filter(fits);
  if (format === "email") return fc.emailAddress();
  if (format === "date-time") return dates;
  if (format === "date") return dates.map((date) => date.slice(0, 10));
  if (contentEncoding === "base64")
    return fc.uint8Array({ maxLength: more }).map((bytes) => Buffer.from(bytes).toString("base64"));
  return fc.string({ unit: "grapheme-composite", minLength, maxLength }).filter(fits);
}

const dates = fc
  .date({ noInvalidDate: true, min: new Date(0), max: new Date("9999-12-31") })
  .map((date) => date.toISOString());

function listsOf(schema: Part, { below, depth }: Context): fc.Arbitrary<unknown> {
  const items = isPart(schema["items"]) ? below(schema["items"]) : anyJson;
  const { minLength, maxLength } = lengths(schema, "minItems", "maxItems");
  const bounds = { minLength, maxLength: depth > 3 ? minLength : Math.min(maxLength, minLength + 3) };
  return schema["uniqueItems"] === true
    ? fc.uniqueArray(items, { ...bounds, selector: (item) => JSON.stringify(item) })
    : fc.array(items, bounds);
}

function objectsOf(schema: Part, { below, known, depth }: Context): fc.Arbitrary<unknown> {
  const { properties, required, additionalProperties, propertyNames } = schema;
  if (!isPart(properties)) {
    const values = isPart(additionalProperties) ? below(additionalProperties) : anyJson;
    const keys = isPart(propertyNames) ? textsOf(propertyNames) : fc.string({ maxLength: more });
    return fc.dictionary(keys, values, {
      minKeys: numberAt(schema, "minProperties") ?? 0,
      maxKeys: Math.min(numberAt(schema, "maxProperties") ?? 3, 3),
    });
  }
  const always = Array.isArray(required) ? required.map(String) : [];
  const chosen = Object.entries(properties).filter(([name]) => depth < 5 || always.includes(name));
  const members = chosen.map(
    ([name, member]) => [name, known[name] ?? (isPart(member) ? below(member) : anyJson)] as const,
  );
  return fc
    .record(Object.fromEntries(members), { requiredKeys: always })
    .map((object) => withOneOf(object, schema["x-at-most-one"]));
}

/** Without the members that are present next to another one of their choice. */
function withOneOf(
  object: Readonly<Record<string, unknown>>,
  choices: unknown,
): Readonly<Record<string, unknown>> {
  const groups: readonly unknown[] = Array.isArray(choices) ? choices : [];
  const surplus = groups.flatMap((names) =>
    Array.isArray(names) ? names.filter((name) => object[name] != null).slice(1) : [],
  );
  return Object.fromEntries(Object.entries(object).filter(([name]) => !surplus.includes(name)));
}
