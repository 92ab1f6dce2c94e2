import { defined } from "../../../core/defined.ts";
import { Failure } from "../../../core/failure.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import {
  allowedBy,
  evaluate,
  type PermissionLevel,
  type PermissionUse,
  type PermissionVerdict,
} from "../../../core/permissions/evaluate.ts";
import { workspacePath } from "../../../core/workspaces/workspace.ts";
import type { Decision, Turn } from "../../agent.ts";
import type { Tool, ToolResult } from "./tool.ts";
import { errorResult, refusedResult } from "./tools/create-tool.ts";

// Permissions of uses of tools (docs/guides/permissions.md). They are looked up before each use, so that only
// a use that a person has to decide ends the run.

/** Decides a use by the task's rules, and by `more`. */
export const permit = (
  { permit: decide }: Pick<Turn, "permit">,
  use: PermissionUse,
  more: readonly PermissionLevel[] = [],
): Promise<PermissionVerdict> | PermissionVerdict => decide?.(use, more) ?? evaluate(more, use);

/** The result of a use that a rule denies. */
export function deniedResult({ by }: PermissionVerdict): ToolResult {
  const rule = by ? `: ${by.rule.tool} ${by.rule.pattern}, by the rules of the ${by.source}` : "";
  return refusedResult(`A rule denies this${rule}. Do not try it in another way; say that you need it.`);
}

interface Using {
  readonly turn: Pick<Turn, "permit">;
  readonly tool: Tool;
  readonly input: JsonObject;
  /** The decisions on this use. */
  readonly decisions: readonly Decision[];
}

/** How a use is permitted. */
export interface Permitted {
  /** True for a tool that requests the approval itself, as a rule wants it. */
  readonly asks: boolean;
  /** Takes the verdict that allowed a request of the use. */
  readonly onAllowed: (verdict: PermissionVerdict) => void;
}

/** Uses a tool if its permissions allow that, or a person has. The result says which rule has allowed it. */
export async function usePermitted(
  { turn, tool, input, decisions }: Using,
  use: (permitted: Permitted) => Promise<ToolResult>,
): Promise<ToolResult> {
  const seen = seenByRules(tool, input);
  if (typeof seen === "string") return errorResult(seen);
  const { own, write } = seen;
  const [ofOwn, ofWrite] = await Promise.all([permit(turn, own), write && permit(turn, write)]);
  const denied = [ofOwn, ofWrite].find((each) => each?.decision === "deny");
  if (denied) return deniedResult(denied);
  const asks = ofOwn.decision === "ask";
  const asked = asks && !tool.asksItself ? tool.name : ofWrite?.decision === "ask" ? "write" : null;
  if (asked !== null) {
    // A tool that asks itself asks by other kinds.
    const decision = decisions.findLast(({ kind }) => !tool.asksItself || kind === "agentToolAction");
    if (decision === undefined) return { kind: "end", outcome: approvalOf({ ...tool, name: asked }, input) };
    if (!decision.accepted) return refusedResult("The user refused this use.");
  }
  let verdict = ofOwn.by ? ofOwn : (ofWrite ?? ofOwn);
  const result = await use({ asks, onAllowed: (ofRequest) => (verdict = ofRequest) });
  const isDecided = result.kind === "end" || decisions.length > 0;
  return isDecided ? result : { ...result, ...defined({ allowedBy: allowedBy(verdict) }) };
}

interface Seen {
  readonly own: PermissionUse;
  /** The file that the use changes: rules for `write` are for it, in addition to those for the tool. */
  readonly write?: PermissionUse;
}

/** A use as rules see it; a text says why the input cannot be used. */
function seenByRules({ name, permission, writes }: Tool, input: JsonObject): Seen | string {
  const { path } = input;
  const [more, written] = [permission?.(input), writes?.(input)];
  const pathsOf = (of: Json | undefined) => (typeof of === "string" ? [workspacePath(of)] : []);
  try {
    const subjects = more?.subjects ? [] : pathsOf(path);
    const own = { tool: name, subjects, isEffect: false, ...more };
    if (written === undefined) return { own };
    const besides = written === path ? { besides: name } : {};
    return { own, write: { tool: "write", subjects: pathsOf(written), isEffect: false, ...besides } };
  } catch (thrown) {
    if (thrown instanceof Failure && thrown.reason === "invalid_argument") return thrown.message;
    throw thrown;
  }
}

function approvalOf(
  { name, brief, approval }: Tool,
  input: JsonObject,
): Extract<ToolResult, { kind: "end" }>["outcome"] {
  const request = approval?.(input) ?? {
    action: "agentToolAction",
    variant: "",
    tool: name,
    description: `Use ${name}: ${brief(input)}`,
    params: input,
  };
  return { kind: "confirm", ...request, isChecked: true };
}
