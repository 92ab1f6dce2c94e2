import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { PrismaBetterSqlite3 } from "@prisma/adapter-better-sqlite3";
import { expect, test } from "vitest";
import { pathOf } from "../../src/store/backend.ts";
import { sqliteCopier } from "../../src/store/copy-sqlite.ts";
import { connectReadOnly, connectSqlite } from "../../src/store/sqlite-adapter.ts";
import { movableClock } from "../support/clock.ts";
import { databaseUrl, openTestStore, rowsIn } from "../support/database.ts";

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
  const sleep = async () => clock.pass(2000);
  await using database = await openTestStore("sqlite", { clock: { ...clock, sleep } });
  const other = await otherWriter(database.url);
  const started = clock.monotonic();
  await expect(database.store.change((tx) => tx.settings.put("k", "v"))).rejects.toMatchObject({ reason: "unavailable", retryAfter: 1 });
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
    await expect(async () => connection.executeScript(write)).rejects.toThrow("attempt to write a readonly database");
  await connection.dispose();
});

test("commits survive a power cut: the journal is synced, and foreign keys are enforced", async () => {
  await using database = await openTestStore("sqlite");
  const connection = await connectSqlite(database.url.replace("file:", ""));
  const pragma = async (name: string) => (await connection.queryRaw({ sql: `PRAGMA ${name}`, args: [], argTypes: [] })).rows[0]?.[0];
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
  const text = readFileSync(join(import.meta.dirname, "../../src/gen/prisma", provider, "internal/class.ts"), "utf8");
  expect(text).toContain(`"activeProvider": "${provider}"`);
});
