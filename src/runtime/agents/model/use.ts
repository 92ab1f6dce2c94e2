import { Ajv, type ValidateFunction } from "ajv";
import { Failure } from "../../../core/failure.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import type { EventPayloads } from "../../../core/tasks/event.ts";
import type { AgentEvent, Outcome, Progress } from "../../agent.ts";
import type { Call } from "./answer.ts";
import { boundedInput, boundedResult, head } from "./bounded.ts";
import type { OpenUse } from "./conversation.ts";
import { memoOf, readMemo } from "./memo.ts";
import { planEvents, planTool } from "./plan.ts";
import type { Run } from "./run.ts";
import { reserve } from "./think.ts";
import type { Tool, ToolResult } from "./tool.ts";

/** So many characters of input a tool takes: it is kept whole while a decision is waited for. */
const inputMax = 256_000;
const briefMax = 200;

/** A use of a tool from what the model wrote: told by a `tool_used` event, or the end of the turn. */
export async function* useTool(run: Run, callId: string, { name, input: text }: Call): AsyncGenerator<Progress, Outcome | null, void> {
  const input = inputOf(text);
  const tool = run.tools.get(name);
  const fault = input ? faultIn(name === planTool.name ? planTool : tool, input) : "The input is not a JSON object, or too large.";
  if (fault !== null || !input) {
    yield run.tell([
      usedEvent({ callId, tool: name, input: input ?? {} }, "The tool could not be used", { kind: "result", value: fault, isError: true }),
    ]);
    return null;
  }
  if (name === planTool.name) {
    yield run.tell(planEvents(input, run.progress().plan, run.turn.clock.now()));
    return null;
  }
  return yield* carryOut(run, { callId, tool: name, input });
}

/** A use whose input was checked; one that waited for a decision is made again with it. */
export async function* carryOut(run: Run, use: OpenUse): AsyncGenerator<Progress, Outcome | null, void> {
  const { turn, tools } = run;
  const tool = tools.get(use.tool);
  const asked = run.progress().asked.get(use.callId) ?? [];
  const decisions = asked.flatMap((at) => turn.decisions[at] ?? []);
  const hold = await reserve(run, { inputTokens: 0, outputTokens: 0, toolCalls: 1 });
  const result = tool ? await resultOf(run, tool, { ...use, decisions }) : noTool;
  if (result.kind === "result") {
    run.spend({ toolCalls: 1 }, hold);
    yield run.tell([...attached(result, briefOf(tool, use)), usedEvent(use, briefOf(tool, use), result)]);
    return null;
  }
  run.spend({}, hold);
  const { outcome } = result;
  if (outcome.kind === "ask") return { ...outcome, memo: memoOf(run.progress(), readMemo(turn.memo)) };
  // What waits is told once for each time that it asks, so that decisions find their use again.
  if (asked.length === decisions.length) yield run.tell([pendingEvent(use, briefOf(tool, use))]);
  return outcome;
}

const noTool: ToolResult = { kind: "result", value: "There is no such tool any more.", isError: true };

async function resultOf(
  { turn, log }: Run,
  tool: Tool,
  { callId, input, decisions }: OpenUse & Pick<Parameters<Tool["use"]>[0], "decisions">,
): Promise<ToolResult> {
  try {
    return await tool.use({ callId, input, turn, decisions });
  } catch (cause) {
    turn.signal.throwIfAborted();
    // The run is taken up again.
    if (cause instanceof Failure && cause.reason === "unavailable") throw cause;
    log("error", "a tool failed", { taskId: turn.taskId, tool: tool.name, cause });
    return { kind: "result", value: "The tool failed.", isError: true };
  }
}

/** Files are told before the use that they come from, in the same transaction. */
const attached = ({ files = [] }: Extract<ToolResult, { kind: "result" }>, content: string): AgentEvent[] =>
  files.length === 0 ? [] : [{ type: "assistant_message", payload: { content, deliveryKind: "progress" }, files }];

function usedEvent(
  { callId, tool, input }: OpenUse,
  brief: string,
  { value, isError = false, subtask, site }: Extract<ToolResult, { kind: "result" }>,
): AgentEvent {
  const told = { params: boundedInput(input), result: boundedResult(value) };
  const payload = { tool, actionId: callId, status: isError ? "error" : "success", brief, ...told } as const;
  return { type: "tool_used", payload, ...(subtask ? { subtask } : {}), ...(site ? { site } : {}) };
}

function pendingEvent({ callId, tool, input }: OpenUse, brief: string): AgentEvent {
  const payload: EventPayloads["tool_used"] = { tool, actionId: callId, status: "pending_confirmation", brief, params: input };
  return { type: "tool_used", payload };
}

function briefOf(tool: Tool | undefined, { input, tool: name }: OpenUse): string {
  try {
    return head(tool?.brief(input) || name, briefMax);
  } catch {
    return name;
  }
}

function inputOf(text: string): JsonObject | undefined {
  if (text.length > inputMax) return undefined;
  try {
    const input: Json = JSON.parse(text.trim() === "" ? "{}" : text);
    return input !== null && typeof input === "object" && !Array.isArray(input) ? input : undefined;
  } catch {
    return undefined;
  }
}

const ajv = new Ajv({ strict: false, allErrors: false, ownProperties: true, logger: false });
/** By the schema itself: there are as many as tools. */
const validators = new WeakMap<JsonObject, ValidateFunction>();

/** What is wrong with an input, for the model; null when it fits. */
function faultIn(tool: { readonly inputSchema: JsonObject } | undefined, input: JsonObject): string | null {
  if (!tool) return "There is no tool of this name.";
  const validate = validators.get(tool.inputSchema) ?? ajv.compile(tool.inputSchema);
  validators.set(tool.inputSchema, validate);
  // Ajv would keep every schema for good: those of connectors come and go.
  ajv.removeSchema(tool.inputSchema);
  return validate(input) ? null : `The input does not fit: ${ajv.errorsText(validate.errors, { dataVar: "input" })}.`;
}
