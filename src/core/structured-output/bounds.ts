import { type Failure, invalidArgument } from "../failure.ts";
import type { Json, JsonObject } from "../json.ts";

const nameLengthMax = 64;

/** Faults of a place in a schema. The texts are those of spec/api.md 9.5 where it defines them. */
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

/** The refusal of a schema: `structured_output_schema: `, the dotted path of the place (empty for the root), the broken rule. */
export const schemaFailure = (path: string, rule: string): Failure =>
  invalidArgument("structured_output_schema", path === "" ? rule : `${path}: ${rule}`);

/** A name shortened for a path or an error text, to 64 characters. */
export function shortenName(name: string): string {
  const symbols = [...name.slice(0, 2 * nameLengthMax)];
  return symbols.length > nameLengthMax || name.length > 2 * nameLengthMax ? `${symbols.slice(0, nameLengthMax).join("")}…` : name;
}

const textBytesMax = 64 * 1024;
const nestingMax = 64;

/** The most subschemas of a schema, itself included. */
export const schemasMax = 1_000;

/** The most bytes of the JSON of a schema's zero value. */
export const zeroBytesMax = 64 * 1024;

/**
 * Refuses a schema that is too large or too deep for recursion; every later step relies on this.
 * The check itself does not recurse, and needs no more memory than the schema.
 *
 * @throws Failure `invalid_argument` for a schema of more than 64 kB or nested more than 64 levels deep.
 */
export function checkBounds(schema: JsonObject): void {
  let level: readonly Json[] = [schema];
  let values = 0;
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > nestingMax) throw schemaFailure("", `must not be nested more than ${nestingMax} levels deep`);
    values += level.length;
    // Each value takes a byte or more.
    if (values > textBytesMax) throw tooLarge();
    level = level.flatMap(membersOf);
  }
  if (jsonBytes(schema) > textBytesMax) throw tooLarge();
}

const encoder = new TextEncoder();

/** The bytes of a value's JSON. Pages of the console use it too, so it needs no Node. */
export const jsonBytes = (value: Json): number => encoder.encode(JSON.stringify(value)).length;

const membersOf = (value: Json): Json[] => (value !== null && typeof value === "object" ? Object.values(value) : []);

const tooLarge = () => schemaFailure("", `must be at most ${formatKilobytes(textBytesMax)}`);

/** A size as text. */
export const formatKilobytes = (bytes: number): string => `${bytes / 1024} kB`;
