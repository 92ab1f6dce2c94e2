import type { Json, JsonObject } from "../json.ts";
import { kilobytes, zeroBytesMax } from "./bounds.ts";
import { conforms } from "./conforms.ts";
import { fault, rules } from "./fault.ts";
import { checkGraph } from "./graph.ts";
import { readSchema } from "./read.ts";
import { zerosOf } from "./zero.ts";

/**
 * Checks a `structured_output_schema` before it is armed (contract/v2.md 9.5). A schema that passes has a zero value of
 * bounded size, and any value can be compared with it in bounded time.
 *
 * @throws Failure `invalid`: `structured_output_schema: `, the place, the rule that it breaks.
 */
export function checkSchema(schema: JsonObject): void {
  const model = readSchema(schema);
  checkGraph(model);
  const { value, bytes } = zerosOf(model)(model.root);
  if (bytes > zeroBytesMax) throw fault("", `must have a zero value of at most ${kilobytes(zeroBytesMax)}`);
  if (!isCompiled(schema, value)) throw fault("", rules.schema);
}

/** What Ajv refuses to compile is no schema, whatever else is said for it. */
function isCompiled(schema: JsonObject, zero: Json): boolean {
  try {
    return conforms(schema, zero);
  } catch {
    return false;
  }
}
