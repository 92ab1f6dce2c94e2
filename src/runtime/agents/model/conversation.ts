import type { Json, JsonObject } from "../../../core/json.ts";
import type { NewEvent, PlanStep } from "../../../core/tasks/event.ts";
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
  const steps: { text: string; uses: Used[] }[] = [];
  const asked = new Map<string, number[]>();
  let open: OpenUse | null = null;
  let begun = false;
  let plan: readonly PlanStep[] = [];
  let questions = 0;

  /** The step that a use belongs to; the model's own number says where a new one begins. */
  function use(used: Used, number: number): void {
    const last = steps.at(-1);
    if (last && number <= steps.length) last.uses.push(used);
    else steps.push({ text: "", uses: [used] });
    begun = false;
  }

  for (const event of events) {
    if (event.type === "explanation") begun = true;
    if (event.type === "assistant_message") {
      const last = steps.at(-1);
      if (last && last.uses.length === 0) last.text += `\n\n${event.payload.content}`;
      else steps.push({ text: event.payload.content, uses: [] });
      begun = true;
    }
    if (event.type === "plan_update") {
      plan = event.payload.steps;
      const last = steps.at(-1);
      use(usedPlan(plan), last && last.uses.length === 0 ? steps.length : steps.length + 1);
    }
    if (event.type !== "tool_used") continue;
    const { actionId, tool, status, params = {}, result = null } = event.payload;
    if (status === "pending_confirmation") {
      asked.set(actionId, [...(asked.get(actionId) ?? []), questions]);
      questions += 1;
      open = { callId: actionId, tool, input: params };
      continue;
    }
    if (open?.callId === actionId) open = null;
    use({ tool, input: params, result, isError: status === "error" }, placeOf(actionId)?.step ?? steps.length + 1);
  }
  const underWay = steps.at(-1)?.uses.length === 0 ? steps.pop() : undefined;
  return { steps, open, said: underWay?.text ?? "", begun: begun || underWay !== undefined, asked, plan };
}

const usedPlan = (steps: readonly PlanStep[]): Used => ({
  tool: planTool.name,
  input: { steps: steps.map(({ title, status }) => ({ title, status })) },
  result: "The plan is shown.",
  isError: false,
});
