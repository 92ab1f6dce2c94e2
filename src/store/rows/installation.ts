import type { InstallationRows } from "../../core/installation/status.ts";
import type { Session } from "../session.ts";
import { type Dialect, raw, type Sql, sql } from "../statements.ts";
import { computedShape, integer, integerOrNull, tables, text } from "../table.ts";

const node = tables.node.with({
  running: integer(sql`(SELECT COUNT(*) FROM running_task t WHERE t.node_id = n.id)`),
});
const profile = computedShape({
  profile: text(sql`agent_profile`),
  queued: integer(sql`COALESCE(SUM(queued), 0)`),
  oldestAt: integerOrNull(sql`MIN(waits_since)`),
  running: integer(sql`COALESCE(SUM(running), 0)`),
  failed: integer(sql`COALESCE(SUM(failed), 0)`),
});
const waiting = computedShape({ tasks: integer(sql`tasks`) });
const presence = computedShape({
  credentials: integer(sql`(SELECT COUNT(*) FROM worker WHERE revoked_at IS NULL)`),
  present: integer(sql`seen`),
  runs: integer(sql`(SELECT COUNT(*) FROM worker_run)`),
});
const worker = tables.worker
  .pick("id", "spaceId", "profiles", "seenAt")
  .with({ runs: integer(sql`(SELECT COUNT(*) FROM worker_run r WHERE r.worker_id = w.id)`) });
const overdue = {
  count: integer(sql`COUNT(*)`),
  due: integer(sql`COALESCE(SUM(is_due), 0)`),
  oldestDueAt: integerOrNull(sql`MIN(due_at)`),
};
const pending = computedShape(overdue);
const job = computedShape({ kind: text(sql`kind`), ...overdue });
const delivery = computedShape({
  interval: integer(sql`number`),
  state: text<"pending" | "delivered" | "failed" | "cancelled">(sql`state`),
  count: integer(sql`COUNT(*)`),
});
const webhooks = computedShape({
  active: integer(sql`COALESCE(SUM(CASE WHEN status = 'active' THEN 1 ELSE 0 END), 0)`),
  failing: integer(
    sql`COALESCE(SUM(CASE WHEN status = 'active' AND failing_since IS NOT NULL THEN 1 ELSE 0 END), 0)`,
  ),
  inactive: integer(sql`COALESCE(SUM(CASE WHEN status = 'inactive' THEN 1 ELSE 0 END), 0)`),
});
const contents = computedShape({
  files: integer(sql`COALESCE(SUM(CASE WHEN state = 'kept' THEN 1 ELSE 0 END), 0)`),
  bytes: integer(sql`CAST(COALESCE(SUM(CASE WHEN state = 'kept' THEN bytes ELSE 0 END), 0) AS BIGINT)`),
  loose: integer(sql`COALESCE(SUM(CASE WHEN state = 'kept' THEN 0 ELSE 1 END), 0)`),
});
const size = computedShape({ bytes: integer(sql`bytes`) });
const failures = computedShape({ workerRuns: integer(sql`worker_runs`), exports: integer(sql`exports`) });
const clock = computedShape({ at: integer(sql`CAST(extract(epoch FROM now) * 1000 AS BIGINT)`) });
const oldest = computedShape({ at: integerOrNull(sql`MIN(at)`) });

const isDue = (time: Sql, now: number): Sql =>
  sql`CASE WHEN ${time} <= ${now} THEN 1 ELSE 0 END AS is_due, CASE WHEN ${time} <= ${now} THEN ${time} END AS due_at`;

/** All spaces, for operators. Reads that could have many rows end at `max`. */
export function installationRows(session: Session): InstallationRows {
  const { dialect } = session;
  return {
    nodes: (max) =>
      node.rows(session)(sql`SELECT ${node.of("n")} FROM node n ORDER BY n.started_at, n.id LIMIT ${max}`),
    profiles: (failedSince, max) =>
      profile.rows(session.scans)(sql`
        SELECT ${profile.of("t")} FROM (
          SELECT * FROM (
            SELECT agent_profile, CASE WHEN node_id IS NULL THEN 1 ELSE 0 END AS queued, CASE WHEN node_id IS NULL THEN queued_at END AS waits_since,
              CASE WHEN node_id IS NULL THEN 0 ELSE 1 END AS running, 0 AS failed
            FROM running_task LIMIT ${max}
          ) a UNION ALL SELECT * FROM (
            SELECT agent_profile, 0, CAST(NULL AS BIGINT), 0, 1
            FROM task WHERE status = 'error' AND deleted_at IS NULL AND updated_at >= ${failedSince} LIMIT ${max}
          ) b
        ) t GROUP BY agent_profile ORDER BY agent_profile`),
    async isQueueOlder(at) {
      const row = await waiting.row(session)(sql`
        SELECT ${waiting.of("w")} FROM (SELECT COUNT(*) AS tasks FROM (
          SELECT 1 AS one FROM running_task WHERE node_id IS NULL AND queued_at <= ${at} LIMIT 1
        ) t) w`);
      return (row?.tasks ?? 0) > 0;
    },
    async workers(seenSince) {
      const row = await presence.row(session)(sql`
        SELECT ${presence.of("w")} FROM (SELECT COUNT(*) AS seen FROM worker WHERE revoked_at IS NULL AND seen_at >= ${seenSince}) w`);
      return row ?? { credentials: 0, present: 0, runs: 0 };
    },
    listWorkers: (max) =>
      worker.rows(session)(sql`
        SELECT ${worker.of("w")} FROM worker w WHERE w.revoked_at IS NULL ORDER BY COALESCE(w.seen_at, 0) DESC, w.id LIMIT ${max}`),
    async pendingDeliveries(now, max) {
      const row = await pending.row(session.scans)(sql`
        SELECT ${pending.of("d")} FROM (SELECT ${isDue(sql`next_at`, now)} FROM delivery WHERE state = 'pending' LIMIT ${max}) d`);
      return row ?? { count: 0, due: 0, oldestDueAt: null };
    },
    deliveries: (since, intervalMs, max) =>
      delivery.rows(session.scans)(sql`
        SELECT ${delivery.of("d")} FROM (
          SELECT CAST((created_at - ${since}) / ${intervalMs} AS INTEGER) AS number, state FROM delivery
          WHERE created_at >= ${since} ORDER BY created_at DESC LIMIT ${max}
        ) d GROUP BY number, state`),
    async webhooks() {
      const row = await webhooks.row(session)(
        sql`SELECT ${webhooks.of("w")} FROM webhook w WHERE deleted_at IS NULL`,
      );
      return row ?? { active: 0, failing: 0, inactive: 0 };
    },
    async contents() {
      return (
        (await contents.row(session.scans)(sql`SELECT ${contents.of("b")} FROM blob b`)) ?? {
          files: 0,
          bytes: 0,
          loose: 0,
        }
      );
    },
    databaseBytes: async () =>
      (await size.row(session)(sql`SELECT ${size.of("s")} FROM (${databaseSize[dialect]}) s`))?.bytes ?? 0,
    async databaseTime() {
      if (dialect === "sqlite") return null;
      return (
        (await clock.row(session)(sql`SELECT ${clock.of("c")} FROM (SELECT clock_timestamp() AS now) c`))
          ?.at ?? null
      );
    },
    jobs: (now) =>
      job.rows(session.scans)(
        sql`SELECT ${job.of("j")} FROM (${waitingJobs(dialect, now)}) j GROUP BY kind ORDER BY kind`,
      ),
    async failures(since, max) {
      const row = await failures.row(session.scans)(sql`
        SELECT ${failures.of("f")} FROM (SELECT
          (SELECT COUNT(*) FROM (SELECT 1 AS one FROM worker_failure WHERE at >= ${since} LIMIT ${max}) w) AS worker_runs,
          (SELECT COUNT(*) FROM export WHERE status = 'failed' AND completed_at >= ${since}) AS exports) f`);
      return row ?? { workerRuns: 0, exports: 0 };
    },
    async revokeAll(now) {
      await session.execute(sql`UPDATE api_key SET revoked_at = ${now} WHERE revoked_at IS NULL`);
      await session.execute(sql`UPDATE worker SET revoked_at = ${now} WHERE revoked_at IS NULL`);
      await session.execute(
        sql`UPDATE oauth_family SET revoked_at = ${now}, access_id = NULL WHERE revoked_at IS NULL`,
      );
      for (const table of [
        "oauth_code",
        "oauth_device",
        "session",
        "sign_in_link",
        "mailed_link",
        "site_visit",
      ])
        await session.execute(sql`DELETE FROM ${raw(table)}`);
    },
    async unsealedSince() {
      return (
        (await oldest.row(session.scans)(sql`SELECT ${oldest.of("a")} FROM audit_event a WHERE seq IS NULL`))
          ?.at ?? null
      );
    },
  };
}

const databaseSize: Record<Dialect, Sql> = {
  sqlite: sql`SELECT p.page_count * s.page_size AS bytes FROM pragma_page_count() p, pragma_page_size() s`,
  postgresql: sql`SELECT pg_database_size(current_database()) AS bytes`,
};

/**
 * SQLite's own table, or pg-boss's, which has the time of the first attempt. Taken jobs are leased, so they
 * are not late.
 */
const waitingJobs = (dialect: Dialect, now: number): Sql =>
  dialect === "sqlite"
    ? sql`SELECT kind, ${isDue(sql`run_at`, now)} FROM job`
    : sql`SELECT name AS kind, ${isDue(sql`CAST(EXTRACT(EPOCH FROM start_after) * 1000 AS BIGINT)`, now)} FROM pgboss.job
        WHERE CAST(state AS text) IN ('created', 'retry')`;
