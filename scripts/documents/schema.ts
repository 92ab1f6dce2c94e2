/** A part of a document, as JSON. */
export type Json = { readonly [member: string]: unknown };

/** A value that `schema` describes, or null. */
export function orNull(schema: Json): Json {
  if (typeof schema["type"] !== "string") {
    const { description, ...rest } = schema;
    // A schema without rules already describes null.
    if (Object.keys(rest).length === 0) return schema;
    return { anyOf: [rest, { type: "null" }], ...(description === undefined ? {} : { description }) };
  }
  const words = schema["enum"];
  return {
    ...schema,
    type: [schema["type"], "null"],
    ...(Array.isArray(words) ? { enum: [...words, null] } : {}),
  };
}

/** Without the members that are undefined. */
export const defined = (members: Json): Json =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));

/** A comment for readers of a document: its citations of the specification are left out. */
export const prose = (paragraphs: readonly string[]): string =>
  paragraphs
    .join("\n\n")
    .replaceAll(/ ?\((?:ours, )?spec\/[^)]*\)/g, "")
    .trim();

/** With a description, unless it is empty. */
export const described = (schema: Json, description: string): Json =>
  description === "" ? schema : { ...schema, description };
