import type { ProjectLimit, Scope } from "../../core/accounts/caller.ts";
import type { LatestStatus, TaskStatus } from "../../core/tasks/task.ts";
import { applyCaps } from "../../core/visibility.ts";
import { allOf, join, raw, type Sql, sql } from "../statements.ts";
import { boolean, integer, integerOrNull, json, tables, textOrNull } from "../table.ts";

/** Schema, memo and request may be large: a task has only flags for their presence. */
const flags = {
  hasOutputSchema: boolean(sql`(output_schema IS NOT NULL)`),
  hasMemoOrRequest: boolean(sql`(memo IS NOT NULL OR turn_request IS NOT NULL)`),
};

/** What runs change has a second column, which no index has: the later one of both times counts. */
export const later = (indexed: number, inRun: number): number => Math.max(indexed, inRun);

/** When the task `t` was last changed. */
export const changedAt = sql`CASE WHEN t.touched_at > t.updated_at THEN t.touched_at ELSE t.updated_at END`;

/**
 * Tasks as `t`, by their last change. The index of `updated_at` has all but the tasks in run, of which there
 * are few: these are added.
 *
 * @param owner one account, or all accounts of a space.
 * @param where the condition, for this time of the last change.
 * @param order the order and the limit of the part that an index serves.
 */
export function byChange(
  { spaceId, accountId }: { readonly spaceId: string; readonly accountId?: string },
  where: (at: Sql) => Sql,
  order: (at: Sql) => Sql,
): Sql {
  const at = sql`t.updated_at`;
  const owned =
    accountId === undefined
      ? sql`r.space_id = ${spaceId}`
      : sql`r.space_id = ${spaceId} AND r.account_id = ${accountId}`;
  return sql`(
    SELECT * FROM (SELECT t.* FROM task t WHERE ${where(at)} AND (t.node_id IS NULL OR t.status <> 'running') ${order(at)}) settled
    UNION ALL SELECT t.* FROM running_task r CROSS JOIN task t
      WHERE ${owned} AND r.node_id IS NOT NULL AND t.id = r.id AND ${where(changedAt)}) t`;
}

/** A task, with its visibility limited by the team. */
export const taskShape = tables.task
  .pick(
    "id",
    "accountId",
    "spaceId",
    "clientId",
    "apiKeyId",
    "projectId",
    "agentId",
    "scheduleId",
    "type",
    "title",
    "status",
    "shareVisibility",
    "hidden",
    "agentProfile",
    "locale",
    "interactive",
    "references",
    "credits",
    "createdAt",
    "updatedAt",
    "touchedAt",
    "lastMessageAt",
    "lastSeq",
    "lastTimestamp",
    "messageSeq",
    "answeredSeq",
    "consumedSeq",
    "readSeq",
    "fence",
    "nodeId",
    "claims",
    "idleClaims",
    "queuedAt",
    "lastClaimedAt",
    "claimedAt",
    "allowed",
    "permissions",
    "untrusted",
    "requiredNodeId",
    "maxVisibility",
    "metadata",
    "parentId",
    "rootId",
    "depth",
    "parentTurn",
    "subtasks",
    "importedFrom",
    "traceparent",
  )
  .with(flags)
  .derive("updatedAt", ["updatedAt", "touchedAt"], later)
  .derive("lastClaimedAt", ["lastClaimedAt", "claimedAt"], later)
  .derive("shareVisibility", ["shareVisibility", "maxVisibility"], applyCaps);

/** The worker `w` may run the task `t`: by its profiles, and it has the labels of the task's profile. */
export const serves = sql`w.revoked_at IS NULL AND (w.profiles = '[]' OR w.profiles LIKE '%"' || t.agent_profile || '"%')
  AND NOT EXISTS (SELECT 1 FROM profile_label l WHERE l.profile = t.agent_profile AND w.labels NOT LIKE '%"' || l.label || '"%')`;

/** A value of a task that has started subtasks. Most tasks have none, and read nothing. */
const ifParent = (value: string, none: string): Sql =>
  raw(`(CASE WHEN t.subtasks > 0 THEN ${value} ELSE ${none} END)`);

/** The number of a task's own subtasks in a state. */
const subtasksIn = (status: TaskStatus) =>
  integer(
    ifParent(
      `(SELECT COUNT(*) FROM task c WHERE c.parent_id = t.id AND c.status = '${status}' AND c.deleted_at IS NULL)`,
      "0",
    ),
  );

const runs = (name: string): string => `${name}.status = 'running' AND ${name}.deleted_at IS NULL`;
/**
 * True while a task at any depth below runs. Subtasks are at most three deep, and only those below a root
 * name it.
 */
const runsBelow = `CASE WHEN t.root_id IS NULL THEN EXISTS (SELECT 1 FROM task c WHERE c.root_id = t.id AND ${runs("c")})
  ELSE EXISTS (SELECT 1 FROM task c WHERE c.parent_id = t.id AND c.deleted_at IS NULL AND (
    c.status = 'running' OR EXISTS (SELECT 1 FROM task g WHERE g.parent_id = c.id AND ${runs("g")}))) END`;
const creditsBelow = `CASE WHEN t.root_id IS NULL THEN (
  SELECT CAST(COALESCE(SUM(c.credits), 0) AS BIGINT) FROM task c WHERE c.root_id = t.id AND c.deleted_at IS NULL) ELSE 0 END`;

/**
 * A task with its progress and current names, by subqueries: on SQLite every column of a join costs several
 * times as much.
 */
export const taskViewShape = taskShape.with({
  apiKeyName: textOrNull(sql`(SELECT name FROM api_key WHERE id = t.api_key_id)`),
  accountName: textOrNull(sql`(SELECT name FROM account WHERE id = t.account_id)`),
  appName: textOrNull(sql`(SELECT name FROM oauth_app WHERE client_id = t.client_id)`),
  latestStatus: json<LatestStatus | null>(sql`t.latest_status`),
  statusSeq: integerOrNull(sql`t.status_seq`),
  waitingSince: integer(sql`t.waiting_since`),
  planDone: integerOrNull(sql`t.plan_done`),
  planTotal: integerOrNull(sql`t.plan_total`),
  subtasksRunning: subtasksIn("running"),
  subtasksWaiting: subtasksIn("waiting"),
  subtasksStopped: subtasksIn("stopped"),
  subtasksFailed: subtasksIn("error"),
  hasRunningSubtasks: boolean(ifParent(runsBelow, "FALSE")),
  subtaskCredits: integer(ifParent(creditsBelow, "0")),
  workerSeenAt: integerOrNull(sql`CASE WHEN t.status = 'running' AND t.node_id IS NULL THEN (
    SELECT MAX(w.seen_at) FROM worker w WHERE w.space_id = t.space_id AND ${serves}) END`),
});

export const views = sql`SELECT ${taskViewShape.of("t")} FROM task t`;

/**
 * Of a task with a given id. Without statistics PostgreSQL would prefer a partial index to the primary key,
 * which `IS NULL` allows.
 */
export const isKept = sql`COALESCE(deleted_at, -1) = -1`;

/**
 * The rows that a caller may see (spec/decisions.md 1, 26). @param id only this one, by the primary key: no
 * index serves the other conditions.
 */
export function visible({ accountId, spaceId, clientId, within }: Scope, id?: string | Sql): Sql {
  const equals = raw(id === undefined ? "=" : "IS NOT DISTINCT FROM");
  const conditions = [sql`t.space_id ${equals} ${spaceId}`, sql`t.account_id ${equals} ${accountId}`];
  conditions.push(...(id === undefined ? [sql`t.deleted_at IS NULL`] : [isKept, sql`t.id = ${id}`]));
  if (clientId !== undefined) conditions.push(sql`t.client_id = ${clientId}`);
  if (within !== undefined) conditions.push(inProjects(within));
  return allOf(conditions);
}

/** The tasks of the projects that a key is limited to; none when it has no project (spec/api.md 8.108). */
export const inProjects = ({ projectIds }: ProjectLimit): Sql =>
  sql`t.project_id IN (${join([...projectIds])})`;

const withinCap = sql`t.share_visibility <> 'private' AND (t.max_visibility IS NULL OR t.max_visibility <> 'private')`;

/**
 * The rows that sessions of a space's members may see by their visibility (spec/decisions.md 58, 82): the
 * condition of an index.
 */
export const visibleToTeam = (spaceId: string): Sql =>
  sql`t.space_id = ${spaceId} AND t.deleted_at IS NULL AND ${withinCap}`;

/** The tombstones of such rows: the condition of an index. */
export const goneFromTeam = (spaceId: string): Sql =>
  sql`t.space_id = ${spaceId} AND t.deleted_at IS NOT NULL AND ${withinCap}`;

/** An agent's main task exists before its first message. */
export const begun = sql`(t.agent_id IS NULL OR t.last_seq > 0)`;
