import type { Json, JsonObject } from "../json.ts";
import { formatKilobytes, schemaFailure, zeroBytesMax } from "./bounds.ts";
import { checkGraph } from "./node.ts";
import { readSchema } from "./read.ts";
import { zeroValues } from "./zero.ts";

/**
 * The rules of `checkSchema`, without its validator. The console checks what is typed with it, so it needs no Node.
 *
 * @returns the zero value of the schema.
 * @throws Failure `invalid_argument`: `structured_output_schema: `, the place, the broken rule.
 */
export function checkShape(schema: JsonObject): Json {
  const model = readSchema(schema);
  checkGraph(model);
  const { value, bytes } = zeroValues(model)(model.root);
  if (bytes > zeroBytesMax) throw schemaFailure("", `must have a zero value of at most ${formatKilobytes(zeroBytesMax)}`);
  return value;
}
