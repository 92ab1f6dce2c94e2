import { randomUUID } from "node:crypto";
import { restingTask } from "../../src/core/tasks/new-task.ts";
import type { Task } from "../../src/core/tasks/task.ts";

/** What the load generator says of whose tasks it means. */
export interface Asked {
  readonly task_id: string;
  readonly account_id: string;
  readonly space_id: string;
}

/** A new task as its row has it. No server takes it up: it rests. */
export const newTask = ({ account_id: accountId, space_id: spaceId }: Asked): Task => ({
  ...restingTask(randomUUID(), { accountId, spaceId }, Date.now()),
  title: "What is 12 * 4?",
  agentProfile: "manus-1.6",
});
