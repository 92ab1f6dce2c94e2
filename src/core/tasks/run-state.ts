import type { Clock } from "../clock.ts";
import { waitingNode } from "./lifecycle.ts";
import type { TaskView } from "./task.ts";

/** Where the turn of a running task is (spec/api.md 8.74, 8.81). */
export type RunState = "queued" | "running" | "waiting_for_worker" | "waiting_for_subtasks";

export const isQueued = (state: RunState | null): boolean =>
  state === "queued" || state === "waiting_for_worker";

/** Whether the task keeps running without a runner until subtasks have ended. */
export const isWaitingForSubtasks = ({ status, nodeId }: Pick<TaskView, "status" | "nodeId">): boolean =>
  status === "running" && nodeId === waitingNode;

/**
 * A profile of remote workers is unserved after this many milliseconds without a call of one of its workers.
 */
export const unservedAfterMs = 60_000;
/** The highest place in the queue that `task.detail` reports. */
export const positionMax = 100;

/** Reads where the turn of a task is; null for a task that does not run. */
export type ReadRunState = (task: TaskView) => RunState | null;

/** @param remoteProfiles the profiles whose tasks remote workers run. */
export const runStateReader =
  (clock: Pick<Clock, "now">, remoteProfiles: readonly string[]): ReadRunState =>
  ({ status, nodeId, agentProfile, workerSeenAt }) => {
    if (status !== "running") return null;
    if (nodeId === waitingNode) return "waiting_for_subtasks";
    if (nodeId !== null) return "running";
    const isServed =
      !remoteProfiles.includes(agentProfile) || (workerSeenAt ?? 0) > clock.now() - unservedAfterMs;
    return isServed ? "queued" : "waiting_for_worker";
  };
