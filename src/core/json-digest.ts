import { createHash } from "node:crypto";
import { isObject, type Json } from "./json.ts";

/**
 * JSON with the members of each object sorted by name. Without fractions in numbers it is that of RFC 8785.
 */
export function stableJson(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(stableJson).join()}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${stableJson(member)}`).join()}}`;
}

/** In lower-case hex. The order of members does not matter. */
export const jsonDigest = (value: Json): string =>
  createHash("sha256").update(stableJson(value)).digest("hex");
