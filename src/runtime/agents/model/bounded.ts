import type { Json, JsonObject } from "../../../core/json.ts";

/** So many characters of JSON are kept of what a tool gave … */
const resultMax = 32_000;
/** … and so many of each text that it was given. */
const textMax = 4_000;

/** What a tool gave as its event keeps it, and as the model is shown it: whole, or its beginning. */
export function boundedResult(value: Json): Json {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  if (text.length <= resultMax) return value;
  return { beginning: head(text, resultMax), characters: text.length, note: "Too long to be shown whole. Ask for a part of it." };
}

/** What a tool was given as its event keeps it: long texts are cut. */
export const boundedInput = (input: JsonObject): JsonObject =>
  // An object stays one.
  cut(input, 0) as JsonObject;

function cut(value: Json, depth: number): Json {
  if (typeof value === "string") return value.length <= textMax ? value : `${head(value, textMax)} … (${value.length} characters)`;
  if (value === null || typeof value !== "object") return value;
  if (depth >= 20) return "…";
  if (Array.isArray(value)) return value.slice(0, 200).map((item) => cut(item, depth + 1));
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, 200)
      .map(([name, item]) => [name, cut(item, depth + 1)]),
  );
}

/** The beginning of a text, without half a symbol at its end. */
export const head = (text: string, max: number): string => text.slice(0, max).replace(/[\ud800-\udbff]$/, "");
