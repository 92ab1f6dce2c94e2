import type { NewEvent, PlanStep } from "../../../core/tasks/event.ts";
import type { Turn } from "../../agent.ts";

/** A plan as one turn leaves it to the next. */
export interface Plan {
  readonly steps: readonly PlanStep[];
  /** So many steps were told to begin, those of earlier plans too: ids of steps are numbered by it. */
  readonly begun: number;
}

/** How often one more step may be taken: into each step that is left, and out of the last one. */
export function stepsLeft({ steps }: Plan): number {
  const todo = steps.filter(({ status }) => status === "todo").length;
  return todo > 0 || steps.some(isUnderWay) ? todo + 1 : 0;
}

/** The plan of a turn at work. */
export interface PlanKeeper {
  /** As it stands; undefined before there is one. */
  readonly plan: Plan | undefined;
  /** Puts a plan with nothing done in place of the one before. */
  draw(titles: readonly string[]): void;
  /** Tells all steps as they stand. */
  tell(): NewEvent;
  /** Ends the step under way and begins the next one. */
  step(): readonly NewEvent[];
  /** Ends the step under way; nothing without one. */
  close(status: "done" | "failed"): readonly NewEvent[];
}

/**
 * Keeps the plan that an earlier turn left, if any. A turn that is resumed tells the
 * same times again: a snapshot that is written already stands in place of a new one.
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
    draw(titles) {
      plan = { steps: titles.map((title) => ({ status: "todo", title })), begun: plan?.begun ?? 0 };
    },
    tell: () => tell((steps) => steps),
    step() {
      const event = tell((steps, at) => opened(closed(steps, "done", at), at));
      const next = plan?.steps.find(isUnderWay);
      if (!plan || !next) return [event];
      plan = { ...plan, begun: plan.begun + 1 };
      return [event, { type: "new_plan_step", payload: { stepId: `step_${plan.begun}`, title: next.title } }];
    },
    close: (status) => (plan?.steps.some(isUnderWay) ? [tell((steps, at) => closed(steps, status, at))] : []),
  };
}

const isUnderWay = ({ status }: PlanStep): boolean => status === "doing";

const closed = (steps: readonly PlanStep[], status: "done" | "failed", endAt: number): readonly PlanStep[] =>
  steps.map((step) => (isUnderWay(step) ? { ...step, status, endAt } : step));

function opened(steps: readonly PlanStep[], startedAt: number): readonly PlanStep[] {
  const next = steps.findIndex(({ status }) => status === "todo");
  return steps.map((step, i) => (i === next ? { ...step, status: "doing", startedAt } : step));
}
