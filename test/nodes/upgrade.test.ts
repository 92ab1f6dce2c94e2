import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { expect, vi } from "vitest";
import { systemClock } from "../../src/core/clock.ts";
import { systemRandom } from "../../src/core/ids.ts";
import { openStore } from "../../src/store/open.ts";
import { type Checkout, copyCheckout } from "../commands/checkout.ts";
import { openTestStore, postgresTemplate, rowsIn } from "../support/database.ts";
import { sample } from "../support/depth.ts";
import { hangMs } from "../support/patience.ts";
import { sampledTest } from "../support/sampled.ts";
import { openService, type Person } from "../support/service.ts";

const test = sampledTest(2);

/** Number of calls that must succeed at each stage. */
const some = sample(100, 20);

/** Changes that a later release may make while nodes of this one serve. */
const additive = `
ALTER TABLE task ADD COLUMN extra TEXT NOT NULL DEFAULT 'none';
ALTER TABLE task_event ADD COLUMN extra BIGINT;
CREATE TABLE extra (id TEXT PRIMARY KEY, task_id TEXT NOT NULL);
CREATE INDEX task_extra ON task (updated_at) WHERE extra <> 'none';`;

/** A checkout of a later release: this one with one more migration. */
function laterRelease(): Checkout {
  const checkout = copyCheckout({ isBare: true });
  const migration = checkout.path("prisma/postgresql/migrations/9999_later");
  mkdirSync(migration);
  writeFileSync(join(migration, "migration.sql"), additive);
  return checkout;
}

/** Calls without a pause, several at a time, until it is stopped. */
function traffic(person: Person) {
  const stats = { calls: 0, refused: [] as unknown[] };
  let stopping = false;

  async function call(name: string, body: object): Promise<string> {
    const reply = await person
      .v2(name, body)
      .catch((thrown: unknown) => ({ status: 0, body: { error: thrown, task_id: "" } }));
    stats.calls += 1;
    if (reply.status !== 200) stats.refused.push({ name, status: reply.status, error: reply.body.error });
    return String(reply.body["task_id"]);
  }

  async function callOn(): Promise<void> {
    while (!stopping) {
      const task_id = await call("task.create", { message: { content: "Hello" } });
      await call("task.detail", { task_id });
      await call("task.listMessages", { task_id });
      await call("task.list", {});
    }
  }

  const callers = [callOn(), callOn(), callOn(), callOn()];
  return {
    seen: stats,
    /** Resolves after this many more calls were answered. */
    async more(count: number): Promise<void> {
      const enough = stats.calls + count;
      await vi.waitFor(() => expect(stats.calls).toBeGreaterThanOrEqual(enough), { timeout: hangMs });
    },
    async stop() {
      stopping = true;
      await Promise.all(callers);
    },
  };
}

test.skipIf(postgresTemplate === undefined)(
  "nodes of this release serve without a failure while a later one waits to migrate the database, migrates it, and afterwards",
  async () => {
    await using database = await openTestStore("postgresql");
    using later = laterRelease();
    const env = {
      DATA_DIR: later.path("data"),
      DATA_DIR_SHARED: "true",
      DATABASE_URL: database.url,
      ENCRYPTION_KEY: Buffer.alloc(32, 7).toString("base64"),
    };
    await using service = await openService({ over: database, nodes: 2 });
    const ann = await service.person();
    const calls = traffic(ann);
    await calls.more(some);

    // A change that takes longer than a migration may block all other changes.
    const change = new Client(database.url);
    await change.connect();
    await change.query("BEGIN; LOCK TABLE task IN ROW EXCLUSIVE MODE");

    const migrating = later.command([process.execPath, "cli/main.ts", "migrate"], env);
    const waiting = () =>
      rowsIn(
        database.url,
        "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%ADD COLUMN extra%'",
      );
    await vi.waitFor(async () => expect(await waiting()).toHaveLength(1), { timeout: hangMs, interval: 20 });
    await calls.more(some);
    await change.query("COMMIT");
    await change.end();
    expect(await migrating.ended).toMatchObject({ code: 0 });
    expect(await rowsIn(database.url, "SELECT COUNT(*) FROM extra")).toHaveLength(1);
    await calls.more(some);

    const server = later.command([process.execPath, "cli/main.ts", "serve"], { ...env, PORT: "0" });
    await server.says(/"msg":"ready"/);
    await calls.more(some);
    server.child.kill("SIGTERM");
    expect(await server.ended).toMatchObject({ code: 0 });

    await calls.stop();
    expect(calls.seen.refused).toEqual([]);
    const afresh = openStore({ databaseUrl: database.url, clock: systemClock, random: systemRandom });
    await expect(afresh, "one of this release that starts now").rejects.toMatchObject({
      reason: "failed_precondition",
      message: expect.stringContaining("migrated by a newer release (9999_later)"),
    });
  },
);
