import type { BusyWorker, Worker, WorkerRows } from "../../core/workers/worker.ts";
import { changeOf, type Session } from "../session.ts";
import { insertInto, join, numberOf, numberOrNull, type Row, raw, sql, type Whole } from "../sql.ts";
import { textsIn } from "./app.ts";

interface WorkerRow {
  readonly id: string;
  readonly space_id: string;
  readonly name: string;
  readonly digest: string;
  readonly profiles: string;
  readonly created_by: string;
  readonly created_at: Whole;
  readonly seen_at: Whole | null;
  readonly revoked_at: Whole | null;
}

interface WaitingRow {
  readonly profile: string;
  readonly waiting: Whole;
  readonly oldest_at: Whole;
}

const columns = sql`id, space_id, name, digest, profiles, created_by, created_at, seen_at, revoked_at`;

/** The credentials of remote workers as rows. */
export function workerRows(session: Session): WorkerRows {
  const { query, execute, dialect } = session;
  return {
    async insert(worker) {
      await execute(insertInto("worker", [columnsOf(worker)]));
    },
    async byDigest(digest) {
      const [row] = await query<WorkerRow>(sql`SELECT ${columns} FROM worker WHERE digest = ${digest}`);
      return row ? workerOf(row) : null;
    },
    async countLiving(spaceId) {
      const [row] = await query<{ readonly workers: Whole }>(sql`
        SELECT COUNT(*) AS workers FROM worker WHERE space_id = ${spaceId} AND revoked_at IS NULL`);
      return numberOf(row?.workers ?? 0);
    },
    async list(spaceId) {
      const rows = await query<WorkerRow & { readonly runs: Whole }>(sql`
        SELECT ${columns}, (SELECT COUNT(*) FROM worker_run WHERE worker_id = worker.id) AS runs
        FROM worker WHERE space_id = ${spaceId} AND revoked_at IS NULL ORDER BY created_at DESC, id DESC`);
      return rows.map((row): BusyWorker => ({ ...workerOf(row), runs: numberOf(row.runs) }));
    },
    async revoke(spaceId, id, now) {
      return (
        (await execute(sql`UPDATE worker SET revoked_at = ${now} WHERE id = ${id} AND space_id = ${spaceId} AND revoked_at IS NULL`)) === 1
      );
    },
    async living(ids) {
      changeOf(session);
      const lock = raw(dialect === "postgresql" ? "FOR SHARE" : "");
      const rows = await query<{ readonly id: string }>(sql`
        SELECT id FROM worker WHERE id IN (${join([...ids])}) AND revoked_at IS NULL ${lock}`);
      return new Set(rows.map(({ id }) => id));
    },
    async use(id, at, everyMs) {
      await execute(sql`UPDATE worker SET seen_at = ${at} WHERE id = ${id} AND (seen_at IS NULL OR seen_at <= ${at - everyMs})`);
    },
    async waiting(spaceId, profiles) {
      if (profiles.length === 0) return [];
      const rows = await query<WaitingRow>(sql`
        SELECT agent_profile AS profile, COUNT(*) AS waiting, MIN(queued_at) AS oldest_at FROM task
        WHERE status = 'running' AND node_id IS NULL AND deleted_at IS NULL
          AND space_id = ${spaceId} AND agent_profile IN (${join([...profiles])})
        GROUP BY agent_profile`);
      return rows.map((row) => ({ profile: row.profile, waiting: numberOf(row.waiting), oldestAt: numberOf(row.oldest_at) }));
    },
  };
}

const columnsOf = (worker: Worker): Row => ({
  id: worker.id,
  space_id: worker.spaceId,
  name: worker.name,
  digest: worker.digest,
  profiles: JSON.stringify(worker.profiles),
  created_by: worker.createdBy,
  created_at: worker.createdAt,
  seen_at: worker.seenAt,
  revoked_at: worker.revokedAt,
});

const workerOf = (row: WorkerRow): Worker => ({
  id: row.id,
  spaceId: row.space_id,
  name: row.name,
  digest: row.digest,
  profiles: textsIn(row.profiles),
  createdBy: row.created_by,
  createdAt: numberOf(row.created_at),
  seenAt: numberOrNull(row.seen_at),
  revokedAt: numberOrNull(row.revoked_at),
});
