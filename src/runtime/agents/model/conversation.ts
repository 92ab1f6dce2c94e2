import { createHash } from "node:crypto";
import { shortIdFrom } from "../../../core/ids.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import type { EventPayloads, NewEvent, PlanStep } from "../../../core/tasks/event.ts";
import { type ChatMessage, messagesOf, type Turn } from "../../agent.ts";
import { planTool } from "./plan.ts";

/**
 * The position of a tool use in its turn: the model's step that requested it, and the position in the step,
 * both from 1.
 */
export interface CallPosition {
  readonly step: number;
  readonly position: number;
}

/**
 * Ids for the tool uses of a turn. They differ from those of other turns, and are the same when the turn
 * resumes.
 */
export function callIds({
  taskId,
  earlier,
  messages,
}: Pick<Turn, "taskId" | "earlier" | "messages">): (at: CallPosition) => string {
  const digest = createHash("sha256")
    .update(JSON.stringify([taskId, messagesOf(earlier), messages]))
    .digest();
  const turn = shortIdFrom(digest).slice(0, 14);
  return ({ step, position }) => `${turn}_${step}_${position}`;
}

/** The position in an id of `callIds`; undefined for any other id. */
function positionOf(callId: string): CallPosition | undefined {
  const [, step, place] = /^[^_]+_(\d{1,4})_(\d{1,4})$/.exec(callId) ?? [];
  return step === undefined || place === undefined
    ? undefined
    : { step: Number(step), position: Number(place) };
}

/**
 * The id of the nth use for the model: nine letters and digits, which every API accepts (some accept no
 * longer ids).
 */
export const wireId = (nth: number): string => `c${String(nth).padStart(8, "0")}`;

export interface FinishedUse {
  readonly tool: string;
  readonly input: JsonObject;
  readonly result: Json;
  readonly isError: boolean;
}

/** A use of a tool in an earlier turn. */
export interface EarlierUse extends FinishedUse {
  readonly role: "tool";
}

export type EarlierPart = ChatMessage | EarlierUse;

/** One step of the model: its text and the tools that it used. */
export interface Step {
  readonly text: string;
  readonly uses: readonly FinishedUse[];
}

/** A tool use that waits for a decision, or waited when the run was lost. */
export interface OpenUse {
  readonly callId: string;
  readonly tool: string;
  readonly input: JsonObject;
}

/** The progress of a turn, computed from its events alone. */
export interface TurnProgress {
  /** The finished steps, oldest first. Each call of the model contains them. */
  readonly steps: readonly Step[];
  readonly open: OpenUse | null;
  /** The model's text in the current step, whose tools have not been used so far. */
  readonly openText: string;
  /** True when the current step has written events: a retry of it writes only its result. */
  readonly hasBegun: boolean;
  /** For each use, the positions of its approval requests among all requests of the turn. */
  readonly approvals: ReadonlyMap<string, readonly number[]>;
  readonly plan: readonly PlanStep[];
}

/**
 * Reads a turn from its events. All conversations are built this way: a run that continues and a run that
 * resumes read the same events, so the model receives the same conversation.
 *
 * | Event | In the conversation |
 * | --- | --- |
 * | `assistant_message` (`progress`) | the model's text; it begins a step |
 * | `tool_used` (`success`, `error`) | a call of the tool with `params`, and its `result` |
 * | `tool_used` (`pending_confirmation`) | nothing: the use is repeated with the decision |
 * | `plan_update` | a call of `update_plan` |
 * | `new_plan_step`, `explanation` | nothing |
 *
 * Text after the last use belongs to an unfinished step: the model is called again for that step.
 */
export function readEvents(events: readonly NewEvent[]): TurnProgress {
  const reading: Reading = { steps: [], open: null, begun: false, asked: new Map(), questions: 0, plan: [] };
  for (const event of events) readEvent(reading, event);
  const { steps, open, begun, asked, plan } = reading;
  const current = steps.at(-1)?.uses.length === 0 ? steps.pop() : undefined;
  return {
    steps,
    open,
    openText: current?.text ?? "",
    hasBegun: begun || current !== undefined,
    approvals: asked,
    plan,
  };
}

/** The state while events are read. */
interface Reading {
  readonly steps: { text: string; readonly uses: FinishedUse[] }[];
  open: OpenUse | null;
  begun: boolean;
  readonly asked: Map<string, readonly number[]>;
  questions: number;
  plan: readonly PlanStep[];
}

function readEvent(reading: Reading, event: NewEvent): void {
  const { steps } = reading;
  const hasOpenText = steps.at(-1)?.uses.length === 0;
  switch (event.type) {
    case "explanation":
      reading.begun = true;
      return;
    case "assistant_message":
      reading.begun = true;
      if (hasOpenText) steps.push({ text: `${steps.pop()?.text}\n\n${event.payload.content}`, uses: [] });
      else steps.push({ text: event.payload.content, uses: [] });
      return;
    case "plan_update":
      reading.plan = event.payload.steps;
      addUse(reading, planUse(reading.plan), hasOpenText ? steps.length : steps.length + 1);
      return;
    case "tool_used":
      readUse(reading, event.payload);
  }
}

function readUse(
  reading: Reading,
  { actionId, tool, status, params = {}, result = null }: EventPayloads["tool_used"],
): void {
  if (status === "pending_confirmation") {
    reading.asked.set(actionId, [...(reading.asked.get(actionId) ?? []), reading.questions]);
    reading.questions += 1;
    reading.open = { callId: actionId, tool, input: params };
    return;
  }
  if (reading.open?.callId === actionId) reading.open = null;
  addUse(
    reading,
    { tool, input: params, result, isError: status === "error" },
    positionOf(actionId)?.step ?? reading.steps.length + 1,
  );
}

/** Adds a use to its step. @param number the step's number, from 1; it decides whether a new step begins. */
function addUse(reading: Reading, used: FinishedUse, number: number): void {
  const last = reading.steps.at(-1);
  if (last && number <= reading.steps.length) last.uses.push(used);
  else reading.steps.push({ text: "", uses: [used] });
  reading.begun = false;
}

const planUse = (steps: readonly PlanStep[]): FinishedUse => ({
  tool: planTool.name,
  input: { steps: steps.map(({ title, status }) => ({ title, status })) },
  result: "The plan is shown.",
  isError: false,
});
