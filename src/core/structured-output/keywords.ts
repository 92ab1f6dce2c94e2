import { isObject, type Json, type JsonObject } from "../json.ts";
import { rules, schemaFailure, shortenName } from "./bounds.ts";
import { type EnumNode, type Scalar, type ScalarType, scalarTypes } from "./node.ts";

const keywords: ReadonlySet<string> = new Set([
  "type",
  "properties",
  "required",
  "additionalProperties",
  "items",
  "enum",
  "description",
  "anyOf",
  "$ref",
  "$defs",
]);

/** Keywords of JSON Schema that allow and refuse no value. They are accepted and dropped: validators write them. */
const annotations: ReadonlySet<string> = new Set(["$schema", "$id", "title", "default", "examples", "$comment"]);

/** Keywords that may be combined with any other. */
const neutral: ReadonlySet<string> = new Set(["description", "$defs", ...annotations]);

const typeNames = [...scalarTypes, "object", "array"] as const;
export type TypeName = (typeof typeNames)[number];

/** Whether a scalar is of a type. */
const isOfType: Readonly<Record<ScalarType, (value: Json) => boolean>> = {
  string: (value) => typeof value === "string",
  number: (value) => typeof value === "number",
  integer: Number.isInteger,
  boolean: (value) => typeof value === "boolean",
  null: (value) => value === null,
};

const isScalar = (value: Json): value is Scalar => value === null || typeof value !== "object";

const isScalarType = (type: TypeName): type is ScalarType => scalarTypes.some((scalar) => scalar === type);

/** Refuses keywords outside the subset, and a description that is not a string. */
export function checkKeywords(schema: JsonObject, path: string): void {
  const unknown = Object.keys(schema).find((keyword) => !keywords.has(keyword) && !annotations.has(keyword));
  if (unknown !== undefined) throw schemaFailure(path, `unsupported keyword ${JSON.stringify(shortenName(unknown))}`);
  const { description = "" } = schema;
  if (typeof description !== "string") throw schemaFailure(path, rules.schema);
}

/** A schema that `checkShape` accepts, without annotations. Properties and definitions may have their names. */
export const withoutAnnotations = (schema: JsonObject): JsonObject =>
  mapMembers(schema, (value, keyword) => (annotations.has(keyword) ? undefined : withoutInner(value, keyword)));

function withoutInner(value: Json, keyword: string): Json {
  if (keyword === "anyOf" && Array.isArray(value)) return value.map((branch) => withoutInner(branch, "items"));
  if (!isObject(value)) return value;
  return keyword === "items" ? withoutAnnotations(value) : mapMembers(value, (inner) => withoutInner(inner, "items"));
}

const mapMembers = (object: JsonObject, map: (value: Json, name: string) => Json | undefined): JsonObject =>
  Object.fromEntries(
    Object.entries(object).flatMap(([name, value]) => {
      const mapped = map(value, name);
      return mapped === undefined ? [] : [[name, mapped]];
    }),
  );

/** Refuses keywords that narrow a reference or an `anyOf`: the combination might have no value. */
export function checkNotCombined(schema: JsonObject, keyword: "$ref" | "anyOf", path: string): void {
  const other = Object.keys(schema).find((name) => name !== keyword && !neutral.has(name));
  if (other !== undefined) throw schemaFailure(path, `"${keyword}" must not be combined with "${other}"`);
}

/** The types of a node, in their order. */
export function readTypes({ type }: JsonObject, path: string): readonly TypeName[] {
  if (type === undefined) throw schemaFailure(path, rules.type);
  const listed = Array.isArray(type) ? type : [type];
  const known = typeNames.filter((name) => listed.includes(name));
  if (known.length === 0 || known.length !== listed.length) throw schemaFailure(path, rules.schema);
  return known.toSorted((a, b) => listed.indexOf(a) - listed.indexOf(b));
}

/** The rules of every object: no additional properties, and every property is required. */
export function checkObject(schema: JsonObject, types: readonly TypeName[], path: string): void {
  const { additionalProperties, properties = {}, required = [] } = schema;
  if (!isObject(properties)) throw schemaFailure(path, rules.schema);
  const isOpen = types.includes("object") || additionalProperties !== undefined;
  if (isOpen && additionalProperties !== false) throw schemaFailure(path, rules.additionalProperties);
  if (!Array.isArray(required) || !required.every((name) => typeof name === "string")) throw schemaFailure(path, rules.schema);
  const names = new Set(required);
  if (names.size !== required.length) throw schemaFailure(path, rules.schema);
  if (!types.includes("object")) return;
  if (Object.keys(properties).some((name) => !names.has(name))) throw schemaFailure(path, rules.required);
  if (required.some((name) => !Object.hasOwn(properties, name))) throw schemaFailure(path, rules.onlyProperties);
}

/** The entries of `enum`: scalars, each of one of the types, without duplicates. */
export function readEntries({ enum: entries }: JsonObject, types: readonly TypeName[], path: string): EnumNode["entries"] | undefined {
  if (entries === undefined) return undefined;
  if (!Array.isArray(entries)) throw schemaFailure(path, rules.schema);
  if (!entries.every(isScalar)) throw schemaFailure(path, rules.plainEntries);
  const [first, ...others] = entries;
  const allFit = entries.every((entry) => types.some((type) => isScalarType(type) && isOfType[type](entry)));
  if (first === undefined || !allFit || new Set(entries).size !== entries.length) throw schemaFailure(path, rules.schema);
  return [first, ...others];
}

/**
 * The definition that a reference names: a JSON pointer in a fragment (RFC 6901, sections 3 and 6).
 * `%2F` and `~1` encode a slash, `~0` a tilde. Undefined for anything but `#/$defs/NAME`.
 */
export function parseReference(reference: Json): string | undefined {
  const [, token] = (typeof reference === "string" && /^#\/\$defs\/([^/]*)$/.exec(reference)) || [];
  const name = token === undefined ? undefined : decodePercent(token);
  return name === undefined || /~(?![01])/.test(name) ? undefined : name.replaceAll("~1", "/").replaceAll("~0", "~");
}

function decodePercent(token: string): string | undefined {
  try {
    return decodeURIComponent(token);
  } catch {
    return undefined;
  }
}
