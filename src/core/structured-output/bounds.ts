import { invalidArgument } from "../failure.ts";
import type { Json, JsonObject } from "../json.ts";

/** Rules for a place in a schema. The texts are those of spec/api.md 9.5 where it defines them. */
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

/**
 * Refuses a schema in which a rule does not hold.
 *
 * @param path the place, dotted from the root; empty for the root.
 * @throws Failure `invalid_argument`: `structured_output_schema: `, the place, the rule.
 */
export function must(holds: unknown, path: string, rule: string = rules.schema): asserts holds {
  if (!holds) throw invalidArgument("structured_output_schema", path === "" ? rule : `${path}: ${rule}`);
}

/** A name shortened for a path or an error text, to 64 characters. */
export function shortenName(name: string): string {
  const start = [...name.slice(0, 128)].slice(0, 64).join("");
  return start.length < name.length ? `${start}…` : name;
}

const nestingMax = 64;
const kilobytesMax = 64;

/** Refuses a schema above 64 kB. Another `verb` than "be" names what of the schema has these bytes. */
export const checkBytes = (bytes: number, verb = "be"): void =>
  must(bytes <= kilobytesMax * 1024, "", `must ${verb} at most ${kilobytesMax} kB`);

/**
 * Refuses a schema above 64 kB or 64 levels; every later step relies on this.
 * The check itself does not recurse, and needs no more memory than the schema.
 */
export function checkBounds(schema: JsonObject): void {
  let level: readonly Json[] = [schema];
  for (let depth = 0; level.length > 0; depth += 1) {
    must(depth <= nestingMax, "", `must not be nested more than ${nestingMax} levels deep`);
    // Each value takes a byte or more.
    checkBytes(level.length);
    level = level.flatMap((value) =>
      value !== null && typeof value === "object" ? Object.values(value) : [],
    );
  }
  checkBytes(jsonBytes(schema));
}

/** The bytes of a value's JSON. Pages of the console use it too, so it needs no Node. */
export const jsonBytes = (value: Json): number => new TextEncoder().encode(JSON.stringify(value)).length;
