import type { Scope } from "../../core/accounts/caller.ts";
import type { LatestStatus } from "../../core/tasks/task.ts";
import { applyCaps } from "../../core/visibility.ts";
import { type Sql, sql } from "../statements.ts";
import { boolean, integerOrNull, json, tables, textOrNull } from "../table.ts";

/** Schema and memo may be large: a task has only flags for their presence. */
const flags = { armed: boolean(sql`(output_schema IS NOT NULL)`), recalls: boolean(sql`(memo IS NOT NULL)`) };

/** A task, with its visibility limited by the team. */
export const taskShape = tables.task
  .omit(
    "outputSchema",
    "memo",
    "deletedAt",
    "sharedAt",
    "shareChangedAt",
    "latestStatus",
    "statusSeq",
    "planDone",
    "planTotal",
    "indexedSeq",
    "turnUntil",
  )
  .with(flags)
  .derive("shareVisibility", ["shareVisibility", "maxVisibility"], applyCaps);

/** The worker `w` may run the task `t`: by its profiles, and it has the labels of the task's profile. */
export const serves = sql`w.revoked_at IS NULL AND (w.profiles = '[]' OR w.profiles LIKE '%"' || t.agent_profile || '"%')
  AND NOT EXISTS (SELECT 1 FROM profile_label l WHERE l.profile = t.agent_profile AND w.labels NOT LIKE '%"' || l.label || '"%')`;

/** A task with its progress and current names, by subqueries: on SQLite every column of a join costs several times as much. */
export const taskViewShape = taskShape.with({
  apiKeyName: textOrNull(sql`(SELECT name FROM api_key WHERE id = t.api_key_id)`),
  accountName: textOrNull(sql`(SELECT name FROM account WHERE id = t.account_id)`),
  appName: textOrNull(sql`(SELECT name FROM oauth_app WHERE client_id = t.client_id)`),
  latestStatus: json<LatestStatus | null>(sql`t.latest_status`),
  statusSeq: integerOrNull(sql`t.status_seq`),
  planDone: integerOrNull(sql`t.plan_done`),
  planTotal: integerOrNull(sql`t.plan_total`),
  workerSeenAt: integerOrNull(sql`CASE WHEN t.status = 'running' AND t.node_id IS NULL THEN (
    SELECT MAX(w.seen_at) FROM worker w WHERE w.space_id = t.space_id AND ${serves}) END`),
});

/** Selects tasks for callers. */
export const views = sql`SELECT ${taskViewShape.of("t")} FROM task t`;

/** The rows that a caller may see (spec/decisions.md 1, 26). */
export function visible({ accountId, spaceId, clientId }: Scope): Sql {
  const own = sql`t.space_id = ${spaceId} AND t.account_id = ${accountId} AND t.deleted_at IS NULL`;
  return clientId === undefined ? own : sql`${own} AND t.client_id = ${clientId}`;
}

const withinCap = sql`t.share_visibility <> 'private' AND (t.max_visibility IS NULL OR t.max_visibility <> 'private')`;

/** The rows that sessions of a space's members may see by their visibility (spec/decisions.md 58, 82): the condition of an index. */
export const visibleToTeam = (spaceId: string): Sql => sql`t.space_id = ${spaceId} AND t.deleted_at IS NULL AND ${withinCap}`;

/** The tombstones of such rows: the condition of an index. */
export const goneFromTeam = (spaceId: string): Sql => sql`t.space_id = ${spaceId} AND t.deleted_at IS NOT NULL AND ${withinCap}`;

/** An agent's main task exists before its first message. */
export const begun = sql`(t.agent_id IS NULL OR t.last_seq > 0)`;
