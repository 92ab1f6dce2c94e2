import { createHash } from "node:crypto";
import { Failure } from "../../../core/failure.ts";
import { idsFrom } from "../../../core/ids.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import type { EventPayloads, NewEvent } from "../../../core/tasks/event.ts";
import { depthMax } from "../../../core/tasks/subtasks.ts";
import { type AgentEvent, type Decision, messagesOf, type NewFile, type Outcome, type Progress, type Turn } from "../../agent.ts";
import { scheduleApproval } from "../../schedule-approval.ts";
import { sampleApproval } from "./approvals.ts";
import type { Directive, EndingDirective, EventDirective } from "./directives.ts";
import { createMemo, type Request } from "./memo.ts";
import type { PlanKeeper } from "./plan.ts";
import type { PlacedDirective } from "./reading.ts";
import { shorten } from "./text.ts";

/** The last message of a turn that has only directives. */
export interface Closing {
  readonly content: string;
  /** All files of the turn, in order. */
  readonly files: readonly NewFile[];
  /** The directives to execute before it. */
  readonly before: readonly PlacedDirective[];
  /** Watchers see its text word by word. */
  readonly isStreamed: boolean;
}

/** Directives with which a turn ends in another way, or does not end. */
const otherEndings: readonly string[] = ["ask", "fail", "forever"];
/** Directives that wait for a decision, or for subtasks. */
const deciding: readonly string[] = ["confirm", "schedule", "wait"];

/**
 * The last `say` or `stream` is the turn's result, or the last `file` without one of them. It is written only at the end, except when a
 * `confirm`, `schedule` or `wait` follows it: then it is written before the decision or the wait, and again as the result. Null when the turn has no such
 * directive, or does not finish. The same directives give the same result in every run of a turn (spec/decisions.md 52).
 */
export function findClosing(directives: readonly PlacedDirective[]): Closing | null {
  const names = directives.map(({ directive: { name } }) => name);
  const spoken = names.findLastIndex((name) => name === "say" || name === "stream");
  const at = spoken === -1 ? names.lastIndexOf("file") : spoken;
  const last = directives[at]?.directive;
  const saying = last?.name === "say" || last?.name === "stream" || last?.name === "file" ? last : null;
  if (saying === null || names.some((name) => otherEndings.includes(name))) return null;
  return {
    content: saying.name === "file" ? fileMessage(saying) : saying.text,
    files: directives.flatMap(({ directive }) => (directive.name === "file" ? [fileOf(directive)] : [])),
    isStreamed: saying.name === "stream",
    before: at < names.findLastIndex((name) => deciding.includes(name)) ? directives : directives.toSpliced(at, 1),
  };
}

type FileDirective = Extract<EventDirective, { name: "file" }>;

/** The message with a file. */
const fileMessage = ({ filename }: FileDirective): string => `Here is ${filename}.`;

/** The text file of a directive. */
const fileOf = ({ filename, content }: FileDirective): NewFile => ({ filename, content: [Buffer.from(content)] });

/** Ids for the tool uses of a turn. They differ from those of other turns, and are the same when the turn resumes. */
function actionIds({ taskId, earlier, messages }: Pick<Turn, "taskId" | "earlier" | "messages">): () => string {
  let turn: string | undefined;
  let used = 0;
  return () => {
    turn ??= createHash("sha256")
      .update(JSON.stringify([taskId, messagesOf(earlier), messages]))
      .digest("hex");
    used += 1;
    const seed = `${turn} ${used}`;
    return idsFrom(() => createHash("sha256").update(seed).digest()).short();
  };
}

/** A turn, and the progress of this run. */
export interface RunState {
  readonly turn: Turn;
  readonly request: Request;
  readonly plan: PlanKeeper;
  readonly nextActionId: () => string;
  /** The current value for the finish. */
  value: Json | undefined;
  /** The number of events written. */
  eventCount: number;
  /** The number of confirmations that were skipped because they are decided. */
  confirmedCount: number;
  /** The number of waits for subtasks that were skipped because they are over. */
  waitedCount: number;
}

/** The state of a run before its first directive. */
export const createRunState = (turn: Turn, request: Request, plan: PlanKeeper, value: Json | undefined): RunState => ({
  turn,
  request,
  plan,
  nextActionId: actionIds(turn),
  value,
  eventCount: 0,
  confirmedCount: 0,
  waitedCount: 0,
});

/** Executes directives in order until one of them ends the turn. Returns undefined when none does. */
export async function* execute(
  directives: readonly PlacedDirective[],
  work: RunState,
): AsyncGenerator<Progress, Outcome | undefined, void> {
  for (const [i, { directive }] of directives.entries()) {
    const outcome = yield* executeOne(directive, () => directives.slice(i + 1), work);
    if (outcome) return outcome;
  }
  return undefined;
}

async function* executeOne(
  directive: Directive,
  left: () => readonly PlacedDirective[],
  work: RunState,
): AsyncGenerator<Progress, Outcome | undefined, void> {
  const { clock, signal } = work.turn;
  switch (directive.name) {
    case "value":
      work.value = directive.value;
      return undefined;
    case "sleep":
      if (!isOver(work)) await clock.sleep(directive.seconds * 1000, signal);
      return undefined;
    case "forever":
      for (;;) await clock.sleep(60_000, signal);
    case "wait":
      return yield* waitForSubtasks(directive, work);
    case "ask":
    case "confirm":
    case "schedule":
    case "fail":
    case "crash": {
      const outcome = outcomeOf(directive, left, work);
      const browser = outcome || directive.name !== "confirm" ? undefined : selectedBy(work.turn.decisions[work.confirmedCount - 1]);
      if (browser !== undefined) yield countEvents({ events: [explanation(`Works in the browser ${browser}.`)] }, work);
      return outcome;
    }
    default: {
      if (directive.name === "stream") await showWords(directive.text, work);
      yield countEvents(await progressOf(directive, work), work);
      return undefined;
    }
  }
}

/** The pause after each word of a streamed text. */
const wordMs = 100;

/** Shows a text to watchers word by word. An earlier run that was further than this one has shown it. */
export async function showWords(text: string, work: RunState): Promise<void> {
  const { live, clock, signal } = work.turn;
  if (!live || isOver(work)) return;
  live.begin("assistant_message");
  for (const word of text.match(/\s*\S+/g) ?? []) {
    live.write(word);
    await clock.sleep(wordMs, signal);
  }
}

function countEvents(progress: Progress, work: RunState): Progress {
  work.eventCount += progress.events.length;
  return progress;
}

/** The browser that a decision selects (spec/api.md 9.4). */
function selectedBy(decided: Decision | undefined): string | undefined {
  const id = decided?.kind === "needConnectMyBrowser" && decided.accepted ? decided.input["client_id"] : undefined;
  return typeof id === "string" ? id : undefined;
}

/** True while an earlier run was further than this one: its sleeps are not repeated. */
const isOver = ({ turn, eventCount: told, confirmedCount: passed, waitedCount: waited }: RunState): boolean =>
  told < turn.written.length || passed < turn.decisions.length || waited < (turn.waits?.length ?? 0);

async function progressOf(directive: EventDirective, { plan, nextActionId, turn }: RunState): Promise<Progress> {
  switch (directive.name) {
    case "say":
    case "stream":
      return { events: [{ type: "assistant_message", payload: { content: directive.text } }] };
    case "progress":
      return { events: [{ type: "assistant_message", payload: { content: directive.text, deliveryKind: "progress" } }] };
    case "file":
      return { events: [fileEvent(directive)] };
    case "think":
      return { events: [explanation(directive.text)] };
    case "plan":
      plan.replace(directive.titles);
      return { events: [plan.snapshot()] };
    case "step":
      return { events: plan.next() };
    case "tool":
      return { events: [toolEvent(directive, nextActionId())] };
    case "subtask":
      return { events: [await subtaskEvent(directive.text, nextActionId(), turn)] };
    case "site":
      return { events: [siteEvent(directive, nextActionId())] };
    case "credits":
      return { events: [explanation(`Spent ${directive.credits} credits.`)], credits: directive.credits };
  }
}

/** An explanation, which only verbose lists show. */
export const explanation = (content: string): NewEvent => ({ type: "explanation", payload: { content } });

/** A message with a text file. */
const fileEvent = (directive: Extract<EventDirective, { name: "file" }>): AgentEvent => ({
  type: "assistant_message",
  payload: { content: fileMessage(directive) },
  files: [fileOf(directive)],
});

const briefs = { success: "It worked", error: "It failed", rollback: "It was undone" } as const;

const toolEvent = ({ tool, status }: Extract<EventDirective, { name: "tool" }>, actionId: string): NewEvent => ({
  type: "tool_used",
  payload: { tool, actionId, status, brief: briefs[status], message: { action: "Using", param: tool } },
});

/** The event of a subtask that begins, or of the failure to begin it. */
async function subtaskEvent(message: string, actionId: string, { subtask }: Turn): Promise<AgentEvent> {
  const use = { tool: "subtask", actionId, params: { message } };
  if (!subtask) return failedUse(use, tooDeep);
  try {
    const newSubtask = await subtask(message);
    const payload = { ...use, status: "success", brief: "Began a subtask", result: { task_id: newSubtask.id } } as const;
    return { type: "tool_used", payload, subtask: newSubtask };
  } catch (thrown) {
    if (thrown instanceof Failure && thrown.reason !== "unavailable") return failedUse(use, thrown.message);
    throw thrown;
  }
}

const tooDeep = `Subtasks are at most ${depthMax} deep`;

/** Waits for all subtasks that have not ended. The results are the event of the run that continues. */
async function* waitForSubtasks(
  { mode, seconds }: Extract<EndingDirective, { name: "wait" }>,
  work: RunState,
): AsyncGenerator<Progress, Outcome | undefined, void> {
  const { turn, nextActionId } = work;
  const use = { tool: "wait_for_subtasks", actionId: nextActionId(), params: { mode } };
  if (!turn.waitFor) {
    yield countEvents({ events: [failedUse(use, tooDeep)] }, work);
    return undefined;
  }
  const wait = await turn.waitFor({ mode, ...(seconds === undefined ? {} : { timeoutMs: seconds * 1000 }) });
  if ("kind" in wait) return wait;
  work.waitedCount += 1;
  const subtasks = wait.subtasks.map(({ id, title, status, lastMessage: said }) => ({ task_id: id, title, status, said: shorten(said) }));
  const payload = { ...use, status: "success", brief: "Waited for subtasks", result: { reason: wait.reason, subtasks } } as const;
  yield countEvents({ events: [{ type: "tool_used", payload }] }, work);
  return undefined;
}

const failedUse = (use: Pick<EventPayloads["tool_used"], "tool" | "actionId" | "params">, brief: string): AgentEvent => ({
  type: "tool_used",
  payload: { ...use, status: "error", brief },
});

/** The event that saves a website of one page. */
const siteEvent = ({ title, html }: Extract<EventDirective, { name: "site" }>, actionId: string): AgentEvent => ({
  type: "tool_used",
  payload: {
    tool: "save_site",
    actionId,
    status: "success",
    brief: `Saved the website ${title}`,
    message: { action: "Saving", param: title },
  },
  site: {
    title,
    message: `Saved ${title}`,
    files: [{ path: "index.html", file: { filename: "index.html", content: [Buffer.from(html)] } }],
  },
});

/** The outcome of the turn at a directive; undefined when the turn continues. */
function outcomeOf(
  directive: Exclude<EndingDirective, { name: "wait" }>,
  left: () => readonly PlacedDirective[],
  work: RunState,
): Outcome | undefined {
  const { turn, request, plan, value } = work;
  switch (directive.name) {
    case "ask": {
      const sources = left().map(({ source }) => source);
      const memo = createMemo({ remaining: sources.join(""), request, plan: plan.plan, value });
      return { kind: "ask", content: directive.question, options: directive.options, memo };
    }
    case "confirm":
      work.confirmedCount += 1;
      return work.confirmedCount <= turn.decisions.length ? undefined : approvalOf(directive, turn);
    case "schedule":
      work.confirmedCount += 1;
      return work.confirmedCount <= turn.decisions.length ? undefined : proposalOf(directive.params, turn);
    case "fail":
      return { kind: "fail", errorType: directive.errorType, content: directive.text };
    case "crash":
      return turn.claim === 1 ? { kind: "abandon" } : undefined;
  }
}

function approvalOf({ kind, variant }: Extract<EndingDirective, { name: "confirm" }>, turn: Turn): Outcome {
  const sample = sampleApproval(kind, variant);
  return kind === "scheduleCreate" ? proposalOf(sample.params ?? {}, turn) : sample;
}

/** A schedule that the platform refuses ends the turn as a malformed directive does. */
function proposalOf(params: JsonObject, { clock }: Turn): Outcome {
  try {
    return scheduleApproval(params, "schedule", clock.now());
  } catch (thrown) {
    if (thrown instanceof Failure) return { kind: "fail", errorType: "invalid_directive", content: thrown.message };
    throw thrown;
  }
}
