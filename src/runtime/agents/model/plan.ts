import type { JsonObject } from "../../../core/json.ts";
import type { NewEvent, PlanStep } from "../../../core/tasks/event.ts";

const statuses = ["todo", "doing", "done", "failed"] as const;

/** The tool by which the model tells its plan; it costs nothing and is told as a plan, not as a use of a tool. */
export const planTool = {
  name: "update_plan",
  description:
    "Shows the user your plan: all of its steps, in order, each with its status. Use it at the start of work that takes several steps, and again whenever a step begins or ends. One step at a time is `doing`.",
  inputSchema: {
    type: "object",
    properties: {
      steps: {
        type: "array",
        minItems: 1,
        maxItems: 50,
        items: {
          type: "object",
          properties: { title: { type: "string", minLength: 1, maxLength: 200 }, status: { type: "string", enum: [...statuses] } },
          required: ["title", "status"],
          additionalProperties: false,
        },
      },
    },
    required: ["steps"],
    additionalProperties: false,
  } satisfies JsonObject,
} as const;

/** What an input that fits the schema asks for. */
interface PlanInput {
  readonly steps: readonly Pick<PlanStep, "title" | "status">[];
}

/**
 * The events of a plan that was told: the whole of it, and each step that begins. Times of a step go on from the plan
 * before, which has it under the same title.
 *
 * @param now Unix milliseconds.
 */
export function planEvents(input: JsonObject, before: readonly PlanStep[], now: number): readonly NewEvent[] {
  // The schema has let nothing else in.
  const { steps: wanted } = input as unknown as PlanInput;
  const at = Math.floor(now / 1000);
  const known = new Map(before.map((step) => [step.title, step]));
  const steps = wanted.map((step) => timed(step, known.get(step.title), at));
  const begun = steps.flatMap((step, index) => (step.status === "doing" && known.get(step.title)?.status !== "doing" ? [index] : []));
  return [
    { type: "plan_update", payload: { steps } },
    ...begun.map(
      (index): NewEvent => ({ type: "new_plan_step", payload: { stepId: `step_${index + 1}`, title: steps[index]?.title ?? "" } }),
    ),
  ];
}

function timed({ title, status }: Pick<PlanStep, "title" | "status">, known: PlanStep | undefined, at: number): PlanStep {
  if (status === "todo") return { status, title };
  const startedAt = known?.startedAt ?? at;
  return status === "doing" ? { status, title, startedAt } : { status, title, startedAt, endAt: known?.endAt ?? at };
}

/** A step that is under way ends with its turn; nothing without one. */
export function closePlan(steps: readonly PlanStep[], status: "done" | "failed", now: number): readonly NewEvent[] {
  if (!steps.some((step) => step.status === "doing")) return [];
  const endAt = Math.floor(now / 1000);
  return [{ type: "plan_update", payload: { steps: steps.map((step) => (step.status === "doing" ? { ...step, status, endAt } : step)) } }];
}
