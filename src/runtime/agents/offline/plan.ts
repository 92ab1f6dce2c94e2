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

/** The plan of a turn. */
export interface PlanKeeper {
  /** The current plan; undefined without one. */
  readonly plan: Plan | undefined;
  /** Replaces the plan with a new one, in which no step has begun. */
  replace(titles: readonly string[]): void;
  /** Returns the event with the current steps. */
  snapshot(): NewEvent;
  /** Ends the current step and begins the next one. */
  next(): readonly NewEvent[];
  /** Ends the current step. Returns no event without one. */
  close(status: "done" | "failed"): readonly NewEvent[];
}

/**
 * Keeps the plan of a turn, which starts with that of an earlier turn, if any. A resumed turn repeats the same times: a
 * written snapshot replaces a new one.
 */
export function planKeeper({ written, clock }: Pick<Turn, "written" | "clock">, left: Plan | undefined): PlanKeeper {
  const snapshots = written.flatMap((event) => (event.type === "plan_update" ? [event.payload.steps] : [])).values();
  let plan = left;

  function tell(change: (steps: readonly PlanStep[], at: number) => readonly PlanStep[]): NewEvent {
    const { steps = [], begun = 0 } = plan ?? {};
    plan = { steps: snapshots.next().value ?? change(steps, Math.floor(clock.now() / 1000)), begun };
    return { type: "plan_update", payload: { steps: plan.steps } };
  }

  return {
    get plan() {
      return plan;
    },
    replace(titles) {
      plan = { steps: titles.map((title) => ({ status: "todo", title })), begun: plan?.begun ?? 0 };
    },
    snapshot: () => tell((steps) => steps),
    next() {
      const event = tell((steps, at) => beginNext(endCurrent(steps, "done", at), at));
      const next = plan?.steps.find(isCurrent);
      if (!plan || !next) return [event];
      plan = { ...plan, begun: plan.begun + 1 };
      return [event, { type: "new_plan_step", payload: { stepId: `step_${plan.begun}`, title: next.title } }];
    },
    close: (status) => (plan?.steps.some(isCurrent) ? [tell((steps, at) => endCurrent(steps, status, at))] : []),
  };
}

const isCurrent = ({ status }: PlanStep): boolean => status === "doing";

const endCurrent = (steps: readonly PlanStep[], status: "done" | "failed", endAt: number): readonly PlanStep[] =>
  steps.map((step) => (isCurrent(step) ? { ...step, status, endAt } : step));

function beginNext(steps: readonly PlanStep[], startedAt: number): readonly PlanStep[] {
  const next = steps.findIndex(({ status }) => status === "todo");
  return steps.map((step, i) => (i === next ? { ...step, status: "doing", startedAt } : step));
}
