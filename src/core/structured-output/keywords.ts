import type { Json, JsonObject } from "../json.ts";
import { fault, rules, shortened } from "./fault.ts";
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

/** Keywords that may stand beside any other. */
const neutral: ReadonlySet<string> = new Set(["description", "$defs"]);

const typeNames = [...scalarTypes, "object", "array"] as const;
export type TypeName = (typeof typeNames)[number];

/** Whether a scalar fits a type. */
const fits: Readonly<Record<ScalarType, (value: Json) => boolean>> = {
  string: (value) => typeof value === "string",
  number: (value) => typeof value === "number",
  integer: Number.isInteger,
  boolean: (value) => typeof value === "boolean",
  null: (value) => value === null,
};

export const isObject = (value: Json | undefined): value is JsonObject =>
  value !== null && typeof value === "object" && !Array.isArray(value);

const isScalar = (value: Json): value is Scalar => value === null || typeof value !== "object";

const isScalarType = (type: TypeName): type is ScalarType => scalarTypes.some((scalar) => scalar === type);

/** Refuses keywords outside the subset, and a description that is no text. */
export function checkKeywords(schema: JsonObject, path: string): void {
  const stray = Object.keys(schema).find((keyword) => !keywords.has(keyword));
  if (stray !== undefined) throw fault(path, `unsupported keyword ${JSON.stringify(shortened(stray))}`);
  const { description = "" } = schema;
  if (typeof description !== "string") throw fault(path, rules.schema);
}

/** Refuses whatever narrows a reference or an `anyOf` further: what both together describe might have no value. */
export function checkAlone(schema: JsonObject, keyword: "$ref" | "anyOf", path: string): void {
  const other = Object.keys(schema).find((name) => name !== keyword && !neutral.has(name));
  if (other !== undefined) throw fault(path, `"${keyword}" must not stand beside "${other}"`);
}

/** The types of a node, in their order. */
export function typesOf({ type }: JsonObject, path: string): readonly TypeName[] {
  if (type === undefined) throw fault(path, rules.type);
  const given = Array.isArray(type) ? type : [type];
  const known = typeNames.filter((name) => given.includes(name));
  if (known.length === 0 || known.length !== given.length) throw fault(path, rules.schema);
  return known.toSorted((a, b) => given.indexOf(a) - given.indexOf(b));
}

/** The rules of every object: nothing beside its properties, and each of them required. */
export function checkObject(schema: JsonObject, types: readonly TypeName[], path: string): void {
  const { additionalProperties, properties = {}, required = [] } = schema;
  if (!isObject(properties)) throw fault(path, rules.schema);
  const isOpen = types.includes("object") || additionalProperties !== undefined;
  if (isOpen && additionalProperties !== false) throw fault(path, rules.additionalProperties);
  if (!Array.isArray(required) || !required.every((name) => typeof name === "string")) throw fault(path, rules.schema);
  const names = new Set(required);
  if (names.size !== required.length) throw fault(path, rules.schema);
  if (!types.includes("object")) return;
  if (Object.keys(properties).some((name) => !names.has(name))) throw fault(path, rules.required);
  if (required.some((name) => !Object.hasOwn(properties, name))) throw fault(path, rules.onlyProperties);
}

/** The entries of `enum`: scalars, each of one of the types, none twice. */
export function entriesOf({ enum: entries }: JsonObject, types: readonly TypeName[], path: string): EnumNode["entries"] | undefined {
  if (entries === undefined) return undefined;
  if (!Array.isArray(entries)) throw fault(path, rules.schema);
  if (!entries.every(isScalar)) throw fault(path, rules.plainEntries);
  const [first, ...others] = entries;
  const fit = entries.every((entry) => types.some((type) => isScalarType(type) && fits[type](entry)));
  if (first === undefined || !fit || new Set(entries).size !== entries.length) throw fault(path, rules.schema);
  return [first, ...others];
}

/**
 * The definition that a reference names: a JSON pointer in a fragment (RFC 6901, sections 3 and 6),
 * so `%2F` and `~1` stand for a slash and `~0` for a tilde. Undefined for anything but `#/$defs/NAME`.
 */
export function referredName(reference: Json): string | undefined {
  const [, token] = (typeof reference === "string" && /^#\/\$defs\/([^/]*)$/.exec(reference)) || [];
  const name = token === undefined ? undefined : percentDecoded(token);
  return name === undefined || /~(?![01])/.test(name) ? undefined : name.replaceAll("~1", "/").replaceAll("~0", "~");
}

function percentDecoded(token: string): string | undefined {
  try {
    return decodeURIComponent(token);
  } catch {
    return undefined;
  }
}
