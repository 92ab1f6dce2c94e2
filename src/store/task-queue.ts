import type { Claimable, TaskRows } from "../core/tasks/task.ts";
import type { Session } from "./session.ts";
import { join, numberOf, sql, type Whole } from "./sql.ts";
import type { TaskRow } from "./task-row.ts";

type ClaimableRow = Pick<TaskRow, "id" | "fence" | "node_id" | "claims">;

/** Which running tasks wait for a runner, and who has the others. */
export function queueOf({ query }: Session): Pick<TaskRows, "unowned" | "owned" | "countUnowned"> {
  return {
    async unowned(max) {
      const rows = await query<ClaimableRow>(sql`
        SELECT waiting.id, waiting.fence, waiting.node_id, waiting.claims FROM (
          SELECT t.id, t.fence, t.node_id, t.claims, t.queued_at,
            row_number() OVER (PARTITION BY t.account_id ORDER BY t.queued_at, t.id) + COALESCE(served.tasks, 0) AS place
          FROM task t LEFT JOIN (
            SELECT account_id, COUNT(*) AS tasks FROM task
            WHERE status = 'running' AND node_id IS NOT NULL AND deleted_at IS NULL GROUP BY account_id
          ) served ON served.account_id = t.account_id
          WHERE t.status = 'running' AND t.node_id IS NULL AND t.deleted_at IS NULL
        ) waiting ORDER BY waiting.place, waiting.queued_at, waiting.id LIMIT ${max}`);
      return rows.map(claimableOf);
    },
    async owned(nodeIds) {
      if (nodeIds.length === 0) return [];
      const rows = await query<ClaimableRow>(sql`
        SELECT id, fence, node_id, claims FROM task
        WHERE status = 'running' AND node_id IN (${join([...nodeIds])}) AND deleted_at IS NULL ORDER BY queued_at, id`);
      return rows.map(claimableOf);
    },
    async countUnowned(max) {
      const [row] = await query<{ readonly tasks: Whole }>(sql`
        SELECT COUNT(*) AS tasks FROM (
          SELECT 1 AS one FROM task WHERE status = 'running' AND node_id IS NULL AND deleted_at IS NULL LIMIT ${max}
        ) waiting`);
      return numberOf(row?.tasks ?? 0);
    },
  };
}

const claimableOf = ({ id, fence, node_id, claims }: ClaimableRow): Claimable => ({
  id,
  fence: numberOf(fence),
  nodeId: node_id,
  claims: numberOf(claims),
});
