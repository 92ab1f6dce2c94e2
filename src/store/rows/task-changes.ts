import { createHash } from "node:crypto";
import type { ChangedTask, TaskRows } from "../../core/tasks/task.ts";
import type { Session } from "../session.ts";
import { type Sql, sql } from "../statements.ts";
import { tables } from "../table.ts";

/** The columns that lists show and that change. Those of the latest events change with `lastSeq`. */
const shape = tables.task.pick(
  ...(["id", "updatedAt", "deletedAt", "lastSeq", "fence", "status", "type", "title", "shareVisibility"] as const),
  ...(["maxVisibility", "hidden", "agentProfile", "credits", "metadata", "projectId"] as const),
);

/**
 * Reads two indexes, one of tasks by their last change and one of tombstones. The version has every shown column: two
 * changes in one millisecond have the same `updatedAt`.
 */
export async function listChanged(
  session: Session,
  { spaceId, accountId }: Parameters<TaskRows["listChanged"]>[0],
  since: number,
  max: number,
): Promise<readonly ChangedTask[]> {
  const owned = sql`t.space_id = ${spaceId} AND t.account_id = ${accountId}`;
  const part = (where: Sql, at: Sql): Sql =>
    sql`SELECT f.id FROM (SELECT t.id FROM task t WHERE ${owned} AND ${where} AND ${at} >= ${since} ORDER BY ${at}, t.id LIMIT ${max}) f`;
  const present = part(sql`t.deleted_at IS NULL`, sql`t.updated_at`);
  const gone = part(sql`t.deleted_at IS NOT NULL`, sql`t.deleted_at`);
  const rows = await shape.rows(session)(sql`
    SELECT ${shape.of("t")} FROM task t WHERE t.id IN (${present} UNION ALL ${gone}) ORDER BY t.updated_at, t.id LIMIT ${max}`);
  return rows.map(({ id, ...rest }) => ({ id, version: createHash("sha256").update(JSON.stringify(rest)).digest("base64") }));
}
