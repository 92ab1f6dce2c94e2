import type { ConnectorTool } from "../../core/connectors/connector.ts";
import { ServerFault, type ToolAnswer } from "../../core/connectors/server.ts";
import { isObject, type Json, type JsonObject } from "../../core/json.ts";

/** The maximum number of values in a schema, with resolved references. */
const nodesMax = 2_000;
const schemaDepthMax = 16;
const textMax = 1_000;

/**
 * Keywords whose values are kept. `pattern` is not kept, because a malicious pattern can take very long to
 * match.
 */
const plainKeywords = new Set(
  "type title description enum const default format minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength minItems maxItems minProperties maxProperties".split(
    " ",
  ),
);
const schemaKeywords = new Set(["items", "additionalProperties", "not"]);
const schemaListKeywords = new Set(["anyOf", "oneOf", "allOf", "prefixItems"]);

/**
 * A tool's schema from a server, within bounds: only known keywords, with local references resolved, and
 * without keywords that can take long to check. Parts beyond the bounds allow any value, because the server
 * checks its input.
 *
 * @returns null if it is not the schema of an object.
 */
function boundedSchema(schema: unknown): JsonObject | null {
  if (!isObject(schema) || (schema["type"] ?? "object") !== "object") return null;
  let nodes = 0;

  function read(value: Json | undefined, depth: number): Json {
    nodes += 1;
    if (typeof value === "boolean") return value;
    if (!isObject(value) || depth > schemaDepthMax || nodes > nodesMax) return {};
    const { $ref } = value;
    if (typeof $ref === "string") return read(resolveReference(schema as JsonObject, $ref), depth + 1);
    return Object.fromEntries(
      Object.entries(value).flatMap(([keyword, inner]) => member(keyword, inner, depth)),
    );
  }

  function member(keyword: string, inner: Json, depth: number): [string, Json][] {
    if (plainKeywords.has(keyword)) return [[keyword, shortened(inner, depth)]];
    if (schemaKeywords.has(keyword)) return [[keyword, read(inner, depth + 1)]];
    if (schemaListKeywords.has(keyword) && Array.isArray(inner) && inner.length > 0)
      return [[keyword, inner.slice(0, 100).map((one) => read(one, depth + 1))]];
    if (keyword === "required" && Array.isArray(inner))
      return [[keyword, [...new Set(inner.filter((name) => typeof name === "string"))]]];
    if (keyword === "properties" && isObject(inner))
      return [[keyword, mapEach(inner, (one) => read(one, depth + 1))]];
    return [];
  }

  function shortened(value: Json, depth: number): Json {
    nodes += 1;
    if (typeof value === "string") return value.slice(0, textMax);
    if (value === null || typeof value !== "object") return value;
    if (depth > schemaDepthMax || nodes > nodesMax) return null;
    return Array.isArray(value)
      ? value.slice(0, 500).map((one) => shortened(one, depth + 1))
      : mapEach(value, (one) => shortened(one, depth + 1));
  }

  const bounded = read(schema, 0);
  return isObject(bounded) ? { ...bounded, type: "object" } : null;
}

const mapEach = (object: JsonObject, each: (value: Json) => Json): JsonObject =>
  Object.fromEntries(
    Object.entries(object)
      .slice(0, 200)
      .map(([name, value]) => [name, each(value)]),
  );

/** Resolves a reference like `#/$defs/Point`; undefined for other documents and missing targets. */
function resolveReference(schema: JsonObject, reference: string): Json | undefined {
  if (!reference.startsWith("#/")) return undefined;
  let at: Json | undefined = schema;
  for (const part of reference.slice(2).split("/")) {
    const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
    at = isObject(at) && Object.hasOwn(at, name) ? at[name] : undefined;
  }
  return at;
}

/** The maximum number of tools per server. */
const toolsMax = 200;
const descriptionMax = 2_000;
/** The maximum length of a result's JSON, in characters. */
const resultMax = 1024 * 1024;
/**
 * The maximum nesting. Protobuf and JSON are read to a depth of 100 (spec/decisions.md 21), including the
 * enclosing message.
 */
const depthMax = 50;
/** The maximum length of the JSON of one tool's schema, in characters. */
const schemaMax = 32_000;

/** A server's list of tools, within bounds. Invalid tools, and tools without a callable name, are omitted. */
export function boundedTools(found: readonly unknown[]): readonly ConnectorTool[] {
  const tools = new Map<string, ConnectorTool>();
  for (const each of found) {
    const tool = toolOf(each);
    if (tool !== null && !tools.has(tool.name) && tools.size < toolsMax) tools.set(tool.name, tool);
  }
  return [...tools.values()];
}

function toolOf(found: unknown): ConnectorTool | null {
  const { name, description, inputSchema, annotations } = found as {
    name?: unknown;
    description?: unknown;
    inputSchema?: unknown;
    annotations?: { readOnlyHint?: unknown; idempotentHint?: unknown };
  }; // the SDK only passes objects, and has checked annotations
  if (typeof name !== "string" || !/^[A-Za-z0-9_.-]{1,64}$/.test(name)) return null;
  const schema = boundedSchema(inputSchema);
  if (schema === null) return null;
  const isLong = JSON.stringify(schema).length > schemaMax;
  return {
    name,
    description: typeof description === "string" ? storable(description.slice(0, descriptionMax)) : "",
    inputSchema: isLong ? { type: "object" } : (storableJson(schema) as ConnectorTool["inputSchema"]),
    ...((annotations?.readOnlyHint === true || annotations?.idempotentHint === true) && {
      isIdempotent: true,
    }),
  };
}

/** Replaces characters that PostgreSQL cannot store: U+0000 and lone surrogates. */
const storable = (text: string): string => text.toWellFormed().replaceAll("\u0000", "\ufffd");

/** @throws ServerFault `too_large` for a nesting that readers do not accept. */
function storableJson(value: Json, depth = 0): Json {
  if (typeof value === "string") return storable(value);
  if (value === null || typeof value !== "object") return value;
  if (depth > depthMax) throw new ServerFault("too_large");
  if (Array.isArray(value)) return value.map((inner) => storableJson(inner, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [storable(name), storableJson(inner, depth + 1)]),
  );
}

/**
 * A tool's answer, within bounds: its texts, its structured value, its pictures, and only the type of any other
 * content.
 *
 * @throws ServerFault `too_large`.
 */
export function boundedAnswer(answer: unknown): ToolAnswer {
  const {
    content = [],
    structuredContent,
    isError,
  } = answer as { content?: unknown; structuredContent?: Json; isError?: unknown }; // as the SDK has checked it
  const parts = Array.isArray(content) ? content.map(partOf) : [];
  const value: Json =
    structuredContent === undefined ? (parts.length === 1 ? (parts[0] ?? null) : parts) : structuredContent;
  if (JSON.stringify(value).length > resultMax) throw new ServerFault("too_large");
  const images = Array.isArray(content) ? content.flatMap(pictureOf).slice(0, imagesMax) : [];
  return { value: storableJson(value), isError: isError === true, ...(images.length > 0 && { images }) };
}

/** The most pictures of an answer. */
const imagesMax = 20;

const pictureOf = ({
  type,
  data,
}: {
  readonly type?: unknown;
  readonly data?: unknown;
}): readonly string[] => (type === "image" && typeof data === "string" ? [data] : []);

function partOf(part: {
  readonly type?: unknown;
  readonly text?: unknown;
  readonly mimeType?: unknown;
  readonly resource?: unknown;
}): Json {
  if (part.type === "text" && typeof part.text === "string") return part.text;
  const { text } = (part.resource ?? {}) as { text?: unknown }; // as the SDK has checked it
  if (part.type === "resource" && typeof text === "string") return text;
  const kind = typeof part.type === "string" ? part.type.slice(0, 50) : "unknown";
  return {
    type: kind,
    ...(kind === "image" ? {} : { note: "This kind of content is not shown." }),
    ...(typeof part.mimeType === "string" ? { mimeType: part.mimeType.slice(0, 100) } : {}),
  };
}
