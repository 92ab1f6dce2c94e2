import type { Json, JsonObject } from "../json.ts";

/** Values of a schema in all, references taken in. */
const nodesMax = 2_000;
const depthMax = 16;
const textMax = 1_000;

/** What is kept of a schema beside what is read on. Patterns are not: whoever gives one says how long it takes to match. */
const plain = new Set(
  "type title description enum const default format minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength minItems maxItems minProperties maxProperties".split(
    " ",
  ),
);
const single = new Set(["items", "additionalProperties", "not"]);
const lists = new Set(["anyOf", "oneOf", "allOf", "prefixItems"]);

/**
 * A tool's schema as a stranger gave it, within bounds: only words that are known, references within it taken in, and
 * nothing that can take long to check. What is beyond the bounds allows everything: the server checks for itself.
 *
 * @returns null for what is not the schema of an object.
 */
export function boundedSchema(schema: unknown): JsonObject | null {
  if (!isObject(schema) || (schema["type"] ?? "object") !== "object") return null;
  let nodes = 0;

  function read(value: Json | undefined, depth: number): Json {
    nodes += 1;
    if (typeof value === "boolean") return value;
    if (!isObject(value) || depth > depthMax || nodes > nodesMax) return {};
    const { $ref: reference } = value;
    if (typeof reference === "string") return read(referred(schema as JsonObject, reference), depth + 1);
    return Object.fromEntries(Object.entries(value).flatMap(([word, inner]) => member(word, inner, depth)));
  }

  function member(word: string, inner: Json, depth: number): [string, Json][] {
    if (plain.has(word)) return [[word, short(inner, depth)]];
    if (single.has(word)) return [[word, read(inner, depth + 1)]];
    if (lists.has(word) && Array.isArray(inner) && inner.length > 0)
      return [[word, inner.slice(0, 100).map((one) => read(one, depth + 1))]];
    if (word === "required" && Array.isArray(inner)) return [[word, [...new Set(inner.filter((name) => typeof name === "string"))]]];
    if (word === "properties" && isObject(inner)) return [[word, mapEach(inner, (one) => read(one, depth + 1))]];
    return [];
  }

  function short(value: Json, depth: number): Json {
    nodes += 1;
    if (typeof value === "string") return value.slice(0, textMax);
    if (value === null || typeof value !== "object") return value;
    if (depth > depthMax || nodes > nodesMax) return null;
    return Array.isArray(value) ? value.slice(0, 500).map((one) => short(one, depth + 1)) : mapEach(value, (one) => short(one, depth + 1));
  }

  const bounded = read(schema, 0);
  return isObject(bounded) ? { ...bounded, type: "object" } : null;
}

const isObject = (value: unknown): value is JsonObject => value !== null && typeof value === "object" && !Array.isArray(value);

const mapEach = (object: JsonObject, each: (value: Json) => Json): JsonObject =>
  Object.fromEntries(
    Object.entries(object)
      .slice(0, 200)
      .map(([name, value]) => [name, each(value)]),
  );

/** What `#/$defs/Point` stands for; undefined for what leads elsewhere. */
function referred(schema: JsonObject, reference: string): Json | undefined {
  if (!reference.startsWith("#/")) return undefined;
  let at: Json | undefined = schema;
  for (const part of reference.slice(2).split("/")) {
    const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
    at = isObject(at) && Object.hasOwn(at, name) ? at[name] : undefined;
  }
  return at;
}
