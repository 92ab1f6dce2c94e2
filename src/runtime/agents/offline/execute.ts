import { createHash } from "node:crypto";
import { Failure } from "../../../core/failure.ts";
import { idsFrom } from "../../../core/ids.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import type { EventPayloads, NewEvent } from "../../../core/tasks/event.ts";
import { depthMax } from "../../../core/tasks/subtasks.ts";
import { type Decision, messagesOf, type NewFile, type Outcome, type Progress, type Turn } from "../../agent.ts";
import { scheduleApproval } from "../../schedule-approval.ts";
import { sampleApproval } from "./approvals.ts";
import type { Directive } from "./directives.ts";
import { createMemo, type Request } from "./memo.ts";
import type { PlanKeeper } from "./plan.ts";
import type { PlacedDirective } from "./reading.ts";
import { shorten } from "./text.ts";

type DirectiveName = Directive["name"];
type Named<N extends DirectiveName> = Directive & { readonly name: N };

/** The last message of a turn whose request has only directives. */
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
const otherEndings: readonly DirectiveName[] = ["ask", "fail", "forever"];
/** Directives that wait for a decision, or for subtasks. */
const deciding: readonly DirectiveName[] = ["confirm", "schedule", "wait"];

/**
 * The last `say` or `stream` of a script is the turn's result, or the last `file` without one of them. It is written only at the end, except when a
 * `confirm`, `schedule` or `wait` follows it: then it is written before the decision or the wait, and again as the result. Null when the turn has no such
 * directive, or does not finish. The same directives give the same result in every run of a turn (spec/decisions.md 52).
 */
export function findClosing(directives: readonly PlacedDirective[]): Closing | null {
  const names = directives.map(({ directive: { name } }) => name);
  const spoken = names.findLastIndex((name) => name === "say" || name === "stream");
  const at = spoken === -1 ? names.lastIndexOf("file") : spoken;
  const last = directives[at]?.directive;
  if ((last?.name !== "say" && last?.name !== "stream" && last?.name !== "file") || names.some((name) => otherEndings.includes(name)))
    return null;
  return {
    content: last.name === "file" ? fileMessage(last) : last.text,
    files: directives.flatMap(({ directive }) => (directive.name === "file" ? [fileOf(directive)] : [])),
    isStreamed: last.name === "stream",
    before: at < names.findLastIndex((name) => deciding.includes(name)) ? directives : directives.toSpliced(at, 1),
  };
}

/** The message with a file. */
const fileMessage = ({ filename }: Named<"file">): string => `Here is ${filename}.`;

const fileOf = ({ filename, content }: Named<"file">): NewFile => ({ filename, content: [Buffer.from(content)] });

/** Ids for the tool uses of a turn. They differ from those of other turns, and are the same when the turn resumes. */
function actionIds({ taskId, earlier, messages }: Turn): () => string {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  let turn: string | undefined;
  let used = 0;
  return () => {
    turn ??= digest(JSON.stringify([taskId, messagesOf(earlier), messages])).toString("hex");
    used += 1;
    const seed = digest(`${turn} ${used}`);
    return idsFrom(() => seed).short();
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
  ...{ turn, request, plan, nextActionId: actionIds(turn), value },
  ...{ eventCount: 0, confirmedCount: 0, waitedCount: 0 },
});

/** Executes directives in order until one of them ends the turn. Returns undefined when none does. */
export async function* execute(
  directives: readonly PlacedDirective[],
  work: RunState,
): AsyncGenerator<Progress, Outcome | undefined, void> {
  for (const [i, { directive }] of directives.entries()) {
    // The action of a name takes the directives of this name.
    const action = actions[directive.name] as Action<DirectiveName>;
    const effect = await action(directive, work, () => directives.slice(i + 1));
    if (effect && "kind" in effect) return effect;
    if (!effect) continue;
    work.eventCount += effect.events.length;
    yield effect;
  }
  return undefined;
}

/** What a directive does: it writes events, ends the turn, or neither. */
type Effect = Progress | Outcome | undefined;
/** @param left the directives after this one. */
type Action<N extends DirectiveName> = (
  directive: Named<N>,
  work: RunState,
  left: () => readonly PlacedDirective[],
) => Effect | Promise<Effect>;

const briefs = { success: "It worked", error: "It failed", rollback: "It was undone" } as const;

const actions: { readonly [N in DirectiveName]: Action<N> } = {
  say: ({ text }) => message({ content: text }),
  async stream({ text }, work) {
    await showWords(text, work);
    return message({ content: text });
  },
  progress: ({ text }) => message({ content: text, deliveryKind: "progress" }),
  file: (directive) => ({
    events: [{ type: "assistant_message", payload: { content: fileMessage(directive) }, files: [fileOf(directive)] }],
  }),
  think: ({ text }) => explain(text),
  plan({ titles }, { plan }) {
    plan.replace(titles);
    return { events: [plan.snapshot()] };
  },
  step: (_, { plan }) => ({ events: plan.next() }),
  tool: ({ tool, status }, { nextActionId }) =>
    toolUse({ tool, actionId: nextActionId(), status, brief: briefs[status], message: { action: "Using", param: tool } }),
  subtask: startSubtask,
  wait: waitForSubtasks,
  site: saveSite,
  credits: ({ credits }) => ({ ...explain(`Spent ${credits} credits.`), credits }),
  value({ value }, work) {
    work.value = value;
    return undefined;
  },
  plain: () => undefined,
  async sleep({ seconds }, work) {
    const { clock, signal } = work.turn;
    if (!isOver(work)) await (clock.pause ?? clock.sleep)(seconds * 1000, signal, "run");
    return undefined;
  },
  async forever(_, { turn: { clock, signal } }) {
    for (;;) await clock.sleep(60_000, signal);
  },
  ask({ question, options }, { request, plan, value }, left) {
    const remaining = left().map(({ source }) => source);
    return {
      kind: "ask",
      content: question,
      options,
      memo: createMemo({ remaining: remaining.join(""), request, plan: plan.plan, value }),
    };
  },
  confirm({ kind, variant }, work) {
    const decision = nextDecision(work);
    if (decision) return showBrowser(decision);
    const sample = sampleApproval(kind, variant);
    return kind === "scheduleCreate" ? proposalOf(sample.params ?? {}, work.turn) : sample;
  },
  schedule: ({ params }, work) => (nextDecision(work) ? undefined : proposalOf(params, work.turn)),
  fail: ({ errorType, text }) => ({ kind: "fail", errorType, content: text }),
  crash: (_, { turn }) => (turn.claim === 1 ? { kind: "abandon" } : undefined),
};

const message = (payload: EventPayloads["assistant_message"]): Progress => ({ events: [{ type: "assistant_message", payload }] });

/** An explanation, which only verbose lists show. */
export const explain = (content: string): Progress & { readonly events: readonly NewEvent[] } => ({
  events: [{ type: "explanation", payload: { content } }],
});

const toolUse = (payload: EventPayloads["tool_used"]): Progress => ({ events: [{ type: "tool_used", payload }] });

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

/** True while an earlier run was further than this one: its sleeps are not repeated. */
const isOver = ({ turn, eventCount, confirmedCount, waitedCount }: RunState): boolean =>
  eventCount < turn.written.length || confirmedCount < turn.decisions.length || waitedCount < (turn.waits?.length ?? 0);

const tooDeep = `Subtasks are at most ${depthMax} deep`;

/** The event of a subtask that begins, or of the failure to begin it. */
async function startSubtask({ text }: Named<"subtask">, { nextActionId, turn }: RunState): Promise<Progress> {
  const use = { tool: "subtask", actionId: nextActionId(), params: { message: text } };
  if (!turn.subtask) return toolUse({ ...use, status: "error", brief: tooDeep });
  try {
    const subtask = await turn.subtask(text);
    const payload = { ...use, status: "success", brief: "Began a subtask", result: { task_id: subtask.id } } as const;
    return { events: [{ type: "tool_used", payload, subtask }] };
  } catch (thrown) {
    if (!(thrown instanceof Failure) || thrown.reason === "unavailable") throw thrown;
    return toolUse({ ...use, status: "error", brief: thrown.message });
  }
}

/** Waits for all subtasks that have not ended. The results are the event of the run that continues. */
async function waitForSubtasks({ mode, seconds }: Named<"wait">, work: RunState): Promise<Progress | Outcome> {
  const { turn, nextActionId } = work;
  const use = { tool: "wait_for_subtasks", actionId: nextActionId(), params: { mode } };
  if (!turn.waitFor) return toolUse({ ...use, status: "error", brief: tooDeep });
  const wait = await turn.waitFor({ mode, ...(seconds === undefined ? {} : { timeoutMs: seconds * 1000 }) });
  if ("kind" in wait) return wait;
  work.waitedCount += 1;
  const subtasks = wait.subtasks.map(({ id, title, status, lastMessage }) => ({ task_id: id, title, status, said: shorten(lastMessage) }));
  return toolUse({ ...use, status: "success", brief: "Waited for subtasks", result: { reason: wait.reason, subtasks } });
}

/** The event that saves a website of one page. */
function saveSite({ title, html }: Named<"site">, { nextActionId }: RunState): Progress {
  const use = { tool: "save_site", actionId: nextActionId(), status: "success", brief: `Saved the website ${title}` } as const;
  const files = [{ path: "index.html", file: { filename: "index.html", content: [Buffer.from(html)] } }];
  const site = { title, message: `Saved ${title}`, files };
  return { events: [{ type: "tool_used", payload: { ...use, message: { action: "Saving", param: title } }, site }] };
}

/** The decision on the next confirmation; undefined when it must be requested. */
const nextDecision = (work: RunState): Decision | undefined => work.turn.decisions[work.confirmedCount++];

/** The event with the browser that a decision selects (spec/api.md 9.4). */
function showBrowser({ kind, accepted, input }: Decision): Progress | undefined {
  const browser = kind === "needConnectMyBrowser" && accepted ? input["client_id"] : undefined;
  return typeof browser === "string" ? explain(`Works in the browser ${browser}.`) : undefined;
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
