import { waitingNode } from "../../core/tasks/lifecycle.ts";
import type { QueueFilter, TaskRows } from "../../core/tasks/task-rows.ts";
import type { Session } from "../session.ts";
import { allOf, type Dialect, join, raw, type Sql, sql } from "../statements.ts";
import { boolean, computedShape, integer, tables } from "../table.ts";
import { fullProfiles } from "./agent-profile.ts";

const claimable = tables.task.pick("id", "fence", "nodeId", "claims", "spaceId", "agentProfile");
const queued = claimable.with({
  isLimited: boolean(sql`EXISTS (
    SELECT 1 FROM agent_profile p WHERE p.space_id = w.space_id AND p.profile = w.agent_profile AND p.concurrency IS NOT NULL)`),
});
const taskIds = tables.task.pick("id");
const queuedAlone = queued.with({ isAlone: boolean(sql`(SELECT first = last FROM ends)`) });
const counted = computedShape({ count: integer(sql`COUNT(*)`) });
const subtasks = computedShape({
  living: integer(sql`living`),
  total: integer(sql`total`),
  made: integer(sql`made`),
});
const subtaskEnd = tables.task.pick("id", "title", "status", "lastSeq");

type QueueRows = Pick<
  TaskRows,
  | "listUnowned"
  | "canSkipQueue"
  | "listOwned"
  | "listOverdue"
  | "listRunning"
  | "countSubtasks"
  | "listSubtasks"
  | "listLiving"
  | "listOfTurn"
  | "countUnowned"
  | "queuePosition"
>;

/** Whether a space limits the runs of a profile. */
const isLimited = (spaceId: string, profile: string): Sql => sql`EXISTS (
  SELECT 1 FROM agent_profile WHERE space_id = ${spaceId} AND profile = ${profile} AND (concurrency IS NOT NULL OR time_limit IS NOT NULL))`;

const isLiving = sql`status IN ('running', 'waiting')`;

/** The running tasks that wait for a runner, and the owners of the others. */
export function queueOf(session: Session): QueueRows {
  const { dialect, query } = session;
  async function subtaskIds(parentId: string, where: Sql, max: number): Promise<readonly string[]> {
    const rows = await taskIds.rows(session)(sql`
      SELECT ${taskIds.of("t")} FROM task t WHERE t.parent_id = ${parentId} AND t.deleted_at IS NULL AND ${where}
      ORDER BY t.created_at, t.id LIMIT ${max}`);
    return rows.map(({ id }) => id);
  }
  return {
    async listUnowned(max, filter = {}) {
      const waiting: Waiting = { from: queue[dialect], where: sql`${waits(filter)} AND ${notFull}` };
      // On PostgreSQL a round trip costs more than the complete statement.
      const first = dialect === "sqlite" ? await queuedAlone.rows(session)(ofFirst(waiting, max)) : null;
      if (first && (first[0]?.isAlone ?? true)) return first.map(({ isAlone: _, ...task }) => task);
      return queued.rows(session)(sql`
        WITH RECURSIVE ${fullProfiles(dialect)}, ${inFairOrder(dialect, max, waiting.where)}
        SELECT ${queued.of("w")} FROM ranked JOIN task w ON w.id = ranked.id ORDER BY ranked.place`);
    },
    async canSkipQueue({ id, spaceId, agentProfile }, filter) {
      const free = await query(sql`
        SELECT 1 FROM node n WHERE n.id = ${filter.nodeId} AND NOT ${isLimited(spaceId, agentProfile)}
          AND NOT EXISTS (SELECT 1 FROM ${queue[dialect]} WHERE ${waits(filter)} AND t.id <> ${id})`);
      return free.length > 0;
    },
    async listRunning({ accountId, spaceId }) {
      const rows = await taskIds.rows(session)(sql`
        SELECT ${taskIds.of("t")} FROM ${runningTasks[dialect]}
        WHERE t.status = 'running' AND t.account_id = ${accountId} AND t.space_id = ${spaceId} AND t.deleted_at IS NULL ORDER BY t.depth, t.id`);
      return rows.map(({ id }) => id);
    },
    async countSubtasks({ id, agentId, consumedSeq }, begun) {
      const made =
        begun.length === 0 ? sql`0` : sql`(SELECT COUNT(*) FROM task WHERE id IN (${join([...begun])}))`;
      const since = sql`(SELECT timestamp FROM task_event WHERE task_id = ${id} AND seq = ${consumedSeq})`;
      const below = sql`SELECT COUNT(*) FROM task WHERE root_id = ${id} AND deleted_at IS NULL`;
      const row = await subtasks.row(session)(sql`
        SELECT ${subtasks.of("s")} FROM (
          SELECT (${below} AND ${isLiving}) AS living, (${agentId === null ? below : sql`${below} AND created_at >= ${since}`}) AS total,
            ${made} AS made
        ) s`);
      const { living, total, made: known } = row ?? { living: 0, total: 0, made: 0 };
      const notInserted = begun.length - known;
      return { living: living + notInserted, inAll: total + notInserted };
    },
    async listSubtasks(parentId, asked) {
      if (asked.length === 0) return [];
      return subtaskEnd.rows(session)(sql`
        SELECT ${subtaskEnd.of("t")} FROM task t
        WHERE t.parent_id = ${parentId} AND t.deleted_at IS NULL AND t.id IN (${join([...asked])})`);
    },
    listLiving: (parentId, turn, max) =>
      subtaskIds(parentId, sql`${isLiving} AND t.parent_turn <= ${turn}`, max),
    listOfTurn: (parentId, turn, max) =>
      subtaskIds(parentId, sql`(${isLiving} OR t.parent_turn = ${turn})`, max),
    async listOwned(nodeIds) {
      if (nodeIds.length === 0) return [];
      return claimable.rows(session)(sql`
        SELECT ${claimable.of("t")} FROM running_task r CROSS JOIN task t
        WHERE r.node_id IN (${join([...nodeIds])}) AND t.id = r.id ORDER BY r.queued_at, r.id`);
    },
    listOverdue: (now, max) =>
      claimable.rows(session)(sql`
        SELECT ${claimable.of("t")} FROM running_task r CROSS JOIN task t
        WHERE r.turn_until <= ${now} AND t.id = r.id ORDER BY r.turn_until, r.id LIMIT ${max}`),
    async countUnowned(max, filter = {}) {
      const row = await counted.row(session)(sql`
        SELECT ${counted.of("waiting")} FROM (SELECT 1 AS one FROM ${queue[dialect]} WHERE ${waits(filter)} LIMIT ${max}) waiting`);
      return row?.count ?? 0;
    },
    async queuePosition({ id, accountId, spaceId, agentProfile, queuedAt }, max) {
      const row = await counted.row(session)(sql`
        SELECT ${counted.of("before")} FROM (
          SELECT 1 AS one FROM ${queue[dialect]} WHERE ${waits({ spaceId, profiles: [agentProfile] })} AND t.account_id = ${accountId}
            AND (t.queued_at < ${queuedAt} OR (t.queued_at = ${queuedAt} AND t.id < ${id})) LIMIT ${max - 1}
        ) before`);
      return (row?.count ?? 0) + 1;
    },
  };
}

/** The queue as `t`. SQLite's planner would sort all running tasks. */
const queue: Record<Dialect, Sql> = {
  sqlite: raw("running_task t INDEXED BY running_task_queue"),
  postgresql: raw("running_task t"),
};
/** The running tasks as `t`. SQLite's planner would scan all tasks of the account. */
const runningTasks: Record<Dialect, Sql> = {
  sqlite: raw("task t INDEXED BY task_status"),
  postgresql: raw("task t"),
};

/** The searched part of the queue: the table as `t`, and the conditions. */
interface Waiting {
  readonly from: Sql;
  readonly where: Sql;
}

/**
 * The condition of a task in the queue, for `running_task` or a running task. Without a filter the statement
 * has no condition on profiles, so that it costs nothing where all of them run.
 */
export function waits({ spaceId, profiles, excludedProfiles = [], nodeId }: QueueFilter): Sql {
  const conditions = [sql`t.node_id IS NULL`];
  if (spaceId !== undefined) conditions.push(sql`t.space_id = ${spaceId}`);
  if (profiles !== undefined)
    conditions.push(profiles.length === 0 ? sql`1 = 0` : sql`t.agent_profile IN (${join([...profiles])})`);
  if (excludedProfiles.length > 0)
    conditions.push(sql`t.agent_profile NOT IN (${join([...excludedProfiles])})`);
  if (nodeId !== undefined)
    conditions.push(sql`(t.wants_node IS NULL OR t.wants_node = ${nodeId} OR ${orphaned})`);
  return allOf(conditions);
}

/**
 * The profile of the task has room for a run. A row comparison, so that PostgreSQL keeps its scan of the
 * queue's index.
 */
const notFull = sql`(t.space_id, t.agent_profile) NOT IN (SELECT f.space_id, f.profile FROM full_profile f)`;

/** The process that the task must run on no longer exists. */
const orphaned = sql`NOT EXISTS (SELECT 1 FROM node n WHERE n.id = t.wants_node)`;

/**
 * The tasks of the first account in the queue by id, in their order in the queue, and whether it is the last
 * one too: often the queue has tasks of one account only, or none.
 */
const ofFirst = ({ from, where }: Waiting, max: number): Sql => sql`
  WITH ${fullProfiles("sqlite")}, ends (first, last) AS MATERIALIZED (
    SELECT (SELECT t.account_id FROM ${from} WHERE ${where} ORDER BY t.account_id LIMIT 1),
      (SELECT t.account_id FROM ${from} WHERE ${where} ORDER BY t.account_id DESC LIMIT 1)
  ), ids AS MATERIALIZED (
    SELECT t.id FROM ${from} WHERE ${where} AND t.account_id = (SELECT first FROM ends) ORDER BY t.queued_at, t.id LIMIT ${max}
  )
  SELECT ${queuedAlone.of("w")} FROM ids CROSS JOIN task w WHERE w.id = ids.id ORDER BY w.queued_at, w.id`;

/**
 * The ids of at most `max` tasks of the queue, and their places in the fair order, as the common table
 * `ranked`. It needs `RECURSIVE`.
 *
 * @param where which tasks of the queue, as `t`.
 */
export function inFairOrder(dialect: Dialect, max: number, where: Sql): Sql {
  const waiting: Waiting = { from: queue[dialect], where };
  return sql`${accounts(waiting)}, ${roundRobin(waiting, max)}, ranked (id, place) AS MATERIALIZED (
    SELECT w.id, row_number() OVER (ORDER BY w.turn, w.served_at, w.queued_at, w.id) FROM (
      SELECT w.id, w.queued_at, in_turn.served_at,
        in_turn.tasks + row_number() OVER (PARTITION BY w.account_id ORDER BY w.queued_at, w.id) AS turn
      FROM in_turn ${withFirst(dialect, waiting, max)}
    ) w ORDER BY w.turn, w.served_at, w.queued_at, w.id LIMIT ${max}
  )`;
}

/** The accounts in the queue. Each step to the next account is one index lookup, for any number of tasks. */
const accounts = ({ from, where }: Waiting): Sql => sql`account (id) AS (
  SELECT (SELECT t.account_id FROM ${from} WHERE ${where} ORDER BY t.account_id LIMIT 1)
  UNION ALL
  SELECT (SELECT t.account_id FROM ${from} WHERE ${where} AND t.account_id > account.id ORDER BY t.account_id LIMIT 1)
  FROM account WHERE account.id IS NOT NULL
)`;

/** The tasks of an account that a process or worker runs. */
const inRun = sql`running_task r WHERE r.account_id = account.id AND r.node_id IS NOT NULL AND r.node_id <> ${waitingNode}`;

/** The accounts whose tasks can be among the first: at most as many as requested tasks. */
function roundRobin({ from, where }: Waiting, max: number): Sql {
  const oldest = (column: string) => sql`(
    SELECT ${raw(column)} FROM ${from} WHERE ${where} AND t.account_id = account.id ORDER BY t.queued_at, t.id LIMIT 1)`;
  return sql`in_turn (account_id, tasks, served_at) AS (
    SELECT account.id, (SELECT COUNT(*) FROM ${inRun}) AS tasks, (SELECT MAX(at) FROM (
      SELECT MAX(t.served_at) AS at FROM task t WHERE t.account_id = account.id UNION ALL SELECT MAX(r.claimed_at) FROM ${inRun}) served) AS served_at
    FROM account WHERE account.id IS NOT NULL
    ORDER BY tasks, served_at, ${oldest("t.queued_at")}, ${oldest("t.id")} LIMIT ${max}
  )`;
}

/** Joins the first waiting tasks of each of these accounts, as `w`; SQLite has no LATERAL. */
function withFirst(dialect: Dialect, { from, where }: Waiting, max: number): Sql {
  const first = (columns: string) => sql`
    SELECT ${raw(columns)} FROM ${from} WHERE ${where} AND t.account_id = in_turn.account_id
    ORDER BY t.queued_at, t.id LIMIT ${max}`;
  if (dialect === "sqlite") return sql`CROSS JOIN running_task w ON w.id IN (${first("t.id")})`;
  return sql`CROSS JOIN LATERAL (${first("t.id, t.account_id, t.queued_at")}) w`;
}
