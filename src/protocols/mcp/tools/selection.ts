import { isQuestion } from "../../../../packages/client/src/index.ts";
import { invalidArgument } from "../../../core/failure.ts";
import { mayCall, type Rights } from "../../../pipeline/access.ts";
import { type Operation, operationTable } from "../../../pipeline/operations.ts";
import { checkShown, mayDecide } from "../../shared/ask.ts";
import { readTask, waitingOf } from "../../shared/turn.ts";
import { jsonResult } from "../results.ts";
import { fileTools } from "./files.ts";
import { generatedTools } from "./generated.ts";
import { callWith, text } from "./input.ts";
import { taskTools } from "./tasks.ts";
import { type Tool, toolName } from "./tool.ts";

/** The operations that are tools by default. The tools of `tasks.ts` and `files.ts` are always there. */
const usual = [
  "task.list",
  "task.detail",
  "task.listMessages",
  "task.stop",
  "schedule.create",
  "schedule.list",
  "schedule.detail",
  "schedule.update",
  "schedule.pause",
  "schedule.resume",
  "schedule.runNow",
  "skill.list",
  "project.list",
  "agentProfile.list",
];
/** The decision on an action. It is a tool only for tokens that may decide, and cannot be selected. */
const approval = "task.confirmAction";

/** The longest text that asks for tools. */
const selectionMax = 1_000;

/**
 * The tools of a caller: the usual ones, or those of a selection, within what the credential may do.
 *
 * @param selection names separated by commas: `default`, `all`, a subject such as `project`, or one operation
 * such as `project.create`; null for the usual tools.
 * @throws Failure `invalid_argument` for a name that selects nothing.
 */
export function selectTools(selection: string | null, caller: Rights): readonly Tool[] {
  const { selectable, decision } = allTools();
  const names = chosen(selectable, selection);
  const tools = selectable.filter(({ name }) => names.has(name));
  if (caller.credential.kind === "token" && mayDecide(caller)) tools.push(decision);
  return tools.filter(({ operation }) => mayCall(operationNamed(operation), caller));
}

/**
 * The scopes of which a token needs one for a tool that it lacks. Null for a tool that the token has, that no
 * token has, or that does not exist, and for the decision on an action, which no client is led to.
 */
export function scopesFor(tool: string, caller: Rights): readonly string[] | null {
  if (caller.credential.kind !== "token") return null;
  const found = allTools().selectable.find(({ name }) => name === tool);
  const operation = found && operationNamed(found.operation);
  const scopes = operation?.access?.anyScope ?? [];
  return operation === undefined || mayCall(operation, caller) || scopes.length === 0 ? null : scopes;
}

interface Named {
  readonly operation: string;
  readonly name: string;
}

function operationNamed(name: string): Operation {
  const operation = operationTable().byName(name);
  if (!operation) throw new Error(`${name} is not an operation`);
  return operation;
}

interface AllTools {
  /** Every tool that a selection can name. */
  readonly selectable: readonly Tool[];
  /** The decision on an action. */
  readonly decision: Tool;
  /** Names of the tools that are there by default. */
  readonly usual: ReadonlySet<string>;
}

let made: AllTools | undefined;

/** All tools, made at the first use. */
function allTools(): AllTools {
  made ??= makeTools();
  return made;
}

function makeTools(): AllTools {
  const composed = [...taskTools(), ...fileTools];
  const taken = new Set(composed.map(({ name }) => name));
  const others = [...generatedTools().keys()]
    .filter((name) => !taken.has(toolName(name)) && name !== approval)
    .map(operationTool);
  return {
    selectable: [...composed, ...others],
    decision: approvalTool(),
    usual: new Set(
      [...composed, ...others.filter(({ operation }) => usual.includes(operation))].map(({ name }) => name),
    ),
  };
}

function chosen(all: readonly Named[], selection: string | null): ReadonlySet<string> {
  const byDefault = allTools().usual;
  if (selection === null || selection === "") return byDefault;
  if (selection.length > selectionMax)
    throw invalidArgument("tools", `must be at most ${selectionMax} characters`);
  const words = selection.split(",").map((word) => word.trim());
  return new Set(
    words.flatMap((word) => {
      if (word === "default") return [...byDefault];
      const found = all.filter(
        ({ name, operation }) =>
          word === "all" || word === operation || word === name || operation.startsWith(`${word}.`),
      );
      if (found.length > 0) return found.map(({ name }) => name);
      throw invalidArgument("tools", `"${word.slice(0, 64)}" is not a tool, an operation or a subject`);
    }),
  );
}

/** The tool of one operation: its input is the request of v2, its result the answer. */
function operationTool(name: string): Tool {
  const tool = generatedTools().get(name);
  if (!tool) throw new Error(`${name} is not an operation`);
  const { isChange, isDestructive } = operationNamed(name);
  return {
    name: toolName(name),
    ...tool,
    annotations: { readOnlyHint: !isChange, destructiveHint: isDestructive },
    run: async (client, input) => jsonResult(await callWith(client, name, input)),
  };
}

/** The decision on an action. One that no result of a tool has shown whole is refused. */
function approvalTool(): Tool {
  const tool = operationTool(approval);
  return {
    ...tool,
    async run(client, input, use) {
      const taskId = text("").read("task_id" in input ? input.task_id : undefined, "task_id");
      const waiting = waitingOf(await readTask(client, taskId));
      if (waiting && !isQuestion(waiting)) checkShown(waiting);
      return tool.run(client, input, use);
    },
  };
}
