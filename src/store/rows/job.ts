import type { JobRows } from "../../core/jobs/job.ts";
import { changeOf, type Session } from "../session.ts";
import { join, sql } from "../sql.ts";

/** Jobs as rows of SQLite's: one per kind and key, pending or leased until its `run_at`. The one writer has them to itself. */
export function jobRows(session: Session): JobRows {
  const { query, execute } = session;
  return {
    async put({ kind, key, runAt }) {
      changeOf(session).jobKinds.add(kind);
      await execute(sql`
        INSERT INTO job (kind, key, run_at) VALUES (${kind}, ${key}, ${runAt})
        ON CONFLICT (kind, key) DO UPDATE SET run_at = excluded.run_at`);
    },
    async take(kind, now, leaseUntil, max) {
      changeOf(session);
      const due = await query<{ readonly key: string }>(sql`
        SELECT key FROM job WHERE kind = ${kind} AND run_at <= ${now}
        ORDER BY run_at, key LIMIT ${max}`);
      if (due.length === 0) return [];
      const keys = due.map(({ key }) => key);
      await execute(sql`UPDATE job SET run_at = ${leaseUntil} WHERE kind = ${kind} AND key IN (${join(keys)})`);
      return keys.map((key) => ({ kind, key, runAt: leaseUntil }));
    },
    async done(kind, jobs) {
      for (const [runAt, taken] of Map.groupBy(jobs, (job) => job.runAt)) {
        const keys = taken.map(({ key }) => key);
        await execute(sql`DELETE FROM job WHERE kind = ${kind} AND run_at = ${runAt} AND key IN (${join(keys)})`);
      }
    },
  };
}
