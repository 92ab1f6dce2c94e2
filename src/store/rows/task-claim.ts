import { together } from "../../async/together.ts";
import type { Task } from "../../core/tasks/task.ts";
import type { ClaimableTask, TaskRows } from "../../core/tasks/task-rows.ts";
import { changeOf, type Session } from "../session.ts";
import { type Dialect, inTexts, join, type Sql, sql } from "../statements.ts";
import { claim, ownerOf } from "./task-advance.ts";
import { inFairOrder, waits } from "./task-queue.ts";
import { taskShape } from "./task-row.ts";

type ClaimRows = Pick<TaskRows, "claim" | "claimQueued">;

/** Further tasks that a claim looks at, instead of those that other processes claim at the same time. */
const spare = 32;

const anyLimit = sql`SELECT 1 FROM agent_profile WHERE concurrency IS NOT NULL LIMIT 1`;

/** Claims as one statement for all tasks. */
export function claimsOf(session: Session): ClaimRows {
  const { dialect, query } = session;

  async function claimedBy(statement: Sql): Promise<readonly Task[]> {
    const { news } = changeOf(session);
    const tasks = await taskShape.rows(session)(statement);
    for (const task of tasks)
      news.set(task.id, {
        taskId: task.id,
        lastSeq: task.lastSeq,
        fence: task.fence,
        status: task.status,
        ...ownerOf(task),
      });
    return tasks;
  }

  return {
    claim: async (candidates, nodeId, now) =>
      candidates.length === 0 ? [] : claimedBy(claimListed(dialect, candidates, nodeId, now)),
    async claimQueued({ max, filter, except }, nodeId, now) {
      if (dialect === "sqlite") return null;
      const isFree = sql`NOT EXISTS (${anyLimit}) AND t.id NOT ${inTexts(dialect, except)}`;
      const ranked = inFairOrder(dialect, max + spare, sql`${waits(filter)} AND ${isFree}`);
      const [limits, tasks] = await together(
        query(anyLimit),
        claimedBy(sql`
          WITH RECURSIVE ${ranked}, picked (id) AS MATERIALIZED (
            SELECT t.id FROM ranked JOIN task t ON t.id = ranked.id WHERE t.status = 'running' AND t.deleted_at IS NULL AND ${waits(filter)}
            ORDER BY ranked.place LIMIT ${max} FOR UPDATE OF t SKIP LOCKED
          )
          UPDATE task SET ${join(claim(nodeId, now))} FROM picked WHERE task.id = picked.id RETURNING ${taskShape.of("task")}`),
      );
      return limits.length > 0 ? null : tasks;
    },
  };
}

/**
 * Those that have not changed since they were read. On PostgreSQL it leaves out what another process has
 * locked.
 */
function claimListed(
  dialect: Dialect,
  candidates: readonly ClaimableTask[],
  nodeId: string,
  now: number,
): Sql {
  const listed = JSON.stringify(candidates.map(({ id, fence, nodeId: owner }) => ({ id, fence, owner })));
  const changed = join(claim(nodeId, now));
  const of = (from: Sql) => sql`${from} JOIN task t ON t.id = c.id AND t.fence = c.fence
    AND t.status = 'running' AND t.deleted_at IS NULL AND t.node_id IS NOT DISTINCT FROM c.owner`;
  if (dialect === "sqlite")
    return sql`UPDATE task SET ${changed} WHERE id IN (SELECT t.id ${of(sql`FROM (
        SELECT json_extract(value, '$.id') AS id, json_extract(value, '$.fence') AS fence, json_extract(value, '$.owner') AS owner
        FROM json_each(${listed})) c`)})
      RETURNING ${taskShape.of("task")}`;
  return sql`
    WITH picked (id) AS MATERIALIZED (
      SELECT t.id ${of(sql`FROM json_to_recordset(CAST(${listed} AS json)) AS c (id text, fence integer, owner text)`)} FOR UPDATE OF t SKIP LOCKED
    )
    UPDATE task SET ${changed} FROM picked WHERE task.id = picked.id RETURNING ${taskShape.of("task")}`;
}
