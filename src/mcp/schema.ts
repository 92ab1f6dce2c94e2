import type { Json } from "../doors/operations.ts";

/** The deepest nesting that is written out: a schema that contains itself would never end. */
const depthMax = 8;
/** Keywords that say nothing to a caller, or that clients of some vendors refuse. */
const dropped: ReadonlySet<string> = new Set(["format", "examples", "example", "deprecated", "x-event-schema"]);

type Schemas = Readonly<Record<string, Json>>;

/**
 * A request's schema as the input of a tool: references are written out, because not all clients follow them, and an optional
 * member is left out instead of null.
 */
export function inputSchema(schema: Json, schemas: Schemas): Json & { readonly type: "object" } {
  const plain = resolve(schema, schemas, 0);
  return { properties: {}, ...plain, type: "object" };
}

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value);

function resolve(schema: Json, schemas: Schemas, depth: number): Json {
  const { $ref: reference, ...own } = schema;
  if (depth > depthMax) return {};
  if (typeof reference === "string") return resolve({ ...schemas[reference.split("/").at(-1) ?? ""], ...own }, schemas, depth);
  return withoutNull(Object.fromEntries(Object.entries(own).flatMap(([key, value]) => member(key, value, schemas, depth))));
}

function member(key: string, value: unknown, schemas: Schemas, depth: number): [string, unknown][] {
  if (dropped.has(key)) return [];
  if (key === "properties" && isObject(value)) {
    const inner = Object.entries(value).map(([name, of]) => [name, isObject(of) ? resolve(of, schemas, depth + 1) : of]);
    return [[key, Object.fromEntries(inner)]];
  }
  if (Array.isArray(value)) return [[key, value.map((of) => (isObject(of) ? resolve(of, schemas, depth + 1) : of))]];
  return [[key, isObject(value) && key !== "default" ? resolve(value, schemas, depth + 1) : value]];
}

/** A schema that allows null as one of two types, without it. */
function withoutNull(schema: Json): Json {
  const { type, anyOf, ...more } = schema;
  if (Array.isArray(type) && type.includes("null")) {
    const types = type.filter((one) => one !== "null");
    return { type: types.length === 1 ? types[0] : types, ...more };
  }
  if (Array.isArray(anyOf)) {
    const others = anyOf.filter((one) => !(isObject(one) && one["type"] === "null"));
    return others.length === 1 && isObject(others[0]) ? { ...others[0], ...more } : { ...more, anyOf: others };
  }
  return schema;
}
