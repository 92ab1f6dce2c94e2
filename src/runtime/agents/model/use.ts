import { Failure } from "../../../core/failure.ts";
import { isObject, type JsonObject, parseJson } from "../../../core/json.ts";
import { currentName } from "../../../core/permissions/tool-names.ts";
import { toolSpan } from "../../../core/span-names.ts";
import type { CallEnd, CallPart, TextPart } from "../../../core/tasks/transcript.ts";
import { traced } from "../../../core/trace.ts";
import type { AgentEvent, Decision, Hold, Outcome, Progress } from "../../agent.ts";
import { requestChecks, Unapproved } from "./addresses.ts";
import { addImages, showImages } from "./images/rows.ts";
import type { ShownImage } from "./images/source.ts";
import { usePermitted } from "./permit.ts";
import { planEvents, planTool } from "./plan.ts";
import { dateFacts, endTexts, markData, newFacts } from "./prompt.ts";
import { pagesOf, type Run } from "./run.ts";
import { reserve } from "./step.ts";
import { boundInput, boundResult, describeMismatch, head, type Tool, type ToolResult } from "./tool.ts";
import { errorResult } from "./tools/create-tool.ts";
import { innerCall, type UsedCall, withSchema } from "./tools/find-tool.ts";
import { skillName } from "./tools/skill.ts";
import {
  actionIdOf,
  askedIn,
  countEqual,
  equalMax,
  hasBegun,
  knownFacts,
  openCalls,
  partsOf,
  planOf,
} from "./transcript.ts";
import { resultPartOf } from "./transcript-files.ts";

/** The most characters of a tool's input. The full input is stored while the use waits for a decision. */
const inputMax = 256_000;
const briefMax = 200;

type Result = Omit<Extract<ToolResult, { readonly kind: "result" }>, "kind">;
type End = Extract<ToolResult, { readonly kind: "end" }>["outcome"];

/**
 * Runs the calls of the last answer that have no result, in order; successive ones that only read run at the
 * same time. Each gets exactly one result, except a call that waits for a decision or for subtasks: the run
 * ends with it when the others are done.
 *
 * @returns the end of the run, if a call ends it.
 */
export async function* useCalls(run: Run): AsyncGenerator<Progress, Outcome | null, void> {
  let first: { readonly call: UsedCall; readonly end: End } | null = null;
  let reads: Reads = new Map();
  const calls = openCalls(run.transcript.rows).map((call) => innerCall(run.tools, call));
  for (const [index, call] of calls.entries()) {
    if (!reads.has(call)) reads = await startReads(run, calls.slice(index));
    const end = yield* useCall(run, call, reads);
    if (end === null) continue;
    if (first === null) first = { call, end };
    else addResult(run, call, endTexts.not_run, "not_run");
  }
  return first && (yield* endRun(run, first.call, first.end));
}

/** The most uses at the same time. */
const readsMax = 8;

/** Uses that have started, with their holds. */
type Reads = ReadonlyMap<CallPart, { readonly hold: Hold; readonly result: Promise<ToolResult> }>;

/** Starts the first calls, as long as they only read; none if the first one does more. */
async function startReads(run: Run, calls: readonly CallPart[]): Promise<Reads> {
  const started: [CallPart, { hold: Hold; result: Promise<ToolResult> }][] = [];
  for (const call of calls.slice(0, readsMax)) {
    const tool = run.tools.get(call.toolName);
    if (!tool?.reads?.(call.input) || inputFault(tool, call.input) !== null) break;
    // A use without room in a budget is refused when it is its turn: those before it settle first.
    const hold =
      started.length === 0 ? await reserve(run, oneUse) : await reserve(run, oneUse).catch(() => null);
    if (hold === null) break;
    const result = resultOf(
      run,
      tool,
      use(run, tool, call, async () => undefined),
    );
    // A use whose result is not awaited, because another one ended the run, must not end the process.
    result.catch(() => undefined);
    started.push([call, { hold, result }]);
  }
  return new Map(started);
}

const oneUse = { inputTokens: 0, outputTokens: 0, toolCalls: 1 };

/** Gives each call of an earlier turn a result: nothing will run it. */
export function closeCalls(run: Run): void {
  const { rows } = run.transcript;
  for (const call of openCalls(rows)) {
    const end = hasBegun(rows, call) ? "interrupted" : "not_run";
    addResult(run, call, endTexts[end], end);
  }
}

/** Uses a tool. Yields its event with the row of its result, or returns the end of the run. */
async function* useCall(run: Run, call: UsedCall, reads: Reads): AsyncGenerator<Progress, End | null, void> {
  const { toolName, input } = call;
  const tool = run.tools.get(toolName);
  const misfit = inputFault(toolName === planTool.name ? planTool : tool, input);
  const unfit = misfit !== null && tool && call.through ? withSchema(misfit, tool) : misfit;
  const fault = toolFault(run, call) ?? (unfit !== null && call.isCut ? cutText : unfit);
  if (fault !== null) {
    addResult(run, call, fault, fault === cutText ? "not_run" : "failed");
    yield run.record([usedEvent(run, call, "The tool could not be used", { value: fault, isError: true })]);
    return null;
  }
  if (toolName === planTool.name || !tool) {
    const events = planEvents(input, planOf(run.transcript.rows), run.turn.clock.now());
    addResult(run, call, planTool.result, "done");
    yield run.record(events);
    return null;
  }
  if (hasBegun(run.transcript.rows, call) && !tool.repeats) {
    addResult(run, call, endTexts.interrupted, "interrupted");
    yield run.record([
      usedEvent(run, call, briefOf(tool, call), { value: endTexts.interrupted, isError: true }),
    ]);
    return null;
  }
  const used = yield* paidResult(run, tool, call, reads.get(call));
  if (used.kind === "end") return used.outcome;
  const { images, result } = await showResult(run, used);
  if (!result.isRefused && (await isForeign(run, tool))) run.readForeign();
  const brief = briefOf(tool, call);
  const how = result.isRefused ? "refused" : result.isError ? "failed" : "done";
  addResult(run, call, result.value, how, images);
  const written = run.record([...fileEvents(result, brief), usedEvent(run, call, brief, result)]);
  // The next call may change a file that the subtask gets.
  yield result.subtask?.files ? { ...written, isAwaited: true } : written;
  return null;
}

/** Prepares the pictures of a result, and says in it what the model sees. */
async function showResult(
  run: Run,
  result: Result,
): Promise<{ images: readonly ShownImage[]; result: Result }> {
  if (!result.images?.length) return { images: [], result };
  const { images, notes } = await showImages(run, result.images);
  const value = isObject(result.value) ? result.value : { result: result.value };
  return { images, result: { ...result, value: { ...value, images: [...notes] } } };
}

/** Whether the results of a tool have data of third parties now. */
const isForeign = async ({ turn: { subtasks } }: Run, tool: Tool): Promise<boolean> =>
  tool.isForeign === "subtasks" ? ((await subtasks?.haveUntrusted()) ?? false) : tool.isForeign === true;

async function* paidResult(
  run: Run,
  tool: Tool,
  call: CallPart,
  started?: { readonly hold: Hold; readonly result: Promise<ToolResult> },
): AsyncGenerator<Progress, ToolResult, void> {
  const hold = started?.hold ?? (await reserve(run, oneUse));
  const result = started ? await started.result : yield* begunResult(run, tool, call);
  run.spend(result.kind === "result" ? { toolCalls: 1 } : {}, hold);
  return result;
}

/**
 * Loads a skill that the user has chosen (spec/api.md 9.10) before the first call of the model: so none is
 * missed, and an event shows it. The model has not called the tool, so the skill is a part of the turn's
 * message.
 */
export async function* loadSkill(
  run: Run,
  skill: string,
): AsyncGenerator<Progress, readonly [TextPart, AgentEvent] | null, void> {
  const { tools, turn, mark } = run;
  const tool = tools.get(skillName);
  const call: CallPart = {
    type: "tool-call",
    toolCallId: `${turn.number} ${skill}`,
    toolName: skillName,
    input: { skill },
  };
  const result = tool && (yield* paidResult(run, tool, call));
  if (result?.kind !== "result") return null;
  const text = `A skill that the user has chosen for this task. Follow it:\n${markData(boundResult(result.value), mark)}`;
  return [{ type: "text", text }, usedEvent(run, call, briefOf(tool, call), result)];
}

/** Runs a use. When its effect is about to start, that is committed before it does. */
async function* begunResult(
  run: Run,
  tool: Tool,
  call: CallPart,
): AsyncGenerator<Progress, ToolResult, void> {
  const { transcript } = run;
  const [begun, committed] = [Promise.withResolvers<"begun">(), Promise.withResolvers<void>()];
  async function begin(): Promise<void> {
    if (hasBegun(transcript.rows, call)) return;
    begun.resolve("begun");
    await committed.promise;
  }
  const result = resultOf(run, tool, use(run, tool, call, begin));
  if ((await Promise.race([result, begun.promise])) === "begun") {
    transcript.add("state", [{ type: "begun", toolCallId: call.toolCallId }]);
    yield { ...run.record([]), isAwaited: true };
    committed.resolve();
  }
  return result;
}

/** The result of a use, also of one that fails. @throws Failure `unavailable`: the run is retried. */
async function resultOf({ turn, log }: Run, { name }: Tool, used: Promise<ToolResult>): Promise<ToolResult> {
  try {
    return await used;
  } catch (cause) {
    turn.signal.throwIfAborted();
    if (cause instanceof Failure && cause.reason === "unavailable") throw cause;
    log("error", "a tool failed", { taskId: turn.taskId, tool: name, cause });
    return errorResult("The tool failed.");
  }
}

function use(run: Run, tool: Tool, call: CallPart, begin: () => Promise<void>): Promise<ToolResult> {
  const { turn, policy, transcript } = run;
  const { rows } = transcript;
  const callId = actionIdOf(turn.taskId, call);
  const decisions = decisionsOn(run, call);
  const waits = askedIn(rows, turn.number, "wait");
  const before = waits.indexOf(call.toolCallId);
  const using = { turn, input: call.input, decisions };
  return traced(toolSpan(tool.name, callId), () =>
    usePermitted({ ...using, tool }, ({ asks, onAllowed }) =>
      tool.use({
        ...using,
        callId,
        begin,
        asks,
        tools: [...run.tools.keys()],
        waitsBefore: before < 0 ? waits.length : before,
        check: requestChecks({ policy, turn, pages: pagesOf(run), decisions, onAllowed }),
      }),
    ).catch(resultIfUnapproved),
  );
}

/** The result of a use that ended because a request needs an approval. */
function resultIfUnapproved(thrown: unknown): ToolResult {
  if (thrown instanceof Unapproved) return thrown.result;
  throw thrown;
}

/** The user's decisions on a call: the nth approval that a turn has requested has its nth decision. */
const decisionsOn = ({ turn, transcript }: Run, call: CallPart): readonly Decision[] =>
  askedIn(transcript.rows, turn.number, "confirm").flatMap((asked, place) =>
    asked === call.toolCallId ? (turn.decisions[place] ?? []) : [],
  );

/** Ends the run for a call. A run that was lost after this asks again, without another row. */
async function* endRun(run: Run, call: UsedCall, end: End): AsyncGenerator<Progress, Outcome, void> {
  const { turn, transcript } = run;
  if (end.kind === "ask") {
    addResult(run, call, "The user was asked. The answer is the next message.", "done");
    return { ...end, rows: transcript.take() };
  }
  const answered = end.kind === "wait" ? (turn.waits?.length ?? 0) : turn.decisions.length;
  if (askedIn(transcript.rows, turn.number, end.kind).length > answered) return end;
  transcript.add("state", [{ type: "asked", toolCallId: call.toolCallId, by: end.kind }]);
  yield run.record(end.kind === "wait" ? [] : [pendingEvent(run, call)]);
  return end;
}

/** Adds the result of a call for the model, and the images of it. */
function addResult(
  run: Run,
  call: UsedCall,
  value: Result["value"],
  end: CallEnd,
  images: readonly ShownImage[] = [],
): void {
  const { transcript, mark, turn, person, tools } = run;
  const facts = newFacts(dateFacts(turn.clock.now(), person), knownFacts(transcript.rows));
  const { toolCallId, toolName, through = toolName } = call;
  const result = resultPartOf({ toolCallId, toolName: through }, value, end, {
    mark,
    inParts: tools.get(call.toolName)?.inParts,
  });
  const isStuck = countEqual(transcript.rows, turn.number, result) >= equalMax.remind;
  transcript.add("tool", [
    result,
    ...(isStuck ? [{ type: "text", text: stuckText } as const] : []),
    ...facts,
  ]);
  addImages(run, images, call.toolCallId);
}

const stuckText =
  "You have made this call several times with the same result. Do something else, or end your turn and say what is missing: soon it ends.";

const cutText =
  "Not run: your answer reached its output limit within this call. Continue: make the call again with a shorter input, or do its work in several smaller calls.";

/** The event with a use's files. It is written before the event of the use, in the same transaction. */
const fileEvents = ({ files = [] }: Result, content: string): AgentEvent[] =>
  files.length === 0
    ? []
    : [{ type: "assistant_message", payload: { content, deliveryKind: "progress" }, files }];

function usedEvent(
  { turn }: Run,
  call: CallPart,
  brief: string,
  { value, isError = false, allowedBy, subtask, site }: Result,
): AgentEvent {
  const { toolName, input } = call;
  const bounded = { params: boundInput(input), result: boundResult(value) };
  const payload = {
    tool: toolName,
    actionId: actionIdOf(turn.taskId, call),
    status: isError ? "error" : "success",
    brief,
    ...bounded,
    ...(allowedBy === undefined ? {} : { allowedBy }),
  } as const;
  return { type: "tool_used", payload, ...(subtask ? { subtask } : {}), ...(site ? { site } : {}) };
}

function pendingEvent({ turn, tools }: Run, call: CallPart): AgentEvent {
  const { toolName, input } = call;
  const brief = briefOf(tools.get(toolName), call);
  const payload = {
    tool: toolName,
    actionId: actionIdOf(turn.taskId, call),
    status: "pending_confirmation",
    brief,
    params: input,
  } as const;
  return { type: "tool_used", payload };
}

function briefOf(tool: Tool | undefined, { input, toolName }: CallPart): string {
  try {
    return head(tool?.brief(input) || toolName, briefMax);
  } catch {
    return toolName;
  }
}

/** The input of a call as the model wrote it. */
export function readInput(text: string): JsonObject {
  const input = text.length > inputMax ? undefined : parseJson(text.trim() === "" ? "{}" : text);
  return isObject(input) ? input : { unreadable: head(text, unreadableMax) };
}

const unreadableMax = 4_000;

/** Describes for the model that a tool is missing; null for one that is there. */
function toolFault({ tools, transcript }: Run, { toolName }: CallPart): string | null {
  if (tools.has(toolName) || toolName === planTool.name) return null;
  const now = currentName(toolName);
  if (tools.has(now) || now === planTool.name) return `The tool is called ${now} now. Use it instead.`;
  const offered = partsOf(transcript.rows, "tools").at(-1)?.tools ?? [];
  return offered.some(({ name }) => name === toolName)
    ? "The tool no longer exists."
    : "There is no tool of this name.";
}

/** Describes for the model why an input is invalid; null when it is valid. */
function inputFault(tool: Pick<Tool, "inputSchema"> | undefined, input: JsonObject): string | null {
  if (!tool) return null;
  const fault = describeMismatch(tool.inputSchema, input);
  return fault !== null && Object.keys(input).join() === "unreadable"
    ? "The input is not a JSON object, or too large."
    : fault;
}
