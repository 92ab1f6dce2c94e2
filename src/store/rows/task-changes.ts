import { createHash } from "node:crypto";
import type { ChangedTask, TaskRows } from "../../core/tasks/task-rows.ts";
import type { Session } from "../session.ts";
import { type Sql, sql } from "../statements.ts";
import { tables } from "../table.ts";
import { byChange, changedAt, goneFromTeam, inProjects, visibleToTeam } from "./task-row.ts";

/** The columns that lists show and that change. Those of the latest events change with `lastSeq`. */
const shape = tables.task.pick(
  ...([
    "id",
    "updatedAt",
    "touchedAt",
    "deletedAt",
    "lastSeq",
    "fence",
    "status",
    "type",
    "title",
    "shareVisibility",
  ] as const),
  ...(["maxVisibility", "hidden", "agentProfile", "credits", "metadata", "projectId"] as const),
);

/**
 * Reads two indexes, one of tasks by their last change and one of tombstones. The version has every shown
 * column: two changes in one millisecond have the same `updatedAt`.
 */
export async function listChanged(
  session: Session,
  { spaceId, accountId, within }: Parameters<TaskRows["listChanged"]>[0],
  since: number,
  max: number,
): Promise<readonly ChangedTask[]> {
  const owner = sql`t.space_id = ${spaceId} AND t.account_id = ${accountId}`;
  const owned = within === undefined ? owner : sql`${owner} AND ${inProjects(within)}`;
  const present = byChange(
    { spaceId, accountId },
    (at) => sql`${owned} AND t.deleted_at IS NULL AND ${at} >= ${since}`,
    (at) => sql`ORDER BY ${at}, t.id LIMIT ${max}`,
  );
  const gone = sql`SELECT t.id FROM task t WHERE ${owned} AND t.deleted_at IS NOT NULL AND t.deleted_at >= ${since} ORDER BY t.deleted_at, t.id LIMIT ${max}`;
  const rows = await shape.rows(session)(sql`
    SELECT ${shape.of("t")} FROM task t WHERE t.id IN (SELECT t.id FROM ${present} UNION ALL SELECT f.id FROM (${gone}) f)
    ORDER BY ${changedAt}, t.id LIMIT ${max}`);
  return rows.map(toChange);
}

const unseen = tables.task.pick("id", "shareChangedAt", "deletedAt");

/**
 * Reads the tasks that the team sees by their last change. Of other tasks it reads when their sharing changed
 * or when they were deleted, and nothing of what happens to them later.
 */
export async function listChangedInTeam(
  session: Session,
  spaceId: string,
  since: number,
  max: number,
): Promise<readonly ChangedTask[]> {
  const seen = visibleToTeam(spaceId);
  const present = await shape.rows(session)(sql`
    SELECT ${shape.of("t")} FROM ${byChange(
      { spaceId },
      (at) => sql`${seen} AND ${at} >= ${since}`,
      (at) => sql`ORDER BY ${at}, t.id LIMIT ${max}`,
    )} ORDER BY ${changedAt}, t.id LIMIT ${max}`);
  const wasShared = sql`t.space_id = ${spaceId} AND t.deleted_at IS NULL AND (t.share_visibility <> 'private' OR t.shared_at IS NOT NULL)`;
  const part = (where: Sql, at: Sql): Sql =>
    sql`SELECT f.id FROM (SELECT t.id FROM task t WHERE ${where} AND ${at} >= ${since} ORDER BY ${at}, t.id LIMIT ${max}) f`;
  const hidden = part(
    sql`${wasShared} AND NOT (${seen}) AND t.share_changed_at IS NOT NULL`,
    sql`t.share_changed_at`,
  );
  const gone = part(goneFromTeam(spaceId), sql`t.deleted_at`);
  const absent = await unseen.rows(session)(sql`
    SELECT ${unseen.of("t")} FROM task t WHERE t.id IN (${hidden} UNION ALL ${gone}) ORDER BY t.id LIMIT ${max}`);
  return [...present, ...absent].map(toChange);
}

/** The version is a digest of every column that was read but the id. */
const toChange = ({ id, ...rest }: { readonly id: string }): ChangedTask => ({
  id,
  version: createHash("sha256").update(JSON.stringify(rest)).digest("base64"),
});
