import type { PublishTask, Tx } from "../../src/core/store.ts";
import type { Task } from "../../src/core/tasks/task.ts";
import type { ClaimableTask } from "../../src/core/tasks/task-rows.ts";
import { claimTasks as claim } from "../../src/runtime/claims.ts";

/** The tasks are not followed. */
export const unpublished: PublishTask = async (_, { task }) => task;

/** Claims tasks that are not followed. */
export const claimTasks = (
  tx: Tx,
  candidates: readonly ClaimableTask[],
  nodeId: string,
  now: number,
): Promise<readonly Task[]> => claim(tx, candidates, { nodeId, now, publishTask: unpublished });
