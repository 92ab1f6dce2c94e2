import type { NewEvent, PlanStep } from "../../../core/tasks/event.ts";
import type { Turn } from "../../agent.ts";

/** A plan, as a turn stores it for the next turn. */
export interface Plan {
  readonly steps: readonly PlanStep[];
  /** The number of steps that have begun, including earlier plans; ids of steps are numbered by it. */
  readonly begun: number;
}

/** How many more `step` directives are possible: one into each open step, and one out of the last step. */
export function stepsLeft({ steps }: Plan): number {
  const todo = steps.filter(({ status }) => status === "todo").length;
  return todo > 0 || steps.some(isCurrent) ? todo + 1 : 0;
}

export type PlanKeeper = ReturnType<typeof planKeeper>;

/** Keeps the plan of a turn. A resumed turn repeats the same times: a written snapshot replaces a new one. */
export function planKeeper({ written, clock }: Pick<Turn, "written" | "clock">, left: Plan | undefined) {
  const snapshots = written
    .flatMap((event) => (event.type === "plan_update" ? [event.payload.steps] : []))
    .values();
  let plan = left;

  function planEvent(change: (step: PlanStep, i: number, at: number) => PlanStep): NewEvent {
    const { steps = [], begun = 0 } = plan ?? {};
    const at = Math.floor(clock.now() / 1000);
    plan = { steps: snapshots.next().value ?? steps.map((step, i) => change(step, i, at)), begun };
    return { type: "plan_update", payload: { steps: plan.steps } };
  }

  return {
    /** The current plan; undefined without one. */
    get plan() {
      return plan;
    },
    /** Replaces the plan with a new one, in which no step has begun. */
    replace(titles: readonly string[]) {
      plan = { steps: titles.map((title) => ({ status: "todo" as const, title })), begun: plan?.begun ?? 0 };
    },
    snapshot: () => planEvent((step) => step),
    /** Ends the current step and begins the next one. */
    next(): readonly NewEvent[] {
      const todo = plan?.steps.findIndex(({ status }) => status === "todo");
      const event = planEvent((step, i, at) =>
        i === todo ? { ...step, status: "doing", startedAt: at } : end(step, "done", at),
      );
      const current = plan?.steps.find(isCurrent);
      if (!plan || !current) return [event];
      plan = { ...plan, begun: plan.begun + 1 };
      return [
        event,
        { type: "new_plan_step", payload: { stepId: `step_${plan.begun}`, title: current.title } },
      ];
    },
    /** Ends the current step. No event without one. */
    close: (status: "done" | "failed"): readonly NewEvent[] =>
      plan?.steps.some(isCurrent) ? [planEvent((step, _i, at) => end(step, status, at))] : [],
  };
}

const isCurrent = ({ status }: PlanStep): boolean => status === "doing";

const end = (step: PlanStep, status: "done" | "failed", endAt: number): PlanStep =>
  isCurrent(step) ? { ...step, status, endAt } : step;
