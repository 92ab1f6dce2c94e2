import type { Json, JsonObject } from "../../../core/json.ts";
import type { EventPayloads, NewEvent, PlanStep } from "../../../core/tasks/event.ts";
import { placeOf } from "./call-id.ts";
import { planTool } from "./plan.ts";

/** A use of a tool that is over. */
export interface Used {
  readonly tool: string;
  readonly input: JsonObject;
  readonly result: Json;
  readonly isError: boolean;
}

/** What the model said in one step, and the tools that it used then. */
export interface Step {
  readonly text: string;
  readonly uses: readonly Used[];
}

/** A use that waits for a decision, or waited when the run was lost. */
export interface OpenUse {
  readonly callId: string;
  readonly tool: string;
  readonly input: JsonObject;
}

/** How far a turn has come, by its events alone. */
export interface Progressed {
  /** What is over, oldest first: the model is told of it in each call. */
  readonly steps: readonly Step[];
  readonly open: OpenUse | null;
  /** What was said in the step that is under way; its tools have not been used yet. */
  readonly said: string;
  /** The step under way has told something: whoever takes it again tells only what it comes to. */
  readonly begun: boolean;
  /** By use, how often approval was asked for, and the places of those among all that was asked in the turn. */
  readonly asked: ReadonlyMap<string, readonly number[]>;
  readonly plan: readonly PlanStep[];
}

/**
 * Reads a turn from its events. This is the one way in which a conversation comes about: a run that goes on and one that
 * is resumed read the same events, so the model is told the same.
 *
 * | Event | In the conversation |
 * | --- | --- |
 * | `assistant_message` (`progress`) | what the model said; it begins a step |
 * | `tool_used` (`success`, `error`) | a call of the tool with `params`, and its `result` |
 * | `tool_used` (`pending_confirmation`) | nothing yet: the use is made again, with the decision |
 * | `plan_update` | a call of `update_plan` |
 * | `new_plan_step`, `explanation` | nothing |
 *
 * What was said after the last use belongs to a step that is not over: the model is asked for it anew.
 */
export function readEvents(events: readonly NewEvent[]): Progressed {
  const reading: Reading = { steps: [], open: null, begun: false, asked: new Map(), questions: 0, plan: [] };
  for (const event of events) readEvent(reading, event);
  const { steps, open, begun, asked, plan } = reading;
  const underWay = steps.at(-1)?.uses.length === 0 ? steps.pop() : undefined;
  return { steps, open, said: underWay?.text ?? "", begun: begun || underWay !== undefined, asked, plan };
}

/** What was read so far. */
interface Reading {
  readonly steps: { text: string; readonly uses: Used[] }[];
  open: OpenUse | null;
  begun: boolean;
  readonly asked: Map<string, readonly number[]>;
  questions: number;
  plan: readonly PlanStep[];
}

function readEvent(reading: Reading, event: NewEvent): void {
  const { steps } = reading;
  const hasSaid = steps.at(-1)?.uses.length === 0;
  switch (event.type) {
    case "explanation":
      reading.begun = true;
      return;
    case "assistant_message":
      reading.begun = true;
      if (hasSaid) steps.push({ text: `${steps.pop()?.text}\n\n${event.payload.content}`, uses: [] });
      else steps.push({ text: event.payload.content, uses: [] });
      return;
    case "plan_update":
      reading.plan = event.payload.steps;
      addUse(reading, usedPlan(reading.plan), hasSaid ? steps.length : steps.length + 1);
      return;
    case "tool_used":
      readUse(reading, event.payload);
  }
}

function readUse(reading: Reading, { actionId, tool, status, params = {}, result = null }: EventPayloads["tool_used"]): void {
  if (status === "pending_confirmation") {
    reading.asked.set(actionId, [...(reading.asked.get(actionId) ?? []), reading.questions]);
    reading.questions += 1;
    reading.open = { callId: actionId, tool, input: params };
    return;
  }
  if (reading.open?.callId === actionId) reading.open = null;
  addUse(reading, { tool, input: params, result, isError: status === "error" }, placeOf(actionId)?.step ?? reading.steps.length + 1);
}

/** Puts a use into its step; the step's number, from 1, says where a new one begins. */
function addUse(reading: Reading, used: Used, number: number): void {
  const last = reading.steps.at(-1);
  if (last && number <= reading.steps.length) last.uses.push(used);
  else reading.steps.push({ text: "", uses: [used] });
  reading.begun = false;
}

const usedPlan = (steps: readonly PlanStep[]): Used => ({
  tool: planTool.name,
  input: { steps: steps.map(({ title, status }) => ({ title, status })) },
  result: "The plan is shown.",
  isError: false,
});
