// Writes the tools of the Model Context Protocol that are one operation of v2 each: title, description and
// JSON Schema of the input, from `api/openapi.json`. It is plain JavaScript because setup runs it with the
// installed Node.
//
// Usage: node scripts/generate-tools.mjs FOLDER
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The deepest nesting that is written out: a schema that contains itself would never end. */
const depthMax = 8;
/** The longest description of a tool, in characters: each is a part of a model's prompt. */
const descriptionMax = 1_000;
/** Keywords that say nothing to a caller, or that clients of some vendors refuse. */
const dropped = new Set(["format", "examples", "example", "deprecated", "x-event-schema"]);

const { paths, components } = JSON.parse(readFileSync("api/openapi.json", "utf8"));

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * A schema as the input of a tool: references are written out, because not all clients follow them, and an
 * optional member is left out instead of null.
 */
function resolve(schema, depth) {
  const { $ref: reference, ...own } = schema;
  if (depth > depthMax) return {};
  if (typeof reference === "string")
    return resolve({ ...components.schemas[reference.split("/").at(-1)], ...own }, depth);
  return withoutNull(
    Object.fromEntries(Object.entries(own).flatMap(([key, value]) => member(key, value, depth))),
  );
}

function member(key, value, depth) {
  const resolved = (each) => (isObject(each) ? resolve(each, depth + 1) : each);
  if (dropped.has(key)) return [];
  if (key === "properties" && isObject(value))
    return [[key, Object.fromEntries(Object.entries(value).map(([name, each]) => [name, resolved(each)]))]];
  if (Array.isArray(value)) return [[key, value.map(resolved)]];
  return [[key, key === "default" ? value : resolved(value)]];
}

/** A schema that allows null as one of two types, without it. */
function withoutNull(schema) {
  const { type, anyOf, ...more } = schema;
  if (Array.isArray(type) && type.includes("null")) {
    const types = type.filter((one) => one !== "null");
    return { type: types.length === 1 ? types[0] : types, ...more };
  }
  if (Array.isArray(anyOf)) {
    const others = anyOf.filter((one) => !(isObject(one) && one.type === "null"));
    return others.length === 1 && isObject(others[0])
      ? { ...others[0], ...more }
      : { ...more, anyOf: others };
  }
  return schema;
}

function toolOf([operation, { summary: title, description = "", requestBody }]) {
  const request = requestBody?.content["application/json"]?.schema ?? {};
  return {
    operation,
    title,
    // A description that only repeats the title is for OpenAPI.
    description: (description === `${title}.`
      ? description
      : [title, description].join(". ").replace(/\. $/, ".")
    ).slice(0, descriptionMax),
    inputSchema: { properties: {}, ...resolve(request, 0), type: "object" },
  };
}

const isStream = ({ responses }) => "text/event-stream" in (responses[200]?.content ?? {});
const calls = Object.entries(paths).flatMap(([path, { post }]) =>
  path.startsWith("/v2/") && post && !isStream(post) ? [[path.slice("/v2/".length), post]] : [],
);

const folder = process.argv[2] ?? "";
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, "operations.json"), JSON.stringify(calls.map(toolOf)));
