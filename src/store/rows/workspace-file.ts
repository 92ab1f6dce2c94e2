import type { WorkspaceRows } from "../../core/workspaces/workspace.ts";
import type { Session } from "../session.ts";
import { join, sql } from "../statements.ts";
import { tables } from "../table.ts";

const { workspaceFile } = tables;
const erased = workspaceFile.pick("blobId");
const files = sql`SELECT ${workspaceFile.of("workspace_file")} FROM workspace_file`;

export function workspaceRows(session: Session): WorkspaceRows {
  const { execute } = session;
  return {
    async list(taskId) {
      const found = await workspaceFile.rows(session)(sql`${files} WHERE task_id = ${taskId}`);
      // The databases' collations order texts differently.
      return found.toSorted((a, b) => (a.path < b.path ? -1 : 1));
    },
    find: (taskId, path) =>
      workspaceFile.row(session)(sql`${files} WHERE task_id = ${taskId} AND path = ${path}`),
    async put(file) {
      const { blobId, bytes, sha256, updatedAt } = file;
      await execute(sql`
        ${workspaceFile.insert(file)} ON CONFLICT (task_id, path) DO UPDATE
        SET ${join(workspaceFile.set({ blobId, bytes, sha256, updatedAt }))}`);
    },
    async remove(taskId, path) {
      await execute(sql`DELETE FROM workspace_file WHERE task_id = ${taskId} AND path = ${path}`);
    },
    async deleteOfTask(taskId) {
      const rows = await erased.rows(session)(sql`
        DELETE FROM workspace_file WHERE task_id = ${taskId} RETURNING ${erased.of("workspace_file")}`);
      return rows.map(({ blobId }) => blobId);
    },
  };
}
