import { type Failure, invalid } from "../failure.ts";

const nameLengthMax = 64;

/** What is wrong with a place of a schema, in the words of contract/v2.md 9.5 where it has any. */
export const rules = {
  additionalProperties: '"additionalProperties" must be set to false',
  required: '"required" must include all properties',
  type: 'must have a "type" field',
  schema: "not a valid JSON Schema",
  rootType: '"type" must be "object"',
  onlyProperties: '"required" must include only properties',
  items: 'must have an "items" field',
  plainEntries: '"enum" must not hold objects or arrays',
} as const;

/** The refusal of a schema: `structured_output_schema: `, the dotted path of the place (empty for the root), the rule it breaks. */
export const fault = (path: string, rule: string): Failure => invalid("structured_output_schema", path === "" ? rule : `${path}: ${rule}`);

/** A name as it stands in a path or a rule: no longer than a reader needs. */
export function shortened(name: string): string {
  const symbols = [...name.slice(0, 2 * nameLengthMax)];
  return symbols.length > nameLengthMax || name.length > 2 * nameLengthMax ? `${symbols.slice(0, nameLengthMax).join("")}…` : name;
}
