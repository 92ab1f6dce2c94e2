import type { ConnectorTool } from "../core/connectors/connector.ts";
import { ServerFault, type ToolAnswer } from "../core/connectors/server.ts";
import { boundedSchema } from "../core/connectors/tool-schema.ts";
import type { Json } from "../core/json.ts";

/** So many tools of one server are known. */
const toolsMax = 200;
const descriptionMax = 2_000;
/** Characters of the JSON of a result. */
const resultMax = 1024 * 1024;
/** Protobuf and JSON are read to a depth of 100 (contract/decisions.md 21), with what stands around it. */
const depthMax = 50;
/** Characters of the JSON of one tool's schema. */
const schemaMax = 32_000;

/** What a server says of its tools, within bounds; what is no tool, or has no name that can be called, is left out. */
export function boundedTools(found: readonly unknown[]): readonly ConnectorTool[] {
  const tools = new Map<string, ConnectorTool>();
  for (const each of found) {
    const tool = toolOf(each);
    if (tool !== null && !tools.has(tool.name) && tools.size < toolsMax) tools.set(tool.name, tool);
  }
  return [...tools.values()];
}

function toolOf(found: unknown): ConnectorTool | null {
  const { name, description, inputSchema } = found as { name?: unknown; description?: unknown; inputSchema?: unknown }; // the SDK lets objects through alone
  if (typeof name !== "string" || !/^[A-Za-z0-9_.-]{1,64}$/.test(name)) return null;
  const schema = boundedSchema(inputSchema);
  if (schema === null) return null;
  const isLong = JSON.stringify(schema).length > schemaMax;
  return {
    name,
    description: typeof description === "string" ? sound(description.slice(0, descriptionMax)) : "",
    inputSchema: isLong ? { type: "object" } : (soundJson(schema) as ConnectorTool["inputSchema"]),
  };
}

/** Without what no database keeps: U+0000, and halves of symbols. */
const sound = (text: string): string => text.toWellFormed().replaceAll("\u0000", "\ufffd");

/** @throws ServerFault `too_large` for what is nested deeper than whoever is given it reads. */
function soundJson(value: Json, depth = 0): Json {
  if (typeof value === "string") return sound(value);
  if (value === null || typeof value !== "object") return value;
  if (depth > depthMax) throw new ServerFault("too_large");
  if (Array.isArray(value)) return value.map((inner) => soundJson(inner, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [sound(name), soundJson(inner, depth + 1)]));
}

/**
 * What a tool answered, within bounds: its texts, its structured value, and of everything else only what kind it is.
 *
 * @throws ServerFault `too_large`.
 */
export function boundedAnswer(answer: unknown): ToolAnswer {
  const { content = [], structuredContent, isError } = answer as { content?: unknown; structuredContent?: Json; isError?: unknown }; // as the SDK has checked it
  const parts = Array.isArray(content) ? content.map(partOf) : [];
  const value: Json = structuredContent === undefined ? (parts.length === 1 ? (parts[0] ?? null) : parts) : structuredContent;
  if (JSON.stringify(value).length > resultMax) throw new ServerFault("too_large");
  return { value: soundJson(value), isError: isError === true };
}

function partOf(part: {
  readonly type?: unknown;
  readonly text?: unknown;
  readonly mimeType?: unknown;
  readonly resource?: unknown;
}): Json {
  if (part.type === "text" && typeof part.text === "string") return part.text;
  const { text } = (part.resource ?? {}) as { readonly text?: unknown }; // as the SDK has checked it
  if (part.type === "resource" && typeof text === "string") return text;
  const kind = typeof part.type === "string" ? part.type.slice(0, 50) : "unknown";
  return {
    type: kind,
    note: "This kind of content is not shown.",
    ...(typeof part.mimeType === "string" ? { mimeType: part.mimeType.slice(0, 100) } : {}),
  };
}
