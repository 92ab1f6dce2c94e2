import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { PrismaBetterSqlite3 } from "@prisma/adapter-better-sqlite3";
import { expect, test, vi } from "vitest";
import { sqliteCopier } from "../../src/backup/copy-sqlite.ts";
import { systemClock } from "../../src/core/clock.ts";
import { systemRandom } from "../../src/core/ids.ts";
import { shrink } from "../../src/core/retention/shrink.ts";
import { pathOf } from "../../src/store/backend.ts";
import { compact } from "../../src/store/compact.ts";
import { openStore } from "../../src/store/open.ts";
import { connectReadOnly, connectSqlite } from "../../src/store/sqlite-adapter.ts";
import { movableClock } from "../support/clock.ts";
import { databaseUrl, openTestStore, rowsIn, runOn, type TestStore } from "../support/database.ts";

/** A transaction that SQLite sees as another process's. */
async function otherWriter(url: string) {
  const other = await new PrismaBetterSqlite3({ url }).connect();
  await other.executeScript("BEGIN IMMEDIATE");
  return { commit: () => other.executeScript("COMMIT"), [Symbol.asyncDispose]: () => other.dispose() };
}

test("a write waits for another process's, and other calls are served in the meantime", async () => {
  await using database = await openTestStore("sqlite");
  await using other = await otherWriter(database.url);
  let written = false;
  const change = database.store
    .change((tx) => tx.settings.put("k", "v"))
    .then(() => {
      written = true;
    });
  for (let n = 0; n < 3; n += 1) expect(await database.store.settings.get("k")).toBeNull();
  expect(written).toBe(false);
  await other.commit();
  await change;
  expect(await database.store.settings.get("k")).toBe("v");
});

test("a write that has waited for five seconds is unavailable, and the next one succeeds", async () => {
  const clock = movableClock();
  await using database = await openTestStore("sqlite");
  using _sleep = vi.spyOn(systemClock, "sleep").mockImplementation(async () => clock.pass(2000));
  using _monotonic = vi.spyOn(systemClock, "monotonic").mockImplementation(clock.monotonic);
  const other = await otherWriter(database.url);
  const started = clock.monotonic();
  await expect(database.store.change((tx) => tx.settings.put("k", "v"))).rejects.toMatchObject({
    reason: "unavailable",
    retryAfter: 1,
  });
  expect(clock.monotonic() - started).toBeGreaterThanOrEqual(5000);
  await other[Symbol.asyncDispose]();
  await database.store.change((tx) => tx.settings.put("k", "v"));
});

test("a backup reads by a connection that cannot write, while another process writes, and has what was committed", async () => {
  await using database = await openTestStore("sqlite");
  await using target = await databaseUrl("sqlite");
  await database.store.change((tx) => tx.settings.put("k", "v"));
  await using other = await otherWriter(database.url);
  await using _copy = await sqliteCopier.copy(database.url, pathOf(target.url));
  await other.commit();
  expect(await rowsIn(target.url, "SELECT value FROM setting WHERE key = 'k'")).toEqual([{ value: "v" }]);
  const connection = await connectReadOnly(pathOf(database.url));
  for (const write of ["DELETE FROM setting", "CREATE TABLE t (x)"])
    await expect(async () => connection.executeScript(write)).rejects.toThrow(
      "attempt to write a readonly database",
    );
  await connection.dispose();
});

test("commits survive a power cut: the journal is synced, and foreign keys are enforced", async () => {
  await using database = await openTestStore("sqlite");
  const connection = await connectSqlite(database.url.replace("file:", ""));
  const pragma = async (name: string) =>
    (await connection.queryRaw({ sql: `PRAGMA ${name}`, args: [], argTypes: [] })).rows[0]?.[0];
  expect(await pragma("journal_mode")).toBe("wal");
  expect(await pragma("synchronous")).toBe(2);
  expect(await pragma("foreign_keys")).toBe(1);
  await connection.dispose();
});

test("acknowledged writes exist after the process was killed", async () => {
  await using database = await databaseUrl("sqlite");
  const script = join(import.meta.dirname, "processes", "write.ts");
  const child = spawn(process.execPath, [script, database.url], { stdio: ["ignore", "pipe", "inherit"] });
  const gone = once(child, "exit");
  let said = "";
  child.stdout.on("data", (chunk: Buffer) => {
    said += chunk.toString();
    if (said.includes("20\n")) child.kill("SIGKILL");
  });
  await gone;
  const [row] = await rowsIn(database.url, "SELECT value FROM setting WHERE key = 'n'");
  const acknowledged = said.split("\n").slice(0, -1).length;
  expect(Number(row?.["value"])).toBeGreaterThanOrEqual(acknowledged);
});

test("a closed store has its journal in its file", async () => {
  await using database = await openTestStore("sqlite");
  await database.store.change((tx) => tx.settings.put("k", "v"));
  await database.store.close();
  const path = database.url.replace("file:", "");
  expect(statSync(`${path}-wal`, { throwIfNoEntry: false })).toBeUndefined();
  expect(statSync(path).size).toBeGreaterThan(0);
});

test.each(["sqlite", "postgresql"])("the client of %s belongs to that database", (provider) => {
  const text = readFileSync(
    join(import.meta.dirname, "../../src/gen/prisma", provider, "internal/class.ts"),
    "utf8",
  );
  expect(text).toContain(`"activeProvider": "${provider}"`);
});

const pagesOf = async ({ url }: Pick<TestStore, "url">) => {
  const [row] = await rowsIn(
    url,
    "SELECT (SELECT page_count FROM pragma_page_count) AS all_pages, (SELECT freelist_count FROM pragma_freelist_count) AS unused",
  );
  return { all: Number(row?.["all_pages"]), unused: Number(row?.["unused"]) };
};

/** Fills some 4,000 pages and deletes what fills them. */
async function fillAndDelete({ store, url }: TestStore): Promise<void> {
  await store.change(async (tx) => {
    for (let n = 0; n < 400; n += 1) await tx.settings.put(`k${n}`, "x".repeat(40_000));
  });
  await runOn(url, "DELETE FROM setting WHERE key LIKE 'k%'");
}

test("the file of the database becomes smaller after rows are deleted, in steps between which other changes commit", async () => {
  await using database = await openTestStore("sqlite");
  await fillAndDelete(database);
  const before = await pagesOf(database);
  expect(before.unused).toBeGreaterThan(4_000);
  const { store } = database;
  const sizes: number[] = [];
  const observed = {
    async shrink(pages: number) {
      sizes.push(pages);
      await store.change((tx) => tx.settings.put("other", "1"));
      return await store.shrink(pages);
    },
  };
  await shrink(observed, movableClock(), new AbortController().signal);
  const after = await pagesOf(database);
  expect(after.all).toBeLessThan(before.all - 3_000);
  expect(after.unused).toBeLessThanOrEqual(after.all / 8);
  expect(sizes).toEqual([250, 500, 1000, 1000, expect.any(Number), ...sizes.slice(5)]);
  expect(Math.max(...sizes)).toBe(1000);
  expect(await rowsIn(database.url, "PRAGMA integrity_check")).toEqual([{ integrity_check: "ok" }]);
});

test("steps that take more than 200 ms become smaller", async () => {
  const clock = movableClock();
  const sizes: number[] = [];
  let left = 6;
  const slow = async (pages: number) => {
    sizes.push(pages);
    clock.pass(201);
    left -= 1;
    return left;
  };
  await shrink({ shrink: slow }, clock, new AbortController().signal);
  expect(sizes).toEqual([250, 125, 62, 31, 15, 10]);
});

test("the file of an earlier release keeps its size until it is written again", async () => {
  await using older = await openTestStore("sqlite");
  await runOn(older.url, "PRAGMA auto_vacuum = NONE; VACUUM;");
  await fillAndDelete(older);
  expect(await older.store.shrink(1_000)).toBe(0);
  await compact(older.url);
  await fillAndDelete(older);
  expect(await older.store.shrink(1_000)).toBeGreaterThan(1_000);
});

test("a command opens the file while a server holds the lock of a writer for a moment", async () => {
  await using database = await openTestStore("sqlite");
  const other = await otherWriter(database.url);
  const opened = openStore({ databaseUrl: database.url, clock: systemClock, random: systemRandom });
  await new Promise((resolve) => setTimeout(resolve, 150)); // longer than the driver waits
  await other.commit();
  await other[Symbol.asyncDispose]();
  await (await opened).close();
});
