import { Failure } from "../../../core/failure.ts";
import { isObject, type JsonObject, parseJson } from "../../../core/json.ts";
import { toolSpan } from "../../../core/span-names.ts";
import type { EventPayloads } from "../../../core/tasks/event.ts";
import { traced } from "../../../core/trace.ts";
import type { AgentEvent, Outcome, Progress } from "../../agent.ts";
import { requestChecks, Unapproved } from "./addresses.ts";
import type { RequestedCall } from "./answer.ts";
import type { FinishedUse, OpenUse } from "./conversation.ts";
import { planEvents, planTool } from "./plan.ts";
import { createMemo, type Run, readMemo } from "./run.ts";
import { reserve } from "./step.ts";
import {
  boundInput,
  boundResult,
  describeMismatch,
  head,
  type Tool,
  type ToolResult,
  type ToolUse,
} from "./tool.ts";
import { waitedStates, waitName } from "./tools/subtasks.ts";

/** The most characters of a tool's input. The full input is stored while the use waits for a decision. */
const inputMax = 256_000;
const briefMax = 200;

/** Runs a tool call of the model. Yields its `tool_used` event, or returns the end of the turn. */
export async function* useTool(
  run: Run,
  callId: string,
  { name, input: text }: RequestedCall,
): AsyncGenerator<Progress, Outcome | null, void> {
  const input = parseInput(text);
  const tool = run.tools.get(name);
  const fault = input
    ? inputFault(name === planTool.name ? planTool : tool, input)
    : "The input is not a JSON object, or too large.";
  if (fault !== null || !input) {
    yield run.record([
      usedEvent({ callId, tool: name, input: input ?? {} }, "The tool could not be used", {
        kind: "result",
        value: fault,
        isError: true,
      }),
    ]);
    return null;
  }
  if (name === planTool.name) {
    yield run.record(planEvents(input, run.progress().plan, run.turn.clock.now()));
    return null;
  }
  return yield* runUse(run, { callId, tool: name, input });
}

/** Runs a use whose input is valid. A use that waited for a decision is repeated with the decision. */
export async function* runUse(run: Run, use: OpenUse): AsyncGenerator<Progress, Outcome | null, void> {
  const { turn, tools } = run;
  const tool = tools.get(use.tool);
  const requests = run.progress().approvals.get(use.callId) ?? [];
  const decisions = requests.flatMap((at) => turn.decisions[at] ?? []);
  const hold = await reserve(run, { inputTokens: 0, outputTokens: 0, toolCalls: 1 });
  const result = tool ? await resultOf(run, tool, { ...use, decisions }) : noTool;
  if (result.kind === "result") {
    run.spend({ toolCalls: 1 }, hold);
    yield run.record([...fileEvents(result, briefOf(tool, use)), usedEvent(use, briefOf(tool, use), result)]);
    return null;
  }
  run.spend({}, hold);
  const { outcome } = result;
  if (outcome.kind === "wait") return outcome;
  if (outcome.kind === "ask") return { ...outcome, memo: createMemo(run.progress(), readMemo(turn.memo)) };
  // One pending event is written per approval request, so that each decision can be matched to its use.
  if (requests.length === decisions.length) yield run.record([pendingEvent(use, briefOf(tool, use))]);
  return outcome;
}

const noTool: ToolResult = { kind: "result", value: "The tool no longer exists.", isError: true };

async function resultOf(
  run: Run,
  tool: Tool,
  { callId, input, decisions }: OpenUse & Pick<ToolUse, "decisions">,
): Promise<ToolResult> {
  const { turn, log, policy } = run;
  const uses = run.progress().steps.flatMap((step) => step.uses);
  const check = requestChecks({ policy, turn, uses, decisions });
  try {
    return await traced(toolSpan(tool.name, callId), async () =>
      tool.use({ callId, input, turn, decisions, check }).catch(resultIfUnapproved),
    );
  } catch (cause) {
    turn.signal.throwIfAborted();
    // The run is retried.
    if (cause instanceof Failure && cause.reason === "unavailable") throw cause;
    log("error", "a tool failed", { taskId: turn.taskId, tool: tool.name, cause });
    return { kind: "result", value: "The tool failed.", isError: true };
  }
}

/** The result of a use that ended because a request needs an approval. */
function resultIfUnapproved(thrown: unknown): ToolResult {
  if (thrown instanceof Unapproved) return thrown.result;
  throw thrown;
}

/** The event with a use's files. It is written before the event of the use, in the same transaction. */
const fileEvents = (
  { files = [] }: Extract<ToolResult, { kind: "result" }>,
  content: string,
): AgentEvent[] =>
  files.length === 0
    ? []
    : [{ type: "assistant_message", payload: { content, deliveryKind: "progress" }, files }];

/**
 * Records the results of waits for subtasks, which have ended earlier runs of this turn, as those of the uses
 * that requested them. The events before a wait have its step, or else its use begins a step.
 */
export async function* recordWaits({
  turn,
  record,
  callId,
  progress,
}: Run): AsyncGenerator<Progress, void, void> {
  const { waits = [] } = turn;
  const isWait = ({ tool, isError }: FinishedUse) => tool === waitName && !isError;
  const recorded = progress().steps.flatMap(({ uses }) => uses.filter(isWait)).length;
  for (const wait of waits.slice(recorded)) {
    const use = {
      callId: callId({ step: progress().steps.length + 1, position: 1 }),
      tool: waitName,
      input: { mode: wait.mode },
    };
    const value = waitedStates(wait.reason, await wait.results());
    yield record([usedEvent(use, "Waited for subtasks", { kind: "result", value })]);
  }
}

function usedEvent(
  { callId, tool, input }: OpenUse,
  brief: string,
  { value, isError = false, subtask, site }: Extract<ToolResult, { kind: "result" }>,
): AgentEvent {
  const bounded = { params: boundInput(input), result: boundResult(value) };
  const payload = {
    tool,
    actionId: callId,
    status: isError ? "error" : "success",
    brief,
    ...bounded,
  } as const;
  return { type: "tool_used", payload, ...(subtask ? { subtask } : {}), ...(site ? { site } : {}) };
}

function pendingEvent({ callId, tool, input }: OpenUse, brief: string): AgentEvent {
  const payload: EventPayloads["tool_used"] = {
    tool,
    actionId: callId,
    status: "pending_confirmation",
    brief,
    params: input,
  };
  return { type: "tool_used", payload };
}

function briefOf(tool: Tool | undefined, { input, tool: name }: OpenUse): string {
  try {
    return head(tool?.brief(input) || name, briefMax);
  } catch {
    return name;
  }
}

function parseInput(text: string): JsonObject | undefined {
  if (text.length > inputMax) return undefined;
  const input = parseJson(text.trim() === "" ? "{}" : text);
  return isObject(input) ? input : undefined;
}

/** Describes for the model why an input is invalid; null when it is valid. */
const inputFault = (
  tool: { readonly inputSchema: JsonObject } | undefined,
  input: JsonObject,
): string | null => (tool ? describeMismatch(tool.inputSchema, input) : "There is no tool of this name.");
