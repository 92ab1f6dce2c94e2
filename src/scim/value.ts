/** A text that every database can hold. */
export const isText = (value: unknown): value is string => typeof value === "string" && !value.includes("\0") && value.isWellFormed();

/** A boolean, also as Entra ID writes it: `"False"`; undefined for anything else. */
export function truthOf(value: unknown): boolean | undefined {
  if (typeof value === "boolean") return value;
  const word = typeof value === "string" ? value.toLowerCase() : "";
  return word === "true" ? true : word === "false" ? false : undefined;
}
