import { invalidArgument } from "../../../../../core/failure.ts";
import { type Json, type JsonObject, parseJson } from "../../../../../core/json.ts";
import { head } from "../../tool.ts";
import { cutPart, type Part, partMax, type Reading, readFullText, type Source } from "./text.ts";

const charactersMax = 5_000_000;
/** The most members that an outline names. */
const namedMax = 200;

/**
 * Reads a value of a JSON file by its pointer: the full value, or an outline of it. Invalid JSON is read as
 * text.
 */
export async function readJson(source: Source, { from, pointer }: Part): Promise<Reading> {
  const text = await readFullText(source, charactersMax);
  const whole = parseJson(text);
  if (whole === undefined)
    return { ...cutPart(text.slice(from), from), note: "It is not valid JSON, so this is its text." };
  const value = evaluatePointer(whole, pointer);
  if (value === undefined) throw invalidArgument("pointer", "does not exist in the file");
  const serialized = serialize(value);
  if (serialized === undefined)
    throw invalidArgument("pointer", "selects a value that is nested too deeply to show");
  if (serialized.length <= partMax) return { pointer, value, next: null };
  if (typeof value === "string") return { pointer, ...cutPart(value.slice(from), from) };
  return {
    pointer,
    outline: outlineOf(value),
    note: "Too large to show in full: request a part of it by its pointer.",
    next: null,
  };
}

/** Serializes a value; undefined when it is nested deeper than the stack allows. */
function serialize(value: Json): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

/** Evaluates a JSON Pointer (RFC 6901 4). */
function evaluatePointer(whole: Json, pointer: string): Json | undefined {
  if (pointer === "" || pointer === "/") return whole;
  let value: Json | undefined = whole;
  for (const token of pointer.replace(/^\//, "").split("/")) {
    const name = token.replaceAll("~1", "/").replaceAll("~0", "~");
    if (value === null || typeof value !== "object" || !Object.hasOwn(value, name)) return undefined;
    value = (value as JsonObject)[name];
  }
  return value;
}

function outlineOf(value: Json): Json {
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return { array_of: value.length, first: describe(value[0] ?? null) };
  const names = Object.keys(value);
  const kinds = names
    .slice(0, namedMax)
    .map((name) => [head(name, 100), describe(value[name] ?? null)] as const);
  return { object_of: names.length, members: Object.fromEntries(kinds) };
}

function describe(value: Json): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return `array of ${value.length}`;
  if (typeof value === "object")
    return `object with ${head(Object.keys(value).slice(0, 20).join(", "), 400)}`;
  return typeof value === "string"
    ? `string of ${value.length} characters`
    : `${typeof value} ${String(value)}`;
}
