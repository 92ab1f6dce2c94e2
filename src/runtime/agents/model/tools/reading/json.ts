import { invalid } from "../../../../../core/failure.ts";
import type { Json, JsonObject } from "../../../../../core/json.ts";
import { head } from "../../bounded.ts";
import type { Part, Reading, Source } from "./source.ts";
import { partMax, textPart, wholeText } from "./text.ts";

const charactersMax = 5_000_000;
/** Members that an outline names. */
const namedMax = 200;

/** A value of a JSON file by its pointer: whole, or an outline of what it holds. What is no JSON is read as text. */
export async function readJson(source: Source, { from, pointer }: Part): Promise<Reading> {
  const text = await wholeText(source, charactersMax);
  const parsed = parse(text);
  if (!parsed) return { ...textPart(text.slice(from), from), note: "It is not valid JSON, so this is its text." };
  const value = at(parsed.value, pointer);
  if (value === undefined) throw invalid("pointer", "names nothing in the file");
  const shown = write(value);
  if (shown === undefined) throw invalid("pointer", "names a value that is nested too deep to be shown");
  if (shown.length <= partMax) return { pointer, value, next: null };
  if (typeof value === "string") return { pointer, ...textPart(value.slice(from), from) };
  return { pointer, outline: outlineOf(value), note: "Too large to be shown whole: ask for a part of it by its pointer.", next: null };
}

function parse(text: string): { readonly value: Json } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/** Undefined for what is nested deeper than the stack. */
function write(value: Json): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

/** RFC 6901 4. */
function at(whole: Json, pointer: string): Json | undefined {
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
  if (Array.isArray(value)) return { array_of: value.length, first: kindOf(value[0] ?? null) };
  const names = Object.keys(value);
  const kinds = names.slice(0, namedMax).map((name) => [head(name, 100), kindOf(value[name] ?? null)] as const);
  return { object_of: names.length, members: Object.fromEntries(kinds) };
}

/** In a few words. */
function kindOf(value: Json): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return `array of ${value.length}`;
  if (typeof value === "object") return `object with ${head(Object.keys(value).slice(0, 20).join(", "), 400)}`;
  return typeof value === "string" ? `string of ${value.length} characters` : `${typeof value} ${String(value)}`;
}
