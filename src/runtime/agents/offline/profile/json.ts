import type { Json } from "../../../../core/json.ts";
import { isObject } from "../../../../core/structured-output/keywords.ts";
import { parseJson } from "../json.ts";
import { count, someOf } from "../words.ts";

/** The kind of a JSON text's value, and its keys or items; undefined for what is no JSON. */
export function jsonProfile(text: string): readonly string[] | undefined {
  const parsed = parseJson(text);
  if (!parsed) return undefined;
  const { value } = parsed;
  if (Array.isArray(value)) return [`a JSON array of ${count(value.length, "item")}`, ...itemsOf(value)];
  if (isObject(value)) return [`a JSON object with ${keysOf(value)}`];
  return [`a JSON ${kindOf(value)}`];
}

/** What the items are, and the keys that the first object among them has. */
function itemsOf(items: readonly Json[]): readonly string[] {
  const kinds = [...new Set(items.map(kindOf))];
  const first = items.find(isObject);
  return [...(kinds.length === 0 ? [] : [`items: ${someOf(kinds)}`]), ...(first === undefined ? [] : [`first object: ${keysOf(first)}`])];
}

function keysOf(object: object): string {
  const keys = Object.keys(object);
  return keys.length === 0 ? "no keys" : `${count(keys.length, "key")}: ${someOf(keys)}`;
}

function kindOf(value: Json): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}
