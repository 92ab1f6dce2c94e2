import { Failure } from "../../../core/failure.ts";
import type { Json } from "../../../core/json.ts";
import type { EventPayloads, NewEvent } from "../../../core/tasks/event.ts";
import type { AgentEvent, Decided, Outcome, Progress, Turn } from "../../agent.ts";
import { actionIds } from "./action-ids.ts";
import { approvalOf } from "./approvals.ts";
import { fileOf, handOver } from "./closing.ts";
import type { Directive, Ending, Telling } from "./directives.ts";
import { memoOf, type Request } from "./memo.ts";
import type { PlanKeeper } from "./plan.ts";
import type { Placed } from "./reading.ts";

/** A turn at work, and how far this run of it is. */
export interface Work {
  readonly turn: Turn;
  readonly request: Request;
  readonly plan: PlanKeeper;
  readonly nextActionId: () => string;
  /** The value in force for the finish. */
  value: Json | undefined;
  /** So many events were told. */
  told: number;
  /** So many confirmations were passed over, because they are decided. */
  passed: number;
}

/** A run of a turn before its first directive. */
export const beginWork = (turn: Turn, request: Request, plan: PlanKeeper, value: Json | undefined): Work => ({
  turn,
  request,
  plan,
  nextActionId: actionIds(turn),
  value,
  told: 0,
  passed: 0,
});

/** Does what directives say, in order, until one of them ends the turn; undefined when none did. */
export async function* obey(directives: readonly Placed[], work: Work): AsyncGenerator<Progress, Outcome | undefined, void> {
  for (const [i, { directive }] of directives.entries()) {
    const outcome = yield* obeyOne(directive, () => directives.slice(i + 1), work);
    if (outcome) return outcome;
  }
  return undefined;
}

async function* obeyOne(
  directive: Directive,
  left: () => readonly Placed[],
  work: Work,
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
    case "ask":
    case "confirm":
    case "fail":
    case "crash": {
      const outcome = outcomeOf(directive, left, work);
      const browser = outcome || directive.name !== "confirm" ? undefined : selectedBy(work.turn.decisions[work.passed - 1]);
      if (browser !== undefined) yield tell({ events: [explanation(`Works in the browser ${browser}.`)] }, work);
      return outcome;
    }
    default: {
      yield tell(await progressOf(directive, work), work);
      return undefined;
    }
  }
}

function tell(progress: Progress, work: Work): Progress {
  work.told += progress.events.length;
  return progress;
}

/** The browser that a decision selects (contract/v2.md 9.4). */
function selectedBy(decided: Decided | undefined): string | undefined {
  const id = decided?.kind === "needConnectMyBrowser" && decided.accepted ? decided.input["client_id"] : undefined;
  return typeof id === "string" ? id : undefined;
}

/** Whether an earlier run came further than this one is: what it slept is not slept again. */
const isOver = ({ turn, told, passed }: Work): boolean => told < turn.written.length || passed < turn.decisions.length;

async function progressOf(directive: Telling, { plan, nextActionId, turn }: Work): Promise<Progress> {
  switch (directive.name) {
    case "say":
      return { events: [{ type: "assistant_message", payload: { content: directive.text } }] };
    case "progress":
      return { events: [{ type: "assistant_message", payload: { content: directive.text, deliveryKind: "progress" } }] };
    case "file":
      return { events: [handedOver(directive)] };
    case "think":
      return { events: [explanation(directive.text)] };
    case "plan":
      plan.draw(directive.titles);
      return { events: [plan.tell()] };
    case "step":
      return { events: plan.step() };
    case "tool":
      return { events: [toolUsed(directive, nextActionId())] };
    case "subtask":
      return { events: [await begun(directive.text, nextActionId(), turn)] };
    case "site":
      return { events: [siteSaved(directive, nextActionId())] };
    case "credits":
      return { events: [explanation(`Spent ${directive.credits} credits.`)], credits: directive.credits };
  }
}

/** A thought that only verbose lists show. */
export const explanation = (content: string): NewEvent => ({ type: "explanation", payload: { content } });

/** A message with a text file. */
const handedOver = (directive: Extract<Telling, { name: "file" }>): AgentEvent => ({
  type: "assistant_message",
  payload: { content: handOver(directive) },
  files: [fileOf(directive)],
});

const briefs = { success: "It worked", error: "It failed", rollback: "It was undone" } as const;

const toolUsed = ({ tool, status }: Extract<Telling, { name: "tool" }>, actionId: string): NewEvent => ({
  type: "tool_used",
  payload: { tool, actionId, status, brief: briefs[status], message: { action: "Using", param: tool } },
});

/** A subtask that begins, or why it could not. */
async function begun(message: string, actionId: string, { subtask }: Turn): Promise<AgentEvent> {
  const use = { tool: "subtask", actionId, params: { message } };
  if (!subtask) return refused(use, "Only an agent's main task has subtasks");
  try {
    const made = await subtask(message);
    const payload = { ...use, status: "success", brief: "Began a subtask", result: { task_id: made.id } } as const;
    return { type: "tool_used", payload, subtask: made };
  } catch (thrown) {
    if (thrown instanceof Failure && thrown.reason !== "unavailable") return refused(use, thrown.message);
    throw thrown;
  }
}

const refused = (use: Pick<EventPayloads["tool_used"], "tool" | "actionId" | "params">, brief: string): AgentEvent => ({
  type: "tool_used",
  payload: { ...use, status: "error", brief },
});

/** A website of one page, saved as a checkpoint. */
const siteSaved = ({ title, html }: Extract<Telling, { name: "site" }>, actionId: string): AgentEvent => ({
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

/** How the turn ends at a directive; undefined when it goes on. */
function outcomeOf(directive: Ending, left: () => readonly Placed[], work: Work): Outcome | undefined {
  const { turn, request, plan, value } = work;
  switch (directive.name) {
    case "ask": {
      const sources = left().map(({ source }) => source);
      const memo = memoOf({ left: sources.join(""), request, plan: plan.plan, value });
      return { kind: "ask", content: directive.question, options: directive.options, memo };
    }
    case "confirm":
      work.passed += 1;
      return work.passed <= turn.decisions.length ? undefined : approvalOf(directive.kind, directive.variant);
    case "fail":
      return { kind: "fail", errorType: directive.errorType, content: directive.text };
    case "crash":
      return turn.claim === 1 ? { kind: "abandon" } : undefined;
  }
}
