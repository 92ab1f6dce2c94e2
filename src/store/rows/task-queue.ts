import type { Claimable, QueueFilter, TaskRows } from "../../core/tasks/task.ts";
import type { Dialect, Session } from "../session.ts";
import { all, join, numberOf, raw, type Sql, sql, type Whole } from "../sql.ts";
import type { TaskRow } from "./task-row.ts";

type ClaimableRow = Pick<TaskRow, "id" | "fence" | "node_id" | "claims">;

/** Which running tasks wait for a runner, and who has the others. */
export function queueOf({ query, dialect }: Session): Pick<TaskRows, "unowned" | "owned" | "runningOf" | "countSubtasks" | "countUnowned"> {
  return {
    async unowned(max, filter = {}) {
      const waiting: Waiting = { from: queue[dialect], where: waits(filter) };
      const rows = await query<ClaimableRow>(sql`
        WITH RECURSIVE ${accounts(waiting)}, ${running}, ${inTurn(waiting, max)}
        SELECT w.id, w.fence, w.node_id, w.claims FROM in_turn ${withFirst(dialect, waiting, max)}
        ORDER BY in_turn.tasks + row_number() OVER (PARTITION BY w.account_id ORDER BY w.queued_at, w.id),
          in_turn.served_at, w.queued_at, w.id
        LIMIT ${max}`);
      return rows.map(claimableOf);
    },
    async runningOf({ accountId, spaceId }) {
      const rows = await query<{ readonly id: string }>(sql`
        SELECT t.id FROM ${whatRuns[dialect]}
        WHERE t.status = 'running' AND t.account_id = ${accountId} AND t.space_id = ${spaceId} AND t.deleted_at IS NULL ORDER BY t.id`);
      return rows.map(({ id }) => id);
    },
    async countSubtasks({ id, agentId, consumedSeq }, begun) {
      const made = begun.length === 0 ? sql`0` : sql`(SELECT COUNT(*) FROM task WHERE id IN (${join([...begun])}))`;
      const since = sql`(SELECT timestamp FROM task_event WHERE task_id = ${id} AND seq = ${consumedSeq})`;
      const [row] = await query<Readonly<Record<"running" | "recent" | "made", Whole>>>(sql`
        SELECT COUNT(CASE WHEN status = 'running' THEN 1 END) AS running, COUNT(CASE WHEN created_at >= ${since} THEN 1 END) AS recent,
          ${made} AS made
        FROM task WHERE agent_id = ${agentId} AND type = 'agent_subtask' AND deleted_at IS NULL`);
      const coming = begun.length - numberOf(row?.made ?? 0);
      return { running: numberOf(row?.running ?? 0) + coming, ofTurn: numberOf(row?.recent ?? 0) + coming };
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

/** The queue as `t`. SQLite's planner would take the index of what runs, and sort it all. */
const queue: Record<Dialect, Sql> = { sqlite: raw("task t INDEXED BY task_waiting"), postgresql: raw("task t") };
/** What runs as `t`. SQLite's planner would go through all tasks of the account. */
const whatRuns: Record<Dialect, Sql> = { sqlite: raw("task t INDEXED BY task_running"), postgresql: raw("task t") };

/** What is looked at in the queue: the table as `t`, and the conditions. */
interface Waiting {
  readonly from: Sql;
  readonly where: Sql;
}

/** Without a filter the statement says nothing of profiles: whoever runs all of them pays nothing for it. */
function waits({ spaceId, profiles, otherThan = [], nodeId }: QueueFilter): Sql {
  const conditions = [sql`t.status = 'running' AND t.node_id IS NULL AND t.deleted_at IS NULL`];
  if (spaceId !== undefined) conditions.push(sql`t.space_id = ${spaceId}`);
  if (profiles !== undefined) conditions.push(profiles.length === 0 ? sql`1 = 0` : sql`t.agent_profile IN (${join([...profiles])})`);
  if (otherThan.length > 0) conditions.push(sql`t.agent_profile NOT IN (${join([...otherThan])})`);
  if (nodeId !== undefined) conditions.push(sql`(t.wants_node IS NULL OR t.wants_node = ${nodeId} OR ${orphaned})`);
  return all(conditions);
}

/** The process that it wants is no more. */
const orphaned = sql`NOT EXISTS (SELECT 1 FROM node n WHERE n.id = t.wants_node)`;

/** The accounts in the queue. From one to the next it is a step in the index, however much waits between. */
const accounts = ({ from, where }: Waiting): Sql => sql`account (id) AS (
  SELECT (SELECT t.account_id FROM ${from} WHERE ${where} ORDER BY t.account_id LIMIT 1)
  UNION ALL
  SELECT (SELECT t.account_id FROM ${from} WHERE ${where} AND t.account_id > account.id ORDER BY t.account_id LIMIT 1)
  FROM account WHERE account.id IS NOT NULL
)`;

/** How many tasks of an account run. */
const running = sql`busy (account_id, tasks) AS (
  SELECT account_id, COUNT(*) FROM task WHERE status = 'running' AND node_id IS NOT NULL AND deleted_at IS NULL GROUP BY account_id
)`;

/** The accounts whose tasks can be among the first: no more than tasks are asked for. */
function inTurn({ from, where }: Waiting, max: number): Sql {
  const oldest = (column: string) => sql`(
    SELECT ${raw(column)} FROM ${from} WHERE ${where} AND t.account_id = account.id ORDER BY t.queued_at, t.id LIMIT 1)`;
  return sql`in_turn (account_id, tasks, served_at) AS (
    SELECT account.id, COALESCE(busy.tasks, 0), (SELECT MAX(t.served_at) FROM task t WHERE t.account_id = account.id) AS served_at
    FROM account LEFT JOIN busy ON busy.account_id = account.id WHERE account.id IS NOT NULL
    ORDER BY COALESCE(busy.tasks, 0), served_at, ${oldest("t.queued_at")}, ${oldest("t.id")} LIMIT ${max}
  )`;
}

/** Joins the first waiting tasks of each of these accounts, as `w`; SQLite has no LATERAL. */
function withFirst(dialect: Dialect, { from, where }: Waiting, max: number): Sql {
  const first = (columns: string) => sql`
    SELECT ${raw(columns)} FROM ${from} WHERE ${where} AND t.account_id = in_turn.account_id
    ORDER BY t.queued_at, t.id LIMIT ${max}`;
  if (dialect === "sqlite") return sql`CROSS JOIN task w ON w.id IN (${first("t.id")})`;
  return sql`CROSS JOIN LATERAL (${first("t.id, t.fence, t.node_id, t.claims, t.account_id, t.queued_at")}) w`;
}

const claimableOf = ({ id, fence, node_id, claims }: ClaimableRow): Claimable => ({
  id,
  fence: numberOf(fence),
  nodeId: node_id,
  claims: numberOf(claims),
});
