import { isObject, type Json, type JsonObject } from "../json.ts";
import { must, rules, shortenName } from "./bounds.ts";
import { type TypeName, typeNames } from "./node.ts";

const keywords = new Set(
  "type properties required additionalProperties items enum description anyOf $ref $defs".split(" "),
);

/**
 * Keywords of JSON Schema that allow and refuse no value. They are accepted and dropped: validators write
 * them.
 */
export const annotations: ReadonlySet<string> = new Set(
  "$schema $id title default examples $comment".split(" "),
);

/** Keywords that may be combined with any other. */
const neutral = new Set(["description", "$defs", ...annotations]);

/** Refuses keywords outside the subset, and a description that is not a string. */
export function checkKeywords(schema: JsonObject, path: string): void {
  for (const name of Object.keys(schema))
    must(
      keywords.has(name) || annotations.has(name),
      path,
      `unsupported keyword ${JSON.stringify(shortenName(name))}`,
    );
  const { description = "" } = schema;
  must(typeof description === "string", path);
}

/** Refuses keywords that narrow a reference or an `anyOf`: the combination might have no value. */
export function checkNotCombined(schema: JsonObject, keyword: "$ref" | "anyOf", path: string): void {
  for (const other of Object.keys(schema))
    must(other === keyword || neutral.has(other), path, `"${keyword}" must not be combined with "${other}"`);
}

const isSet = (values: readonly Json[]): boolean => new Set(values).size === values.length;

/** The types of a node, in their order. */
export function readTypes({ type }: JsonObject, path: string): readonly TypeName[] {
  must(type !== undefined, path, rules.type);
  const listed = Array.isArray(type) ? type : [type];
  const types = listed.flatMap((name) => typeNames.filter((known) => known === name));
  must(types.length > 0 && types.length === listed.length && isSet(types), path);
  return types;
}

/** The rules of every object: no additional properties, and every property is required. */
export function checkObject(schema: JsonObject, types: readonly TypeName[], path: string): void {
  const {
    additionalProperties = types.includes("object") ? null : false,
    properties = {},
    required = [],
  } = schema;
  must(isObject(properties), path);
  must(additionalProperties === false, path, rules.additionalProperties);
  must(
    Array.isArray(required) && required.every((name) => typeof name === "string") && isSet(required),
    path,
  );
  if (!types.includes("object")) return;
  const [names, listed] = [Object.keys(properties), new Set<Json>(required)];
  must(
    names.every((name) => listed.has(name)),
    path,
    rules.required,
  );
  must(names.length === listed.size, path, rules.onlyProperties);
}

/** Whether a value is a scalar of a type. */
export function isOfType(value: Json, type: TypeName): boolean {
  if (value === null) return type === "null";
  return type === "integer" ? Number.isInteger(value) : type !== "object" && typeof value === type;
}

/** The entries of `enum`: scalars, each of one of the types, without duplicates. */
export function readEntries(entries: Json, types: readonly TypeName[], path: string): readonly Json[] {
  must(Array.isArray(entries), path);
  must(!entries.some((entry) => entry !== null && typeof entry === "object"), path, rules.plainEntries);
  must(
    entries.length > 0 &&
      entries.every((entry) => types.some((type) => isOfType(entry, type))) &&
      isSet(entries),
    path,
  );
  return entries;
}

/**
 * The definition that a reference names: a JSON pointer in a fragment (RFC 6901, sections 3 and 6).
 * `%2F` and `~1` encode a slash, `~0` a tilde. Undefined for anything but `#/$defs/NAME`.
 */
export function parseReference(reference: Json): string | undefined {
  const [, token] = (typeof reference === "string" && /^#\/\$defs\/([^/]*)$/.exec(reference)) || [];
  try {
    const name = token === undefined ? "~" : decodeURIComponent(token);
    return /~(?![01])/.test(name) ? undefined : name.replaceAll("~1", "/").replaceAll("~0", "~");
  } catch {
    return undefined;
  }
}
