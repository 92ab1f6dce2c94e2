import type { Ajv, ValidateFunction } from "ajv";
import { lazyPackage } from "../../async/lazy.ts";
import { isObject, type Json, type JsonObject } from "../json.ts";
import { rules, schemaFailure } from "./bounds.ts";
import { parseReference, withoutAnnotations } from "./keywords.ts";
import { checkShape } from "./shape.ts";
import { zeroValue } from "./zero.ts";

const ajvPackage = lazyPackage<typeof import("ajv")>("ajv");
const validatorsMax = 64;

type Validator = (value: Json) => boolean;

/** Compiled validators by the text of their schema, least recently used first. */
const validators = new Map<string, Validator>();

/**
 * Whether a value conforms to a schema that `checkSchema` accepts. The work is bounded by the sizes of the two. A value
 * that is nested too deeply to be checked does not conform.
 */
export function conforms(schema: JsonObject, value: Json): boolean {
  const validate = getValidator(JSON.stringify(schema));
  try {
    return validate(value);
  } catch (thrown) {
    // The stack overflowed: a compiled validator throws no other error.
    if (thrown instanceof RangeError) return false;
    throw thrown;
  }
}

function getValidator(text: string): Validator {
  const validator = validators.get(text) ?? compile(JSON.parse(text));
  validators.delete(text);
  validators.set(text, validator);
  const [oldest] = validators.keys();
  if (oldest !== undefined && validators.size > validatorsMax) validators.delete(oldest);
  return validator;
}

/**
 * Each schema has its own Ajv, because one Ajv keeps every schema that it compiles. Properties are own properties
 * (`toString` is not a property of `{}`). Code is not optimized: that takes longer than it saves.
 */
function compile(schema: JsonObject): Validator {
  const ajv = new (ajvPackage().Ajv)({
    strict: false,
    meta: false,
    validateSchema: false,
    addUsedSchema: false,
    ownProperties: true,
    messages: false,
    logger: false,
    code: { optimize: false },
  });
  const results = rememberReferences(ajv, schema);
  const validate = ajv.compile(schema);
  return (value) => {
    try {
      return validate(value);
    } finally {
      results.clear();
    }
  };
}

/**
 * Replaces Ajv's `$ref` by one that compares a definition with a value only once in a run. Otherwise alternatives that lead
 * to the same definitions would double the work at each level. Definitions are looked up as in `checkSchema`.
 */
function rememberReferences(ajv: Ajv, schema: JsonObject): Pick<Results, "clear"> {
  const definitions = new Map<string, ValidateFunction>();
  const results: Results = new Map();
  ajv.removeKeyword("$ref");
  ajv.addKeyword({
    keyword: "$ref",
    schemaType: "string",
    errors: false,
    compile: (reference: string) => {
      const name = parseReference(reference) ?? "";
      return (value: Json) => remember(results, name, value, () => definitions.get(name)?.(value) ?? false);
    },
  });
  const { $defs } = schema;
  for (const [name, definition] of Object.entries(isObject($defs) ? $defs : {})) {
    if (isObject(definition)) definitions.set(name, ajv.compile(definition));
  }
  return results;
}

/** The results of a run: by definition, then by value (parts of the value by identity). */
type Results = Map<string, Map<Json, boolean>>;

function remember(results: Results, name: string, value: Json, compute: () => boolean): boolean {
  const known = results.get(name) ?? new Map<Json, boolean>();
  results.set(name, known);
  const result = known.get(value) ?? compute();
  known.set(value, result);
  return result;
}

/**
 * Checks a `structured_output_schema` before it is armed (spec/api.md 9.5). An accepted schema has a zero value of
 * bounded size, and any value can be compared with it in bounded time.
 *
 * @returns the schema without annotations.
 * @throws Failure `invalid_argument`: `structured_output_schema: `, the place, the broken rule.
 */
export function checkSchema(schema: JsonObject): JsonObject {
  const zero = checkShape(schema);
  const plain = withoutAnnotations(schema);
  if (!isCompiled(plain, zero)) throw schemaFailure("", rules.schema);
  return plain;
}

/** False when Ajv refuses to compile the schema. */
function isCompiled(schema: JsonObject, zero: Json): boolean {
  try {
    return conforms(schema, zero);
  } catch {
    return false;
  }
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
 * The result of an extraction (spec/api.md 9.5); `extracted` is undefined when there is none. The value always conforms
 * to the schema: a failure carries the zero value. The schema must be one that `checkSchema` accepts.
 */
export function structuredResult(schema: JsonObject, extracted: Json | undefined): StructuredResult {
  if (extracted === undefined) return { success: false, value: zeroValue(schema), error: missing };
  if (isObject(extracted) && conforms(schema, extracted)) return { success: true, value: extracted };
  return { success: false, value: zeroValue(schema), error: nonconforming };
}
