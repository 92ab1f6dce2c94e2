import type { PlanStep } from "#proto/task/v2/task_event_pb.ts";
import styles from "./task.module.css";
import { doneSteps } from "./timeline.ts";
import { text } from "./words.ts";

/** How much of a plan is done; a finished plan has the colour of what is done. */
export const PlanBar = ({ plan }: { plan: readonly PlanStep[] }) => (
  <progress
    className={doneSteps(plan) === plan.length ? styles.finished : ""}
    value={doneSteps(plan)}
    max={plan.length}
    aria-label={text.plan}
  />
);
