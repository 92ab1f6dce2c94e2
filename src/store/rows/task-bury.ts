import type { Task, TaskChanges } from "../../core/tasks/task.ts";
import { changeOf, type Session } from "../session.ts";
import { assignments, join, sql } from "../sql.ts";
import { type TaskRow, taskColumns } from "./task-row.ts";

/** What no tombstone keeps. */
const blank: TaskChanges & Partial<Task> = {
  outputSchema: null,
  memo: null,
  allowed: [],
  agentProfile: "",
  locale: "",
  references: [],
  clientId: null,
  apiKeyId: null,
  nodeId: null,
  hidden: false,
  credits: 0,
};

/** What a team's tombstone keeps for its exports, and a personal space has no use for. */
const blankPersonal: Partial<Task> = { title: "", type: "standard", status: "stopped", shareVisibility: "private", projectId: null };

/**
 * Makes a task a tombstone (contract/decisions.md 14). Its fence is raised, so that
 * whoever ran it may write no more. A second burial changes nothing.
 */
export async function bury(session: Session, id: string, now: number, personal: boolean): Promise<void> {
  const { news } = changeOf(session);
  const kept = assignments(taskColumns(personal ? { ...blank, ...blankPersonal } : blank));
  const [row] = await session.query<Pick<TaskRow, "last_seq" | "fence">>(sql`
    UPDATE task SET ${join(kept)}, fence = fence + 1, updated_at = ${now}, deleted_at = ${now}
    WHERE id = ${id} AND deleted_at IS NULL RETURNING last_seq, fence`);
  // Its row keeps the status that it had: who waits for the task would take that for known.
  if (row) news.set(id, { taskId: id, lastSeq: Number(row.last_seq), fence: Number(row.fence), status: "deleted" });
}
