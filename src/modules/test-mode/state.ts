import { rmSync } from "node:fs";
import { connectSqlite, driverOf, retryWhileBusy } from "../../store/sqlite-adapter.ts";

/** What test mode reads and writes in the database over a second connection. */
export interface TestState {
  /** When something is due next, in Unix milliseconds; null for never. */
  nextDue(now: number): number | null;
  /**
   * Names what is due or in progress.
   *
   * @param pausing runs that only wait for the clock.
   */
  active(now: number, pausing: number): readonly string[];
  /** Leases follow the machine's time: they end as much later as the clock was moved. */
  extendLeases(ms: number): Promise<void>;
  /** Makes a pending delivery due at this time. Its current attempt does not count. */
  postpone(webhookId: string, eventId: string, at: number): Promise<void>;
  /** Keeps the present rows for `restore`. */
  keep(): void;
  restore(): Promise<void>;
  close(): Promise<void>;
}

/** Rows of the process itself, which a reset leaves. */
const ownTables = ["_prisma_migrations", "node", "process_keys"];

const isAttempted = "d.attempts > (SELECT COUNT(*) FROM delivery_attempt a WHERE a.delivery_id = d.id)";
/** As the sender selects deliveries (`store/rows/delivery.ts`). */
const maySend = `d.state = 'pending' AND NOT EXISTS (SELECT 1 FROM webhook h WHERE h.id = d.webhook_id AND h.status = 'inactive' AND h.deleted_at IS NULL)
  AND (d.attempts > 0 OR NOT EXISTS (SELECT 1 FROM delivery b WHERE b.task_id = d.task_id AND b.webhook_id = d.webhook_id AND b.seq < d.seq
    AND b.state = 'pending' AND NOT EXISTS (SELECT 1 FROM delivery_attempt a WHERE a.delivery_id = b.id)))`;
const toPush = `push_config p JOIN task t ON t.id = p.task_id AND t.deleted_at IS NULL
  WHERE p.state = 'active' AND (p.sent_seq < t.last_seq OR t.status IN ('stopped', 'error'))`;

/** What is due, as `at`: one row for each kind. */
const dues = `
  SELECT MIN(next_at) AS at FROM delivery d WHERE ${maySend} AND NOT ${isAttempted}
  UNION ALL SELECT MIN(next_at) FROM schedule WHERE status = 'active'
  UNION ALL SELECT MIN(turn_until) FROM task WHERE status = 'running' AND deleted_at IS NULL
  UNION ALL SELECT MIN(look_at) FROM parent_task
  UNION ALL SELECT MIN(p.next_at) FROM ${toPush} AND p.claim IS NULL`;

/** What is in progress, or due at a time, as its name. */
const works = `
  SELECT 'delivery ' || d.id FROM delivery d WHERE ${maySend} AND (${isAttempted} OR d.next_at <= @now)
  UNION ALL SELECT 'schedule ' || id FROM schedule WHERE status = 'active' AND next_at <= @now
  UNION ALL SELECT 'subtasks of ' || task_id FROM parent_task WHERE look_at <= @now
  UNION ALL SELECT 'push notification of ' || p.task_id FROM ${toPush} AND (p.claim IS NOT NULL OR p.next_at <= @now)
  UNION ALL SELECT kind || ' ' || key FROM job
  UNION ALL SELECT 'export ' || id FROM export WHERE completed_at IS NULL`;

/**
 * @param remote profiles whose queued tasks wait for a worker. @param waitingNode marks tasks that wait for
 * their subtasks.
 */
const runs = `SELECT 'run of ' || id FROM task WHERE status = 'running' AND deleted_at IS NULL
  AND (node_id IS NOT NULL AND node_id <> @waitingNode OR node_id IS NULL AND agent_profile NOT IN (SELECT value FROM json_each(@remote)))`;

/** The longest wait for a change of the server that is open, in milliseconds. */
const patienceMs = 10_000;

/** @param path the database. @param snapshot where `keep` copies it. */
export async function openTestState(
  path: string,
  snapshot: string,
  parts: { remote: readonly string[]; waitingNode: string },
): Promise<TestState> {
  const adapter = await connectSqlite(
    path,
    "PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF; PRAGMA busy_timeout = 0;",
  );
  const db = driverOf(adapter);
  const pluck = (text: string) => db.prepare(text).safeIntegers(false).pluck();
  const [dueTimes, work, running] = [pluck(dues), pluck(works), pluck(runs)];
  const runParts = { remote: JSON.stringify(parts.remote), waitingNode: parts.waitingNode };
  // The tables of the search index are written by triggers.
  const tables = () =>
    (
      pluck(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'task_words%'",
      ).all() as string[]
    ) // A column of texts.
      .filter((name) => !ownTables.includes(name));

  /** Changes of the server are open while its thread works on, so that a wait must not block the thread. */
  async function inChange(write: () => void): Promise<void> {
    await retryWhileBusy(async () => db.exec("BEGIN IMMEDIATE"), patienceMs);
    try {
      write();
      db.exec("COMMIT");
    } catch (thrown) {
      db.exec("ROLLBACK");
      throw thrown;
    }
  }

  return {
    nextDue: (now) => {
      const times = dueTimes.all().filter((at): at is number => typeof at === "number");
      return times.reduce<number | null>((least, at) => Math.min(least ?? at, Math.max(at, now)), null);
    },
    active(now, pausing) {
      const running_ = running.all(runParts) as string[]; // A column of texts.
      return [...(work.all({ now }) as string[]), ...(running_.length > pausing ? running_ : [])];
    },
    extendLeases: (ms) =>
      inChange(() => {
        db.prepare("UPDATE worker_run SET lease_until = lease_until + ?").run(ms);
        db.prepare("UPDATE blob SET lease_until = lease_until + ? WHERE state = 'writing'").run(ms);
        // The window of an upload lasts while its bytes arrive.
        db.prepare(
          "UPDATE file SET upload_until = upload_until + ? WHERE status = 'pending' AND account_id IN (SELECT account_id FROM blob WHERE state = 'writing')",
        ).run(ms);
        db.prepare("UPDATE export SET lease_until = lease_until + ? WHERE lease_until IS NOT NULL").run(ms);
        db.prepare("UPDATE webhook_listener SET renewed_at = renewed_at + ?").run(ms);
      }),
    postpone: (webhookId, eventId, at) =>
      inChange(() =>
        db
          .prepare(
            "UPDATE delivery SET next_at = ?, attempts = attempts - 1 WHERE webhook_id = ? AND event_id = ? AND state = 'pending'",
          )
          .run(at, webhookId, eventId),
      ),
    keep() {
      rmSync(snapshot, { force: true });
      db.prepare("VACUUM INTO ?").run(snapshot);
    },
    async restore() {
      db.prepare("ATTACH ? AS kept").run(snapshot);
      try {
        await inChange(() => {
          for (const name of tables()) db.exec(`DELETE FROM main."${name}"`);
          // Triggers of the rows above may have written some of these already.
          for (const name of tables())
            db.exec(`INSERT OR REPLACE INTO main."${name}" SELECT * FROM kept."${name}"`);
        });
      } finally {
        db.exec("DETACH kept");
      }
    },
    close: () => adapter.dispose(),
  };
}
