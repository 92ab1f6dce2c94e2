import type { JsonObject } from "../../../core/json.ts";
import type { NewEvent, PlanStep } from "../../../core/tasks/event.ts";
import { conformsTo } from "./tool.ts";

export const statuses = ["todo", "doing", "done", "failed"] as const;

/**
 * The tool with which the model shows its plan. It costs nothing, and its events are a plan's, not a tool's.
 */
export const planTool = {
  name: "plan",
  description:
    "Shows the user your plan: all steps in order, at the start of longer work and whenever one begins or ends. One at a time is `doing`.",
  inputSchema: {
    type: "object",
    properties: {
      steps: {
        type: "array",
        minItems: 1,
        maxItems: 50,
        items: {
          type: "object",
          properties: {
            title: { type: "string", minLength: 1, maxLength: 200 },
            status: { type: "string", enum: [...statuses] },
          },
          required: ["title", "status"],
          additionalProperties: false,
        },
      },
    },
    required: ["steps"],
    additionalProperties: false,
  } satisfies JsonObject,
  /** The result of each use. */
  result: "The plan is shown.",
} as const;

interface PlanInput {
  readonly steps: readonly Pick<PlanStep, "title" | "status">[];
}

/**
 * The events of a plan update: the full plan, and each step that begins. A step keeps its times from the
 * previous plan when the title is the same.
 *
 * @param input conforms to the schema of `planTool`.
 * @param now Unix milliseconds.
 */
export function planEvents(input: JsonObject, before: readonly PlanStep[], now: number): readonly NewEvent[] {
  if (!conformsTo<PlanInput>(planTool.inputSchema, input))
    throw new Error("the plan does not conform to its schema");
  const at = Math.floor(now / 1000);
  const known = new Map(before.map((step) => [step.title, step]));
  const steps = input.steps.map((step) => withTimes(step, known.get(step.title), at));
  const started = steps.flatMap((step, index) =>
    step.status === "doing" && known.get(step.title)?.status !== "doing" ? [index] : [],
  );
  return [
    { type: "plan_update", payload: { steps } },
    ...started.map(
      (index): NewEvent => ({
        type: "new_plan_step",
        payload: { stepId: `step_${index + 1}`, title: steps[index]?.title ?? "" },
      }),
    ),
  ];
}

function withTimes(
  { title, status }: Pick<PlanStep, "title" | "status">,
  known: PlanStep | undefined,
  at: number,
): PlanStep {
  if (status === "todo") return { status, title };
  const startedAt = known?.startedAt ?? at;
  return status === "doing"
    ? { status, title, startedAt }
    : { status, title, startedAt, endAt: known?.endAt ?? at };
}

/** What the model reads once when it ends a turn while its plan has steps that are not ended. */
export const planReminder =
  "Your plan has steps that are not ended. If they are done, say so with plan, and give your complete answer again. Otherwise do them now, or say in your answer what is left and why.";

export const isOpen = ({ status }: Pick<PlanStep, "status">): boolean =>
  status === "doing" || status === "todo";

/**
 * The event that ends the plan's current step with its turn, as `failed`; none without a current step. Steps
 * that have not begun stay.
 */
export function closePlan(steps: readonly PlanStep[], now: number): readonly NewEvent[] {
  if (!steps.some((step) => step.status === "doing")) return [];
  const endAt = Math.floor(now / 1000);
  return [
    {
      type: "plan_update",
      payload: {
        steps: steps.map((step) =>
          step.status === "doing" ? { ...step, status: "failed" as const, endAt } : step,
        ),
      },
    },
  ];
}
