import type { Json, JsonObject } from "../json.ts";
import { conforms } from "./conforms.ts";
import { isObject } from "./keywords.ts";
import { zeroValue } from "./zero.ts";

/** The payload of a structured_output_result; the wire shows `error: null` on success (contract/v2.md 7.5). */
export interface StructuredResult {
  readonly success: boolean;
  readonly value: JsonObject;
  readonly error?: string;
}

const missing = "Failed to extract structured output";
const unfit = "Extracted value does not conform to the provided schema";

/**
 * What to report of an extraction (contract/v2.md 9.5), undefined standing for none. The value conforms to the schema in
 * any case: a failure carries the zero value. The schema must be one that `checkSchema` accepts.
 */
export function structuredResult(schema: JsonObject, extracted: Json | undefined): StructuredResult {
  if (extracted === undefined) return { success: false, value: zeroValue(schema), error: missing };
  if (isObject(extracted) && conforms(schema, extracted)) return { success: true, value: extracted };
  return { success: false, value: zeroValue(schema), error: unfit };
}
