import { isObject, type Json, type JsonObject } from "../json.ts";
import { checkBytes } from "./bounds.ts";
import { annotations, isOfType } from "./keywords.ts";
import { checkGraph, memoizeByNode, type SchemaNode } from "./node.ts";
import { readSchema } from "./read.ts";
import { zeroValue, zeroValues } from "./zero.ts";

/**
 * Checks a `structured_output_schema` (spec/api.md 9.5). An accepted schema has a zero value of bounded size,
 * and any value can be compared with it in bounded time. The console checks with it what is typed.
 *
 * @returns the schema without annotations.
 * @throws Failure `invalid_argument`: `structured_output_schema: `, the place, the broken rule.
 */
export function checkSchema(schema: JsonObject): JsonObject {
  const model = readSchema(schema);
  checkGraph(model);
  checkBytes(zeroValues(model)(model.root).bytes, "have a zero value of");
  const isAnnotation = (holder: Json, name: string) => model.schemas.has(holder) && annotations.has(name);
  return JSON.parse(
    JSON.stringify(schema, function (this: Json, name: string, value: Json) {
      return isAnnotation(this, name) ? undefined : value;
    }),
  );
}

/**
 * Whether a value conforms to a schema that `checkSchema` accepts. The work is bounded by the sizes of the
 * two. A value that is nested too deeply to be checked does not conform.
 */
export function conforms(schema: JsonObject, value: Json): boolean {
  // Alternatives that lead to the same definitions would double the work at each level. Parts of the value
  // are known by identity.
  const resultsOf = memoizeByNode(() => new Map<Json, boolean>());
  const fits = (node: SchemaNode, value: Json): boolean => {
    const results = resultsOf(node);
    const result = results.get(value) ?? compare(node, value, fits);
    results.set(value, result);
    return result;
  };
  try {
    return fits(readSchema(schema).root, value);
  } catch (thrown) {
    // The stack overflowed.
    if (thrown instanceof RangeError) return false;
    throw thrown;
  }
}

function compare(
  { kind, entries, branches, parts }: SchemaNode,
  value: Json,
  fits: (node: SchemaNode, value: Json) => boolean,
): boolean {
  if (kind === "union" || kind === "reference") return branches.some((branch) => fits(branch, value));
  if (kind === "enum") return entries.includes(value);
  if (kind === "array")
    return (
      Array.isArray(value) && [...parts.values()].every((items) => value.every((item) => fits(items, item)))
    );
  if (kind !== "object") return isOfType(value, kind);
  if (!isObject(value) || Object.keys(value).length !== parts.size) return false;
  return [...parts].every(([name, part]) => Object.hasOwn(value, name) && fits(part, value[name] ?? null));
}

/** The payload of a structured_output_result; the wire has `error: null` on success (spec/api.md 7.5). */
export interface StructuredResult {
  readonly success: boolean;
  readonly value: JsonObject;
  readonly error?: string;
}

const missing = "Failed to extract structured output";
const nonconforming = "Extracted value does not conform to the provided schema";

/**
 * The result of an extraction (spec/api.md 9.5); `extracted` is undefined when there is none. The value
 * always conforms to the schema: a failure carries the zero value. The schema must be one that `checkSchema`
 * accepts.
 */
export function structuredResult(schema: JsonObject, extracted: Json | undefined): StructuredResult {
  if (isObject(extracted) && conforms(schema, extracted)) return { success: true, value: extracted };
  return {
    success: false,
    value: zeroValue(schema),
    error: extracted === undefined ? missing : nonconforming,
  };
}
