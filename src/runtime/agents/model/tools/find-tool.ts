import type { Json, JsonObject } from "../../../../core/json.ts";
import type { CallPart } from "../../../../core/tasks/transcript.ts";
import { conformsTo, head, type Tool } from "../tool.ts";
import { createTool, errorResult, successResult } from "./create-tool.ts";

// Definitions of tools are a part of each request. Where there are many, those of connectors are found and used
// by two tools, so that the definitions do not change with the tools of a connector.

/** The most tools whose definitions are in a request, with `plan`. */
const definedMax = 30;
/** The most tools of a result, their characters, and the characters of a description. */
const foundMax = 10;
const charactersMax = 24_000;
const descriptionMax = 2_000;
/** The most words of a search, and the most names after one that finds nothing. */
const wordsMax = 20;
const namesMax = 200;

/** A call, and for a tool that another one uses the name of that one. */
export interface UsedCall extends CallPart {
  readonly through?: string;
}

/** The tools whose definitions a request has, without `plan`. */
export function definedTools(tools: readonly Tool[]): readonly Tool[] {
  if (tools.length < definedMax) return tools;
  const found = tools.filter(({ connector }) => connector !== undefined);
  return [...tools.filter(({ connector }) => connector === undefined), findTool(found), useTool];
}

const findTool = (tools: readonly Tool[]): Tool =>
  createTool<{ readonly query: string }>({
    name: "find_tool",
    description:
      "Finds tools of the connectors by words of their names and descriptions: up to ten, with the schemas of their inputs. Use them with use_tool.",
    properties: { query: { type: "string", minLength: 1, maxLength: 400 } },
    required: ["query"],
    reads: () => true,
    inParts: true,
    brief: ({ query }) => `Find a tool for ${query}`,
    use: async ({ query }) => successResult(find(tools, query)),
  });

function find(tools: readonly Tool[], query: string): Json {
  const words = wordsOf(query).slice(0, wordsMax);
  const score = ({ name, connector }: Tool): number => {
    const [inName, inText] = [wordsOf(name), wordsOf(connector?.description ?? "")];
    return words.reduce((sum, word) => sum + (has(inName, word) ? 3 : has(inText, word) ? 1 : 0), 0);
  };
  const hits = tools
    .map((tool) => ({ tool, score: score(tool) }))
    .filter((each) => each.score > 0)
    .toSorted((one, other) => other.score - one.score);
  if (hits.length === 0)
    return {
      tools: [],
      note: "No tool has one of these words.",
      names: tools.slice(0, namesMax).map(({ name }) => name),
    };
  const shown: JsonObject[] = [];
  let left = charactersMax;
  for (const { tool } of hits.slice(0, foundMax)) {
    const { name, description, inputSchema } = tool;
    const entry = { name, description: head(description, descriptionMax), inputSchema };
    left -= JSON.stringify(entry).length;
    if (left >= 0 || shown.length === 0) shown.push(entry);
  }
  return { tools: shown, ...(hits.length > shown.length ? { more: hits.length - shown.length } : {}) };
}

const wordsOf = (text: string): readonly string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** Whether a word is there, or from three characters on the beginning of one: `water` finds `waters`. */
const has = (words: readonly string[], wanted: string): boolean =>
  words.some((word) => word === wanted || (wanted.length > 2 && word.startsWith(wanted)));

interface Input {
  readonly name: string;
  readonly input?: JsonObject;
}

/** Used for a tool that exists, it is that tool: see `innerCall`. */
const useTool: Tool = createTool<Input>({
  name: "use_tool",
  description: "Uses a tool that find_tool has found, with an input that fits its schema.",
  properties: { name: { type: "string", minLength: 1, maxLength: 64 }, input: { type: "object" } },
  required: ["name"],
  brief: ({ name }) => `Use ${name}`,
  use: async ({ name }) => errorResult(`There is no tool ${name}. Find it with find_tool.`),
});

/** The call as rules, approvals and events see it: of the tool that `use_tool` uses. */
export function innerCall(tools: ReadonlyMap<string, Tool>, call: CallPart): UsedCall {
  const { toolName, input } = call;
  if (toolName !== useTool.name || !conformsTo<Input>(useTool.inputSchema, input)) return call;
  if (tools.get(input.name)?.connector === undefined) return call;
  return { ...call, toolName: input.name, input: input.input ?? {}, through: toolName };
}

/** What a model reads after a wrong input of a tool whose schema it may not have read. */
export const withSchema = (fault: string, { inputSchema }: Pick<Tool, "inputSchema">): string =>
  `${fault} Its schema: ${JSON.stringify(inputSchema)}`;
