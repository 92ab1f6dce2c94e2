import { describe, expect, test, vi } from "vitest";
import { systemClock } from "../../src/core/clock.ts";
import { systemRandom } from "../../src/core/ids.ts";
import { openStore } from "../../src/store/open.ts";
import { databaseUrl, openTestStore, postgresTemplate, rowsIn, runOn } from "../support/database.ts";
import { hangMs } from "../support/patience.ts";

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
    await vi.waitFor(async () => expect(await store.settings.get("k")).toBeNull(), { timeout: hangMs });
    await store.change((tx) => tx.settings.put("k", "kept"));
    expect(await store.settings.get("k")).toBe("kept");
    expect(log).toHaveBeenCalledWith("error", expect.any(String), expect.anything());
  });

  test("a server that has become a standby is unavailable for changes, and a new connection is made for the next one", async () => {
    await using database = await databaseUrl("postgresql");
    const store = await openStore({ databaseUrl: database.url, clock: systemClock, random: systemRandom });
    const { pathname } = new URL(database.url);
    // Refuses writes with the same code as a standby.
    await runOn(database.url, `ALTER DATABASE ${pathname.slice(1)} SET default_transaction_read_only = on`);
    const refused = store.change((tx) => tx.settings.put("k", "v"));
    await expect(refused).rejects.toMatchObject({ name: "Failure", reason: "unavailable", retryAfter: 1 });
    await runOn(
      database.url,
      `SET default_transaction_read_only = off; ALTER DATABASE ${pathname.slice(1)} RESET default_transaction_read_only`,
    );
    await store.change((tx) => tx.settings.put("k", "v"));
    expect(await store.settings.get("k")).toBe("v");
    await store.close();
  });

  test("a URL with session settings keeps them, and reads still cannot write", async () => {
    await using plain = await databaseUrl("postgresql");
    const url = new URL(plain.url);
    url.searchParams.set("options", "-c lock_timeout=1");
    const store = await openStore({ databaseUrl: url.href, clock: systemClock, random: systemRandom });
    await store.change((tx) => tx.settings.put("k", "v"));
    await expect(store.settings.put("k", "w")).rejects.toMatchObject({ reason: "internal" });
    const written = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    const holds = store.change(async (tx) => {
      await tx.settings.put("k", "w");
      written.resolve();
      await held.promise;
    });
    await written.promise;
    await expect(store.change((tx) => tx.settings.put("k", "x"))).rejects.toMatchObject({
      reason: "unavailable",
    });
    held.resolve();
    await holds;
    await store.close();
  });
});
