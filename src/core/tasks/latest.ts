import { isWhole } from "../actions/is-whole.ts";
import type { EventPayloads, NewEvent, WaitDetail } from "./event.ts";
import type { LatestStatus, TaskProgress, TaskStatus } from "./task.ts";

/**
 * Progress as new events change it; absent members stay as they are. `statusAt` is the place of the latest
 * status_update, from 1.
 */
export interface ProgressChange extends Partial<Omit<TaskProgress, "statusSeq">> {
  readonly statusAt?: number;
}

/** The change of a task's progress by new events, which are in order. */
export const progressOf = (events: readonly NewEvent[]): ProgressChange => ({
  ...statusOf(events),
  ...planOf(events),
});

function statusOf(events: readonly NewEvent[]): ProgressChange {
  const index = events.findLastIndex(({ type }) => type === "status_update");
  const event = events[index];
  if (event?.type !== "status_update") return {};
  return { latestStatus: toLatest(event.payload, events[index - 1]), statusAt: index + 1 };
}

/** @param before the event directly before the status: the stop, or what the task waits for. */
const toLatest = (
  { agentStatus, brief, statusDetail }: EventPayloads["status_update"],
  before: NewEvent | undefined,
): LatestStatus => ({
  status: agentStatus,
  brief,
  ...(statusDetail
    ? { detail: statusDetail, ...(isShownWhole(statusDetail, before) ? { isWhole: true } : {}) }
    : {}),
  ...(before?.type === "user_stop" ? { byUser: true } : {}),
});

/** A question is not an action, so its description shows none. */
const isShownWhole = (detail: WaitDetail, before: NewEvent | undefined): boolean =>
  before?.type === "tool_used" &&
  isWhole({
    kind: detail.waitingForEventType,
    description: detail.waitingDescription,
    params: before.payload.params,
    schema: detail.confirmInputSchema,
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
export const currentStatus = (task: { status: TaskStatus } & TaskProgress): LatestStatus | null =>
  task.latestStatus?.status === task.status ? task.latestStatus : null;

/** How the latest turn of a task ended; null while it runs or waits, and when that is not known. */
export function outcomeOf(task: { status: TaskStatus } & TaskProgress): TaskOutcome | null {
  if (task.status === "error") return "failed";
  const latest = currentStatus(task);
  if (task.status !== "stopped" || latest === null) return null;
  return latest.byUser ? "stopped" : "finished";
}
