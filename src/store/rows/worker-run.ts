import { type KeyedEvent, type WorkerEventRows, type WorkerRun, type WorkerRunRows, workerWanted } from "../../core/workers/worker-run.ts";
import { changeOf, type Session } from "../session.ts";
import { all, insertInto, memberOf, numberOf, type Row, sql, type Whole } from "../sql.ts";

interface RunRow {
  readonly task_id: string;
  readonly space_id: string;
  readonly worker_id: string;
  readonly fence: Whole;
  readonly started_at: Whole;
  readonly lease_until: Whole;
}

interface KeyRow {
  readonly task_id: string;
  readonly turn: Whole;
  readonly key: string;
  readonly seq: Whole;
  readonly digest: string;
}

const runColumns = sql`task_id, space_id, worker_id, fence, started_at, lease_until`;
const keyColumns = sql`task_id, turn, key, seq, digest`;

/** Runs of remote workers as rows. */
export function workerRunRows(session: Session): WorkerRunRows {
  const { query, execute } = session;
  return {
    want: () => void changeOf(session).jobKinds.add(workerWanted),
    async put(runs) {
      if (runs.length === 0) return;
      await execute(sql`${insertInto("worker_run", runs.map(rowOf))} ON CONFLICT (task_id) DO UPDATE SET space_id = excluded.space_id,
        worker_id = excluded.worker_id, fence = excluded.fence, started_at = excluded.started_at, lease_until = excluded.lease_until`);
    },
    async find(taskId) {
      const [row] = await query<RunRow>(sql`SELECT ${runColumns} FROM worker_run WHERE task_id = ${taskId}`);
      return row ? runOf(row) : null;
    },
    async renew({ taskId, workerId, fence }, leaseUntil) {
      const renewed = await execute(sql`
        UPDATE worker_run SET lease_until = ${leaseUntil} WHERE task_id = ${taskId} AND worker_id = ${workerId} AND fence = ${fence}`);
      return renewed === 1;
    },
    async remove({ taskId, fence }, leaseBefore) {
      const conditions = [sql`task_id = ${taskId}`, sql`fence = ${fence}`];
      if (leaseBefore !== undefined) conditions.push(sql`lease_until <= ${leaseBefore}`);
      return (await execute(sql`DELETE FROM worker_run WHERE ${all(conditions)}`)) === 1;
    },
    async lapsed(now, max) {
      const rows = await query<RunRow>(sql`
        SELECT ${runColumns} FROM worker_run WHERE lease_until <= ${now} ORDER BY lease_until, task_id LIMIT ${max}`);
      return rows.map(runOf).toSorted(byTask);
    },
    async of(workerId) {
      return (await query<RunRow>(sql`SELECT ${runColumns} FROM worker_run WHERE worker_id = ${workerId}`)).map(runOf).toSorted(byTask);
    },
  };
}

/** The keys of workers' events as rows; the run's row is locked by whoever writes one. */
export function workerEventRows({ query, execute, dialect }: Session): WorkerEventRows {
  return {
    async find(taskId, turn, keys) {
      const conditions = [sql`task_id = ${taskId}`, sql`turn = ${turn}`];
      if (keys !== undefined) conditions.push(sql`key ${memberOf(dialect, keys)}`);
      return (await query<KeyRow>(sql`SELECT ${keyColumns} FROM worker_event WHERE ${all(conditions)}`)).map(keyOf);
    },
    async anywhere(taskId, key) {
      const [row] = await query<KeyRow>(sql`
        SELECT ${keyColumns} FROM worker_event WHERE task_id = ${taskId} AND key = ${key} ORDER BY turn DESC LIMIT 1`);
      return row ? keyOf(row) : null;
    },
    async insert(events) {
      if (events.length === 0) return 0;
      const rows = events.map(({ taskId, turn, key, seq, digest }) => ({ task_id: taskId, turn, key, seq, digest }));
      return execute(sql`${insertInto("worker_event", rows)} ON CONFLICT DO NOTHING`);
    },
    async erase(taskId) {
      await execute(sql`DELETE FROM worker_event WHERE task_id = ${taskId}`);
    },
  };
}

/** Rows of several tasks are locked in one order everywhere. */
const byTask = (a: WorkerRun, b: WorkerRun): number => (a.taskId < b.taskId ? -1 : 1);

const rowOf = ({ taskId, spaceId, workerId, fence, startedAt, leaseUntil }: WorkerRun): Row => ({
  task_id: taskId,
  space_id: spaceId,
  worker_id: workerId,
  fence,
  started_at: startedAt,
  lease_until: leaseUntil,
});

const runOf = (row: RunRow): WorkerRun => ({
  taskId: row.task_id,
  spaceId: row.space_id,
  workerId: row.worker_id,
  fence: numberOf(row.fence),
  startedAt: numberOf(row.started_at),
  leaseUntil: numberOf(row.lease_until),
});

const keyOf = (row: KeyRow): KeyedEvent => ({
  taskId: row.task_id,
  turn: numberOf(row.turn),
  key: row.key,
  seq: numberOf(row.seq),
  digest: row.digest,
});
