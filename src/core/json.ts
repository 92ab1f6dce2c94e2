import { createHash } from "node:crypto";

/** Any JSON value. */
export type Json = null | boolean | number | string | Json[] | { [member: string]: Json };

/** A JSON object. */
export type JsonObject = { [member: string]: Json };

/** JSON with the members of objects in one order. */
function stableJson(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(stableJson).join()}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${stableJson(member)}`).join()}}`;
}

/** SHA-256 of a value, lower-case hex: the same for equal values, whatever order their members came in. */
export const jsonDigest = (value: Json): string => createHash("sha256").update(stableJson(value)).digest("hex");
