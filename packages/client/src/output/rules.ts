import type { JsonObject, JsonValue } from "../json.ts";

/** Keywords that only bound a value. The wire has none of them: they become words of the description. */
const bounds: Readonly<Record<string, (value: string) => string>> = {
  format: (value) => `format ${value}`,
  pattern: (value) => `matches ${value}`,
  contentEncoding: (value) => `encoded as ${value}`,
  minLength: (value) => `at least ${value} characters`,
  maxLength: (value) => `at most ${value} characters`,
  minimum: (value) => `at least ${value}`,
  maximum: (value) => `at most ${value}`,
  exclusiveMinimum: (value) => `greater than ${value}`,
  exclusiveMaximum: (value) => `less than ${value}`,
  multipleOf: (value) => `a multiple of ${value}`,
  minItems: (value) => `at least ${value} items`,
  maxItems: (value) => `at most ${value} items`,
  uniqueItems: () => "no item twice",
};

/**
 * The bounds that a schema states, as words. The pattern of a format says the same as the format; integers
 * are safe anyway.
 */
export const boundsIn = (schema: JsonObject): readonly string[] =>
  Object.entries(bounds).flatMap(([keyword, words]) => {
    const value = schema[keyword];
    const isSaid =
      (keyword === "pattern" && "format" in schema) ||
      value === Number.MAX_SAFE_INTEGER ||
      value === Number.MIN_SAFE_INTEGER;
    return value === undefined || value === false || isSaid ? [] : [words(String(value))];
  });

/** The description of a place, with its bounds. */
export function describe(
  description: JsonValue | undefined,
  rules: readonly string[],
): { readonly description?: string } {
  const text = typeof description === "string" ? description : "";
  const words = [text, ...(rules.length === 0 ? [] : [`Rules: ${rules.join("; ")}.`])]
    .filter(Boolean)
    .join(" ");
  return words === "" ? {} : { description: words };
}

/** Keywords that decide what a value is. Two parts of `allOf` cannot both state one. */
export const deciding: readonly string[] = [
  "type",
  "enum",
  "const",
  "items",
  "anyOf",
  "oneOf",
  "propertyNames",
];

/** Keywords that decide too, and that the wire cannot say. */
export const unsaid: readonly string[] = [
  "not",
  "if",
  "prefixItems",
  "patternProperties",
  "contains",
  "minProperties",
  "maxProperties",
  "dependentRequired",
  "dependentSchemas",
  "$dynamicRef",
];
