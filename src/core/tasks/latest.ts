import type { EventPayloads, NewEvent } from "./event.ts";
import type { LatestStatus, TaskProgress, TaskStatus } from "./task.ts";

/** Progress as new events change it; absent members stay as they are. `statusAt` is the place of the latest status_update, from 1. */
export interface ProgressChange extends Partial<Omit<TaskProgress, "statusSeq">> {
  readonly statusAt?: number;
}

/** The change of a task's progress by new events, which are in order. */
export const progressOf = (events: readonly NewEvent[]): ProgressChange => ({ ...statusOf(events), ...planOf(events) });

function statusOf(events: readonly NewEvent[]): ProgressChange {
  const index = events.findLastIndex(({ type }) => type === "status_update");
  const event = events[index];
  if (event?.type !== "status_update") return {};
  return { latestStatus: toLatest(event.payload, events[index - 1]?.type === "user_stop"), statusAt: index + 1 };
}

const toLatest = ({ agentStatus, brief, statusDetail }: EventPayloads["status_update"], byUser: boolean): LatestStatus => ({
  status: agentStatus,
  brief,
  ...(statusDetail ? { detail: statusDetail } : {}),
  ...(byUser ? { byUser } : {}),
});

function planOf(events: readonly NewEvent[]): ProgressChange {
  const event = events.findLast(({ type }) => type === "plan_update");
  if (event?.type !== "plan_update") return {};
  const { steps } = event.payload;
  return { planDone: steps.filter(({ status }) => status === "done").length, planTotal: steps.length };
}

/** How the latest turn ended. */
export type TaskOutcome = "finished" | "stopped" | "failed";

/** The latest status, if it is that of the task: an older release does not write it. */
export const currentStatus = (task: { readonly status: TaskStatus } & TaskProgress): LatestStatus | null =>
  task.latestStatus?.status === task.status ? task.latestStatus : null;

/** How the latest turn of a task ended; null while it runs or waits, and when that is not known. */
export function outcomeOf(task: { readonly status: TaskStatus } & TaskProgress): TaskOutcome | null {
  if (task.status === "error") return "failed";
  const latest = currentStatus(task);
  if (task.status !== "stopped" || latest === null) return null;
  return latest.byUser ? "stopped" : "finished";
}
