import type { WorkerRows } from "../../core/workers/worker.ts";
import {
  type KeyedEvent,
  type WorkerEventRows,
  type WorkerRun,
  type WorkerRunRows,
  workerNeeded,
} from "../../core/workers/worker-run.ts";
import { changeOf, type Session } from "../session.ts";
import { allOf, forShare, inTexts, join, sql } from "../statements.ts";
import { computedShape, countRows, integer, tables, text } from "../table.ts";
import { serves } from "./task-row.ts";
import { claimForWorkers, putRuns } from "./worker-claim.ts";

const { workerRun, workerEvent } = tables;
const runs = sql`SELECT ${workerRun.of("worker_run")} FROM worker_run`;
const events = sql`SELECT ${workerEvent.of("worker_event")} FROM worker_event`;

/** Runs of remote workers as rows. */
export function workerRunRows(session: Session): WorkerRunRows {
  const { execute } = session;
  return {
    notifyPollers: () => void changeOf(session).jobKinds.add(workerNeeded),
    claim: claimForWorkers(session),
    async put(rows) {
      if (rows.length === 0) return;
      await execute(putRuns(workerRun.insertAll(rows)));
    },
    find: (taskId) => workerRun.row(session)(sql`${runs} WHERE task_id = ${taskId}`),
    async renew({ taskId, workerId, fence }, leaseUntil) {
      const renewed = await execute(sql`
        UPDATE worker_run SET lease_until = ${leaseUntil} WHERE task_id = ${taskId} AND worker_id = ${workerId} AND fence = ${fence}`);
      return renewed === 1;
    },
    async remove({ taskId, fence }, leaseBefore) {
      const conditions = [sql`task_id = ${taskId}`, sql`fence = ${fence}`];
      if (leaseBefore !== undefined) conditions.push(sql`lease_until <= ${leaseBefore}`);
      return (await execute(sql`DELETE FROM worker_run WHERE ${allOf(conditions)}`)) === 1;
    },
    async listExpired(now, max) {
      const rows = await workerRun.rows(session)(sql`
        ${runs} WHERE lease_until <= ${now} ORDER BY lease_until, task_id LIMIT ${max}`);
      return rows.toSorted(byTask);
    },
    async listOfWorker(workerId) {
      return (await workerRun.rows(session)(sql`${runs} WHERE worker_id = ${workerId}`)).toSorted(byTask);
    },
  };
}

/** The keys of workers' events as rows. A caller that writes one must hold the lock of the run's row. */
export function workerEventRows(session: Session): WorkerEventRows {
  const { execute, write, dialect } = session;
  const insertNew = (rows: readonly KeyedEvent[]) =>
    sql`${workerEvent.insertAll(rows)} ON CONFLICT DO NOTHING`;
  return {
    async find(taskId, turn, keys) {
      const conditions = [sql`task_id = ${taskId}`, sql`turn = ${turn}`];
      if (keys !== undefined) conditions.push(sql`key ${inTexts(dialect, keys)}`);
      return workerEvent.rows(session)(sql`${events} WHERE ${allOf(conditions)}`);
    },
    findInAnyTurn: (taskId, key) =>
      workerEvent.row(session)(sql`
        ${events} WHERE task_id = ${taskId} AND key = ${key} ORDER BY turn DESC LIMIT 1`),
    insert: async (rows) => (rows.length === 0 ? 0 : execute(insertNew(rows))),
    record: (row) => write(insertNew([row])),
    async deleteOfTask(taskId) {
      await execute(sql`DELETE FROM worker_event WHERE task_id = ${taskId}`);
    },
  };
}

/** Lock order: rows of several tasks are locked by task id. */
const byTask = (a: WorkerRun, b: WorkerRun): number => (a.taskId < b.taskId ? -1 : 1);

const { worker, workerFailure } = tables;
const failure = workerFailure.pick("workerId", "taskId", "kind", "at");
const ids = worker.pick("id");
const busy = worker.with({
  runs: integer(sql`(SELECT COUNT(*) FROM worker_run WHERE worker_id = worker.id)`),
});
const waiting = computedShape({
  profile: text(sql`agent_profile`),
  waiting: integer(sql`COUNT(*)`),
  oldestAt: integer(sql`MIN(queued_at)`),
});

/** The credentials of remote workers as rows. */
export function workerRows(session: Session): WorkerRows {
  const { execute, dialect } = session;
  return {
    async insert(row) {
      await execute(worker.insert(row));
    },
    byDigest: (digest) =>
      worker.row(session)(sql`SELECT ${worker.of("worker")} FROM worker WHERE digest = ${digest}`),
    countActive: (spaceId) =>
      countRows(session, sql`FROM worker WHERE space_id = ${spaceId} AND revoked_at IS NULL`),
    list: (spaceId) =>
      busy.rows(session)(sql`
        SELECT ${busy.of("worker")} FROM worker WHERE space_id = ${spaceId} AND revoked_at IS NULL ORDER BY created_at DESC, id DESC`),
    async revoke(spaceId, id, now) {
      return (
        (await execute(
          sql`UPDATE worker SET revoked_at = ${now} WHERE id = ${id} AND space_id = ${spaceId} AND revoked_at IS NULL`,
        )) === 1
      );
    },
    async lockActive(workerIds) {
      changeOf(session);
      const lock = forShare(dialect);
      const rows = await ids.rows(session)(sql`
        SELECT ${ids.of("worker")} FROM worker WHERE id IN (${join([...workerIds])}) AND revoked_at IS NULL ${lock}`);
      return new Set(rows.map(({ id }) => id));
    },
    async recordUse(id, at, everyMs) {
      await execute(
        sql`UPDATE worker SET seen_at = ${at} WHERE id = ${id} AND (seen_at IS NULL OR seen_at <= ${at - everyMs})`,
      );
    },
    async recordFailure(failure, fence) {
      await execute(
        sql`${workerFailure.insert({ id: `${failure.taskId} ${fence}`, ...failure })} ON CONFLICT DO NOTHING`,
      );
    },
    failures: (workerId, max) =>
      failure.rows(session)(sql`
        SELECT ${failure.of("f")} FROM worker_failure f WHERE f.worker_id = ${workerId} ORDER BY f.at DESC, f.id DESC LIMIT ${max}`),
    async update(spaceId, id, changes) {
      const changed = await execute(sql`
        UPDATE worker SET ${join(worker.set(changes))} WHERE id = ${id} AND space_id = ${spaceId} AND revoked_at IS NULL`);
      return changed === 1;
    },
    async purgeFailures(before) {
      await execute(sql`DELETE FROM worker_failure WHERE at < ${before}`);
    },
    async waiting(spaceId, profiles) {
      if (profiles.length === 0) return [];
      return waiting.rows(session)(sql`
        SELECT ${waiting.of("t")} FROM running_task t
        WHERE node_id IS NULL AND space_id = ${spaceId} AND agent_profile IN (${join([...profiles])})
        GROUP BY agent_profile`);
    },
    async unserved(profiles, since) {
      if (profiles.length === 0) return [];
      return waiting.rows(session)(sql`
        SELECT ${waiting.of("t")} FROM running_task t
        WHERE t.node_id IS NULL AND t.agent_profile IN (${join([...profiles])}) AND t.queued_at <= ${since}
          AND NOT EXISTS (SELECT 1 FROM worker w WHERE w.space_id = t.space_id AND w.seen_at > ${since} AND ${serves})
        GROUP BY t.agent_profile`);
    },
  };
}
