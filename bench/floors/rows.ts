import { randomUUID } from "node:crypto";
import { restingTask } from "../../src/core/tasks/new-task.ts";
import type { Task } from "../../src/core/tasks/task.ts";

/** What the load generator says of whose tasks it means. */
export interface Asked {
  readonly task_id: string;
  readonly account_id: string;
  readonly space_id: string;
}

/** Which page of an export's tasks. */
export interface AskedPage {
  readonly limit: number;
  readonly offset: number;
}

/** What an export shows of a task, as `t`. */
export const recordColumns = `t.id, t.account_id, t.space_id, t.project_id, t.title, t.status, t.share_visibility,
  t.created_at, t.updated_at, t.last_message_at, t.deleted_at`;

/** A new task as its row has it. No server takes it up: it rests. */
export const newTask = ({ account_id: accountId, space_id: spaceId }: Asked): Task => ({
  ...restingTask(randomUUID(), { accountId, spaceId }, Date.now()),
  title: "What is 12 * 4?",
  agentProfile: "manus-1.6",
});
