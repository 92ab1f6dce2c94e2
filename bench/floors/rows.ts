import { randomUUID } from "node:crypto";
import { idleTask } from "../../src/core/tasks/lifecycle.ts";
import type { Task } from "../../src/core/tasks/task.ts";

/** The load generator's input: the task and its owner. */
export interface FloorInput {
  readonly task_id: string;
  readonly account_id: string;
  readonly space_id: string;
}

/** The page of an export's tasks. */
export interface FloorPage {
  readonly limit: number;
  readonly offset: number;
}

/** The columns of a task in an export, from the alias `t`. */
export const recordColumns = `t.id, t.account_id, t.space_id, t.project_id, t.title, t.status, t.share_visibility,
  t.created_at, t.updated_at, t.last_message_at, t.deleted_at`;

/** A new task's row. It is idle, so no server claims it. */
export const newTask = ({ account_id: accountId, space_id: spaceId }: FloorInput): Task => ({
  ...idleTask(randomUUID(), { accountId, spaceId }, Date.now()),
  title: "What is 12 * 4?",
  agentProfile: "manus-1.6",
});
