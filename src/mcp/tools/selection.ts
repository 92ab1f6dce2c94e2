import { checkShown } from "../../doors/ask.ts";
import { type Caller, type Operations, Refusal } from "../../doors/operations.ts";
import { isQuestion, readTask, waitingOf } from "../../doors/turn.ts";
import { type Catalogue, readCatalogue } from "../catalogue.ts";
import { jsonResult } from "../results.ts";
import { fileTools } from "./files.ts";
import { textIn } from "./input.ts";
import { taskTools } from "./tasks.ts";
import { type Tool, toolName } from "./tool.ts";

/** The operations that are tools by default. The tools of `tasks.ts` and `files.ts` are always there. */
const usual = [
  ...["task.list", "task.detail", "task.listMessages", "task.stop"],
  ...["schedule.create", "schedule.list", "schedule.detail", "schedule.update", "schedule.pause", "schedule.resume", "schedule.runNow"],
  ...["skill.list", "project.list", "agentProfile.list"],
];
/** The decision on an action. It is a tool only for tokens with this scope, and cannot be selected. */
const approval = "task.confirmAction";
export const approvalScope = "approve:task";

/** The longest text that asks for tools. */
const selectionMax = 1_000;

/**
 * The tools of a caller: the usual ones, or those of a selection, within what the credential may do.
 *
 * @param selection names separated by commas: `default`, `all`, a subject such as `project`, or one operation such as
 * `project.create`; null for the usual tools.
 * @throws Refusal `invalid_argument` for a name that selects nothing.
 */
export function selectTools(catalogue: Catalogue, selection: string | null, caller: Caller): readonly Tool[] {
  const own = [...taskTools(catalogue), ...fileTools];
  const taken = new Set(own.map(({ name }) => name));
  const generated = [...catalogue.keys()].filter((name) => !taken.has(toolName(name)) && name !== approval);
  const names = chosen([...own.map(({ operation, name }) => ({ operation, name })), ...generated.map(named)], selection);
  const tools = [...own, ...generated.map((name) => operationTool(catalogue, name))].filter(({ name }) => names.has(name));
  if (caller.kind === "token" && caller.scopes?.includes(approvalScope)) tools.push(approvalTool(catalogue));
  return tools.filter(({ operation }) => isAllowed(catalogue, operation, caller));
}

/**
 * The scopes of which a token needs one for a tool that it lacks. Null for a tool that the token has, that no token has, or
 * that does not exist, and for the decision on an action, which no client is led to.
 */
export function scopesFor(catalogue: Catalogue, tool: string, caller: Caller): readonly string[] | null {
  const own = [...taskTools(catalogue), ...fileTools].find(({ name }) => name === tool)?.operation;
  const operation = own ?? [...catalogue.keys()].find((name) => toolName(name) === tool);
  if (operation === undefined || operation === approval || caller.kind !== "token" || isAllowed(catalogue, operation, caller)) return null;
  const scopes = catalogue.get(rightsOf(operation))?.scopes ?? [];
  return scopes.length === 0 ? null : scopes;
}

/**
 * Creates the list of a caller's tools. Only the catalogue, the selection and the credential decide: no text of a task or a
 * skill is read.
 */
export const toolsOf =
  (operations: Pick<Operations, "caller">, selection: string | null) =>
  async (signal: AbortSignal): Promise<readonly Tool[]> =>
    selectTools(await readCatalogue(), selection, await operations.caller(signal));

interface Named {
  readonly operation: string;
  readonly name: string;
}
const named = (operation: string): Named => ({ operation, name: toolName(operation) });

/** A stream is not an operation of the catalogue: task.watch is open to the callers of task.detail. */
const rightsOf = (operation: string): string => (operation === "task.watch" ? "task.detail" : operation);

const isAllowed = (catalogue: Catalogue, operation: string, caller: Caller): boolean =>
  catalogue.get(rightsOf(operation))?.allows(caller) === true;

function chosen(all: readonly Named[], selection: string | null): ReadonlySet<string> {
  const byDefault = all.filter(({ name, operation }) => usual.includes(operation) || composed.has(name)).map(({ name }) => name);
  if (selection === null || selection === "") return new Set(byDefault);
  if (selection.length > selectionMax) throw new Refusal("invalid_argument", `tools: must be at most ${selectionMax} characters`);
  const words = selection.split(",").map((word) => word.trim());
  return new Set(
    words.flatMap((word) => {
      if (word === "default") return byDefault;
      const found = all.filter(
        ({ name, operation }) => word === "all" || word === operation || word === name || operation.startsWith(`${word}.`),
      );
      if (found.length > 0) return found.map(({ name }) => name);
      throw new Refusal("invalid_argument", `tools: "${word.slice(0, 64)}" is not a tool, an operation or a subject`, { field: "tools" });
    }),
  );
}

/** Names of the tools that are more than one operation. */
const composed: ReadonlySet<string> = new Set([...taskTools(new Map()), ...fileTools].map(({ name }) => name));

/** The tool of one operation: its input is the request of v2, its result the answer. */
function operationTool(catalogue: Catalogue, name: string): Tool {
  const facts = catalogue.get(name);
  if (!facts) throw new Error(`${name} is not an operation`);
  const { title, description, input, isRead } = facts;
  return {
    ...{ name: toolName(name), operation: name, title, description, inputSchema: { ...input } },
    annotations: { readOnlyHint: isRead, destructiveHint: /\.(delete|remove|unpublish|cancel|rollback)/i.test(name) },
    run: async (request, { operations, signal }) => jsonResult(await operations.call(name, request, signal)),
  };
}

/** The decision on an action. One that no result of a tool has shown whole is refused. */
function approvalTool(catalogue: Catalogue): Tool {
  const tool = operationTool(catalogue, approval);
  return {
    ...tool,
    async run(request, use) {
      const waiting = waitingOf(await readTask(use.operations, textIn(request, "task_id"), use.signal));
      if (waiting && !isQuestion(waiting)) checkShown(waiting);
      return tool.run(request, use);
    },
  };
}
