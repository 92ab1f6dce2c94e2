import type { WorkspaceFile, WorkspaceRows } from "../../core/workspaces/workspace.ts";
import type { Session } from "../session.ts";
import { insertInto, numberOf, sql, type Whole } from "../sql.ts";

interface WorkspaceFileRow {
  readonly task_id: string;
  readonly path: string;
  readonly space_id: string;
  readonly blob_id: string;
  readonly bytes: Whole;
  readonly sha256: string;
  readonly updated_at: Whole;
}

const columns = sql`task_id, path, space_id, blob_id, bytes, sha256, updated_at`;

/** Workspaces as rows. */
export function workspaceRows({ query, execute }: Session): WorkspaceRows {
  return {
    async list(taskId) {
      const rows = await query<WorkspaceFileRow>(sql`SELECT ${columns} FROM workspace_file WHERE task_id = ${taskId}`);
      // Databases put texts in orders of their own.
      return rows.map(fileOf).toSorted((a, b) => (a.path < b.path ? -1 : 1));
    },
    async find(taskId, path) {
      const [row] = await query<WorkspaceFileRow>(sql`
        SELECT ${columns} FROM workspace_file WHERE task_id = ${taskId} AND path = ${path}`);
      return row ? fileOf(row) : null;
    },
    async put({ taskId, path, spaceId, blobId, bytes, sha256, updatedAt }) {
      const row = { task_id: taskId, path, space_id: spaceId, blob_id: blobId, bytes, sha256, updated_at: updatedAt };
      await execute(sql`
        ${insertInto("workspace_file", [row])} ON CONFLICT (task_id, path) DO UPDATE
        SET blob_id = ${blobId}, bytes = ${bytes}, sha256 = ${sha256}, updated_at = ${updatedAt}`);
    },
    async remove(taskId, path) {
      await execute(sql`DELETE FROM workspace_file WHERE task_id = ${taskId} AND path = ${path}`);
    },
    async eraseOf(taskId) {
      const rows = await query<Pick<WorkspaceFileRow, "blob_id">>(sql`
        DELETE FROM workspace_file WHERE task_id = ${taskId} RETURNING blob_id`);
      return rows.map(({ blob_id }) => blob_id);
    },
  };
}

const fileOf = (row: WorkspaceFileRow): WorkspaceFile => ({
  taskId: row.task_id,
  path: row.path,
  spaceId: row.space_id,
  blobId: row.blob_id,
  bytes: numberOf(row.bytes),
  sha256: row.sha256,
  updatedAt: numberOf(row.updated_at),
});
