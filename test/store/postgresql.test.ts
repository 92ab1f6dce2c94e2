import { describe, expect, test, vi } from "vitest";
import { databaseUrl, openTestStore, postgresTemplate, rowsIn } from "../support/database.ts";

describe.skipIf(postgresTemplate === undefined)("PostgreSQL", () => {
  test("a change whose connection is cut is unavailable and leaves nothing; the next call is served", async () => {
    const log = vi.fn();
    await using database = await openTestStore("postgresql", { log });
    const { store } = database;
    const cut = () =>
      rowsIn(
        database.url,
        "SELECT pid, pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
      );
    const change = store.change(async (tx) => {
      await tx.settings.put("k", "lost");
      await cut();
      await tx.settings.put("k", "lost too");
    });
    await expect(change).rejects.toMatchObject({ name: "Failure", reason: "unavailable" });
    await vi.waitFor(async () => expect(await store.settings.get("k")).toBeNull());
    await store.change((tx) => tx.settings.put("k", "kept"));
    expect(await store.settings.get("k")).toBe("kept");
    expect(log).toHaveBeenCalled();
  });

  test("settings of the session that the URL carries stay, and ours are added", async () => {
    await using plain = await databaseUrl("postgresql");
    const url = new URL(plain.url);
    url.searchParams.set("options", "-c statement_timeout=54321");
    const { openStore } = await import("../../src/store/open.ts");
    const { systemClock } = await import("../../src/core/clock.ts");
    const { systemRandom } = await import("../../src/core/ids.ts");
    const store = await openStore({ databaseUrl: url.href, clock: systemClock, random: systemRandom });
    await store.change((tx) => tx.settings.put("k", "v"));
    await expect(store.settings.put("k", "w")).rejects.toMatchObject({ reason: "internal" });
    await store.close();
  });
});
