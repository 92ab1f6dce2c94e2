import type { Metadata } from "../../core/tasks/metadata.ts";
import type { Task } from "../../core/tasks/task.ts";
import type { Session } from "../session.ts";
import { sql } from "../statements.ts";
import { tables } from "../table.ts";

type Owner = Pick<Task, "id" | "spaceId" | "accountId">;

/** Inserts the pairs of a new task. */
export async function insertMetadata(
  session: Session,
  { id: taskId, spaceId, accountId }: Owner,
  metadata: Metadata,
): Promise<void> {
  const rows = Object.entries(metadata).map(([key, value]) => ({ taskId, key, value, spaceId, accountId }));
  if (rows.length > 0) await session.write(tables.taskMetadata.insertAll(rows));
}

export async function replaceMetadata(session: Session, task: Owner, metadata: Metadata): Promise<void> {
  await deleteMetadata(session, task.id);
  await insertMetadata(session, task, metadata);
}

/** Deletes the pairs of a task. */
export async function deleteMetadata(session: Session, taskId: string): Promise<void> {
  await session.execute(sql`DELETE FROM task_metadata WHERE task_id = ${taskId}`);
}

/** Tasks of an account in a space with a pair, as a statement of ids. */
export const tasksWithPair = (
  { spaceId, accountId }: Pick<Task, "spaceId" | "accountId">,
  [key, value]: readonly [string, string],
) => sql`
  SELECT m.task_id AS id FROM task_metadata m
  WHERE m.space_id = ${spaceId} AND m.account_id = ${accountId} AND m.key = ${key} AND m.value = ${value}`;

/**
 * Whether the task `t` has a pair. It reads the key of the task and not the index of pairs: the planner
 * cannot turn it into a join.
 */
export const hasPair = ([key, value]: readonly [string, string]) =>
  sql`(SELECT 1 FROM task_metadata m WHERE m.task_id = t.id AND m.key = ${key} AND m.value = ${value}) IS NOT NULL`;
