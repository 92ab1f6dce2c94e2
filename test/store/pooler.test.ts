import { setTimeout as delay } from "node:timers/promises";
import { Client } from "pg";
import { describe, expect } from "vitest";
import { systemClock } from "../../src/core/clock.ts";
import { systemRandom } from "../../src/core/ids.ts";
import { openStore } from "../../src/store/open.ts";
import { findPooling } from "../../src/store/pooler.ts";
import { databaseUrl, postgresTemplate, rowsIn } from "../support/database.ts";
import { depth, share } from "../support/depth.ts";
import { lacks } from "../support/needs.ts";
import { hangMs } from "../support/patience.ts";
import { startPgBouncer } from "../support/pgbouncer.ts";
import { sampledTest } from "../support/sampled.ts";
import { openService } from "../support/service.ts";

const test = sampledTest(2);

const open = (url: string, poolerUrl: string | null = null) =>
  openStore({ databaseUrl: url, poolerUrl, clock: systemClock, random: systemRandom });

describe.skipIf(postgresTemplate === undefined || lacks("pgbouncer"))("PgBouncer", () => {
  test("in transaction mode with a direct address carries two processes by four connections: tasks end, and news arrive", async () => {
    await using database = await databaseUrl("postgresql");
    await using pooler = await startPgBouncer(database.url, "transaction", {
      "default_pool_size = 40": "default_pool_size = 4",
    });
    const env = { DATABASE_URL: pooler.url, DATABASE_DIRECT_URL: database.url };
    const store = await open(database.url, pooler.url);
    const other = await open(database.url, pooler.url);
    const told = new Set<string>();
    other.feed.onTask(({ taskId }) => void told.add(taskId));
    await using service = await openService({ env, over: { store, url: pooler.url } });
    const person = await service.person();
    const contents = Array.from({ length: 24 }, (_, i) => `[[say ${i}]]`);
    const created = await Promise.all(
      contents.map((content) => person.v2("task.create", { message: { content } })),
    );
    expect(created.map(({ status }) => status)).toEqual(contents.map(() => 200));
    const ids = created.map(({ body }) => String(body["task_id"]));
    for (const task_id of ids) {
      const status = async () => (await person.v2("task.detail", { task_id })).body["task"]?.status;
      await expect.poll(status, { timeout: hangMs }).toBe("stopped");
    }
    await expect.poll(() => ids.filter((id) => !told.has(id)), { timeout: hangMs }).toEqual([]);
    const connections =
      "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";
    expect(
      (await rowsIn(database.url, connections)).length,
      "four of the pooler, a direct one of each process, and one for the first lookup of queues",
    ).toBeLessThanOrEqual(7);
    expect(service.problems).toEqual([]);
    await service.drain();
    for (const each of [store, other]) await each.close();
  });

  test.skipIf(depth === "short")(
    "in transaction mode ends a change that stalls, and frees its locks",
    { timeout: 60_000 },
    async () => {
      await using database = await databaseUrl("postgresql");
      await using pooler = await startPgBouncer(database.url, "transaction", {
        "idle_transaction_timeout = 10": "idle_transaction_timeout = 60",
      });
      const store = await open(database.url, pooler.url);
      const begun = performance.now();
      const stalled = store.change(async (tx) => {
        await tx.settings.put("k", "stalled");
        await delay(12_000);
      });
      stalled.catch(() => undefined);
      await store.change((tx) => tx.settings.put("k", "next"));
      expect(performance.now() - begun, "PostgreSQL ends it after 8 s").toBeLessThan(11_500);
      await expect(stalled).rejects.toMatchObject({ reason: "unavailable" });
      expect(await store.settings.get("k")).toBe("next");
      await store.close();
    },
  );

  test("in transaction mode without a direct address, or as the direct address, is refused with one sentence", async () => {
    await using database = await databaseUrl("postgresql");
    await using pooler = await startPgBouncer(database.url, "transaction");
    await expect(open(pooler.url)).rejects.toMatchObject({
      reason: "failed_precondition",
      message: `DATABASE_URL: the database platform at 127.0.0.1:${new URL(pooler.url).port} is behind a pooler that gives a connection to each transaction, and notifications need a session: set DATABASE_DIRECT_URL to the address of PostgreSQL itself, or let the pooler pool sessions`,
    });
    await expect(open(pooler.url, pooler.url)).rejects.toMatchObject({
      reason: "failed_precondition",
      message: expect.stringMatching(
        /^DATABASE_DIRECT_URL: .* needs? a session: set it to the address of PostgreSQL itself$/,
      ),
    });
  });

  test("before another database than the direct address is refused; an absent one is named", async () => {
    await using database = await databaseUrl("postgresql");
    await using other = await databaseUrl("postgresql");
    await using pooler = await startPgBouncer(other.url, "transaction");
    await expect(open(database.url, pooler.url)).rejects.toMatchObject({
      message: expect.stringMatching(
        /^DATABASE_URL leads to another database than DATABASE_DIRECT_URL, which is the database test_/,
      ),
    });
    await expect(open(database.url, "postgresql://u@127.0.0.1:1/platform")).rejects.toMatchObject({
      message:
        "DATABASE_URL: the database platform at 127.0.0.1:1 cannot be opened: connect ECONNREFUSED 127.0.0.1:1",
    });
    await expect(open("postgresql://u@127.0.0.1:1/platform", pooler.url)).rejects.toMatchObject({
      message: expect.stringMatching(
        /^DATABASE_DIRECT_URL: the database platform at 127\.0\.0\.1:1 cannot be opened/,
      ),
    });
  });

  test("in session mode needs no direct address, and a session keeps its settings", async () => {
    await using database = await databaseUrl("postgresql");
    await using pooler = await startPgBouncer(database.url, "session");
    const store = await open(pooler.url);
    await store.change((tx) => tx.settings.put("k", "v"));
    expect(await store.settings.get("k")).toBe("v");
    await expect(store.settings.put("k", "w"), "reads cannot write").rejects.toMatchObject({
      reason: "internal",
    });
    await store.close();
  });

  const pools = [
    ["transaction", "transaction", {}],
    ["transaction", "transaction", { "default_pool_size = 40": "default_pool_size = 1" }],
    [
      "transaction",
      "transaction",
      { "default_pool_size = 40": "default_pool_size = 2\nmin_pool_size = 2\nserver_round_robin = 1" },
    ],
    [
      "transaction",
      "transaction",
      { "default_pool_size = 40": "default_pool_size = 20\nmin_pool_size = 20\nserver_round_robin = 1" },
    ],
    ["statement", "transaction", {}],
    ["session", "session", {}],
    [
      "session",
      "session",
      { "default_pool_size = 40": "default_pool_size = 20\nmin_pool_size = 20\nserver_round_robin = 1" },
    ],
  ] as const;
  test.each(
    share(pools, 0, 3),
  )("with pool_mode = %s is found as %s, also under load (%j)", async (mode, found, settings) => {
    await using database = await databaseUrl("postgresql");
    await using pooler = await startPgBouncer(database.url, mode, settings);
    expect(await findPooling(database.url)).toBe("none");
    expect(await findPooling(pooler.url)).toBe(found);
    const busy = new Client(pooler.url);
    await busy.connect();
    let over = false;
    const load = (async () => {
      while (!over) await busy.query("SELECT 1");
    })();
    expect(await findPooling(pooler.url)).toBe(found);
    over = true;
    await load;
    await busy.end();
  });
});
