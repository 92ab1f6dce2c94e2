import { dropArtifacts } from "../files/files.ts";
import type { Tx } from "../store.ts";
import type { Task } from "../tasks/task.ts";
import { notifiesWebhooks } from "../webhooks/notifications.ts";
import { deleteWorkspace } from "../workspaces/workspace.ts";

/** How a task is deleted. */
export interface TaskDeletion {
  /** Unix milliseconds. */
  readonly now: number;
  /** In a personal space nothing is kept. */
  readonly personal: boolean;
  /** The events of a team's deleted tasks are kept for its exports (spec/decisions.md 14). */
  readonly keepsEvents: boolean;
}

/** Deletes a locked task that does not run, with all that belongs to it. A tombstone stays. */
export async function deleteTask(
  tx: Tx,
  task: Task,
  { now, personal, keepsEvents }: TaskDeletion,
): Promise<void> {
  const { id } = task;
  await tx.actions.deleteOfTask(id);
  await tx.waits.deleteOfTask(id);
  await tx.workerEvents.deleteOfTask(id);
  if (personal || !keepsEvents) await tx.events.deleteOfTask(id);
  await tx.transcripts.deleteOfTask(id);
  await tx.idempotency.deleteOf(id);
  await tx.taskResources.deleteOfTask(id);
  if (notifiesWebhooks(task)) await tx.webhookEvents.deleteBodies(id);
  await dropArtifacts(tx, id);
  await deleteWorkspace(tx, id);
  await tx.websites.deleteOfTask(id, now, personal);
  await tx.tasks.tombstone(id, now, personal);
}
