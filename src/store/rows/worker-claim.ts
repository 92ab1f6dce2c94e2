import { type TaskEvent, verboseTypes } from "../../core/tasks/event.ts";
import {
  type ClaimedTurn,
  newRun,
  type WorkerClaim,
  type WorkerRunRows,
  workerLeaseMs,
  workerNode,
} from "../../core/workers/worker-run.ts";
import { changeOf, type Session } from "../session.ts";
import { type Dialect, join, type Sql, sql } from "../statements.ts";
import { boolean, json, tables, text } from "../table.ts";
import { changes, claimTimes, ownerOf } from "./task-advance.ts";
import { taskShape } from "./task-row.ts";

/**
 * A new task has one message, or two. Longer turns, and those of tasks with archived events, are read by
 * themselves.
 */
const eventsMax = 4;

/**
 * The events of the task's turn as a JSON array of arrays; `null` when they have to be read. The values are
 * those after the claim.
 */
function turnEvents(dialect: Dialect): Sql {
  const list =
    dialect === "sqlite"
      ? sql`json_group_array(json_array(e.seq, e.type, e.timestamp, e.payload))`
      : sql`CAST(json_agg(json_build_array(e.seq, e.type, e.timestamp, e.payload)) AS text)`;
  return sql`CASE WHEN task.answered_seq = 0 AND task.last_seq <= ${eventsMax}
      AND NOT EXISTS (SELECT 1 FROM event_segment s WHERE s.task_id = task.id)
    THEN (SELECT ${list} FROM task_event e WHERE e.task_id = task.id AND e.seq <= task.consumed_seq AND e.type NOT IN (${join([...verboseTypes])}))
    ELSE 'null' END`;
}

/** Whether the space has rows that the turn's input may need. SQLite's cache knows it. */
const has = (dialect: Dialect, from: Sql) =>
  boolean(dialect === "sqlite" ? sql`1` : sql`EXISTS (SELECT 1 FROM ${from})`);

const claimedShape = (dialect: Dialect) =>
  taskShape.with({
    turnEvents: json<readonly (readonly [number, string, number, string])[] | null>(turnEvents(dialect)),
    mayHaveResources: has(dialect, sql`task_means m WHERE m.task_id = task.id`),
    mayHaveSkills: has(
      dialect,
      sql`skill s WHERE s.deleted_at IS NULL AND (s.owner_type = 'official' OR s.space_id = task.space_id)`,
    ),
    mayHaveBudgets: has(dialect, sql`budget b WHERE b.space_id = task.space_id`),
    workerNode: text(sql`task.node_id`),
  });

const shapes: Readonly<Record<Dialect, ReturnType<typeof claimedShape>>> = {
  sqlite: claimedShape("sqlite"),
  postgresql: claimedShape("postgresql"),
};

export function claimForWorkers(session: Session): WorkerRunRows["claim"] {
  const { dialect, execute } = session;
  const shape = shapes[dialect];
  return async (claims, now) => {
    const { news } = changeOf(session);
    if (claims.length === 0) return [];
    const statement = dialect === "sqlite" ? claimOnSqlite(claims, now) : claimOnPostgres(claims, now);
    const rows = await shape.rows(session)(statement);
    const workers = new Map(claims.map(({ workerId }) => [workerNode(workerId), workerId]));
    const claimed = rows.map((row) => toTurn(row, workers.get(row.workerNode) ?? ""));
    if (dialect === "sqlite" && claimed.length > 0)
      await execute(putRuns(tables.workerRun.insertAll(claimed.map((each) => newRun(each, now)))));
    for (const { task } of claimed)
      news.set(task.id, {
        taskId: task.id,
        lastSeq: task.lastSeq,
        fence: task.fence,
        status: task.status,
        ...ownerOf(task),
      });
    return claimed;
  };
}

type ClaimedRow =
  ReturnType<typeof claimedShape> extends { fromClient(row: object): infer Row } ? Row : never;

function toTurn(row: ClaimedRow, workerId: string): ClaimedTurn {
  const { turnEvents: read, mayHaveResources, mayHaveSkills, mayHaveBudgets, workerNode: _, ...task } = row;
  // `appendEvents` wrote type and payload together.
  const events = read?.map(
    ([seq, type, timestamp, payload]) =>
      ({ taskId: task.id, seq, type, timestamp, payload: JSON.parse(payload) }) as TaskEvent,
  );
  const known = {
    mayHaveResources,
    mayHaveSkills,
    mayHaveBudgets,
    events: events?.toSorted((a, b) => a.seq - b.seq) ?? null,
  };
  return { task, workerId, known };
}

/** Replaces the earlier runs of the tasks. */
export const putRuns = (
  insert: Sql,
): Sql => sql`${insert} ON CONFLICT (task_id) DO UPDATE SET space_id = excluded.space_id,
  worker_id = excluded.worker_id, fence = excluded.fence, started_at = excluded.started_at, lease_until = excluded.lease_until`;

/** The claims as JSON: the statement is the same for any number of them. */
const sent = (claims: readonly WorkerClaim[]): string =>
  JSON.stringify(
    claims.map(({ task: { id, fence }, workerId }) => ({
      id,
      fence,
      worker: workerId,
      node: workerNode(workerId),
    })),
  );

const begin = (now: number): Sql =>
  join([
    ...changes({ now, set: { beginTurn: true, raiseFence: true } }, [], claimTimes(now)),
    sql`node_id = claim_node`,
  ]);

const unclaimed = sql`task.id = claim_id AND task.fence = claim_fence AND task.node_id IS NULL AND task.status = 'running' AND task.deleted_at IS NULL`;

const claimOnSqlite = (claims: readonly WorkerClaim[], now: number): Sql => sql`
  UPDATE task SET ${begin(now)}
  FROM (
    SELECT json_extract(value, '$.id') AS claim_id, json_extract(value, '$.fence') AS claim_fence,
      json_extract(value, '$.worker') AS claim_worker, json_extract(value, '$.node') AS claim_node
    FROM json_each(${sent(claims)})
  )
  WHERE ${unclaimed} AND EXISTS (SELECT 1 FROM worker w WHERE w.id = claim_worker AND w.revoked_at IS NULL)
  RETURNING ${shapes.sqlite.of("task")}`;

/** One round trip. It locks the workers first, then the tasks by id, as every process does. */
const claimOnPostgres = (claims: readonly WorkerClaim[], now: number): Sql => sql`
  WITH claim AS MATERIALIZED (
    SELECT c.id AS claim_id, c.fence AS claim_fence, c.worker AS claim_worker, c.node AS claim_node
    FROM json_to_recordset(CAST(${sent(claims)} AS json)) AS c (id text, fence integer, worker text, node text)
  ), live AS MATERIALIZED (
    SELECT w.id FROM worker w WHERE w.id IN (SELECT claim_worker FROM claim) AND w.revoked_at IS NULL ORDER BY w.id FOR SHARE
  ), unowned AS MATERIALIZED (
    SELECT claim.* FROM claim JOIN live ON live.id = claim_worker JOIN task ON ${unclaimed} ORDER BY task.id FOR UPDATE OF task
  ), claimed AS (
    UPDATE task SET ${begin(now)} FROM unowned WHERE ${unclaimed} RETURNING ${shapes.postgresql.of("task")}, claim_worker
  ), run AS (
    ${putRuns(sql`INSERT INTO worker_run (task_id, space_id, worker_id, fence, started_at, lease_until)
      SELECT id, space_id, claim_worker, fence, ${now}, ${now + workerLeaseMs} FROM claimed`)}
  )
  SELECT * FROM claimed`;
