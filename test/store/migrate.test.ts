import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { PrismaBetterSqlite3 } from "@prisma/adapter-better-sqlite3";
import { expect, inject, test, vi } from "vitest";
import { describablePostgres } from "../../scripts/describable.ts";
import { migrationDrift } from "../../scripts/migration-drift.ts";
import { filtersOf, migrationList, openEngine } from "../../scripts/schema-engine.ts";
import { systemClock } from "../../src/core/clock.ts";
import { systemRandom } from "../../src/core/ids.ts";
import { retryWhileInUse } from "../../src/store/migrate.ts";
import { openStore } from "../../src/store/open.ts";
import { movableClock } from "../support/clock.ts";
import {
  type DatabaseKind,
  databaseUrl,
  describeOnEach,
  openTestStore,
  postgresReady,
  rowsIn,
  runOn,
} from "../support/database.ts";
import { migratedBefore } from "../support/earlier-database.ts";
import { expectGolden } from "../support/golden.ts";
import { lacks } from "../support/needs.ts";

const open = (url: string) => openStore({ databaseUrl: url, clock: systemClock, random: systemRandom });

/** The complete schema, as sorted lines. */
const schemas: Record<DatabaseKind, string> = {
  sqlite:
    "SELECT sql AS line FROM sqlite_master WHERE sql IS NOT NULL AND tbl_name <> '_prisma_migrations' ORDER BY tbl_name, type DESC, name",
  postgresql: `
    SELECT line FROM (
      SELECT c.relname AS owner, 0 AS part, c.relname AS name,
        CASE c.relpersistence WHEN 'u' THEN 'UNLOGGED ' ELSE '' END || 'TABLE ' || c.relname AS line
      FROM pg_class c WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace
      UNION ALL SELECT table_name, 1, to_char(ordinal_position, '000'), '  ' || column_name || ' ' || data_type ||
        CASE is_nullable WHEN 'NO' THEN ' NOT NULL' ELSE '' END || COALESCE(' DEFAULT ' || column_default, '')
      FROM information_schema.columns WHERE table_schema = 'public'
      UNION ALL SELECT conrelid::regclass::text, 2, conname, '  CONSTRAINT ' || conname || ' ' || pg_get_constraintdef(oid)
      FROM pg_constraint WHERE connamespace = 'public'::regnamespace
      UNION ALL SELECT tablename, 3, indexname, '  ' || indexdef FROM pg_indexes WHERE schemaname = 'public'
    ) lines WHERE owner <> '_prisma_migrations' ORDER BY owner COLLATE "C", part, name COLLATE "C"`,
};

describeOnEach("migrations", (kind) => {
  test("create the schema that is checked in", async () => {
    await using database = await openTestStore(kind);
    const lines = (await rowsIn(database.url, schemas[kind])).map(({ line }) => String(line));
    expectGolden(`schema.${kind}.sql`, `${lines.join("\n")}\n`);
  });

  test("are applied once by processes that start at the same time, which prepare one at a time", async () => {
    await using database = await databaseUrl(kind, { empty: true });
    const script = join(import.meta.dirname, "processes", "open.ts");
    await Promise.all(
      Array.from({ length: 4 }, () => promisify(execFile)(process.execPath, [script, database.url])),
    );
    const [book] = await rowsIn(
      database.url,
      "SELECT COUNT(*) AS n, COUNT(DISTINCT migration_name) AS names FROM _prisma_migrations",
    );
    const [starts] = await rowsIn(database.url, "SELECT value FROM setting WHERE key = 'starts'");
    expect(Number(book?.["n"])).toBe(Number(book?.["names"]));
    expect(starts).toEqual({ value: "4" });
  });

  test("know an installation from before by its accounts: only its models keep sending requests without an approval", async () => {
    await using database = await openTestStore(kind);
    const sql = readFileSync(join("prisma", kind, "migrations/0062_fetch_policy/migration.sql"), "utf8");
    const mark = sql.slice(sql.indexOf("INSERT"));
    const marks = () => rowsIn(database.url, "SELECT value FROM setting WHERE key = 'fetch'");
    await runOn(database.url, mark);
    expect(await marks()).toEqual([]);
    await database.store.change(({ accounts }) =>
      accounts.insertAccount({ id: "ann", email: "ann@example.com", name: null, locale: "en", createdAt: 1 }),
    );
    await runOn(database.url, mark);
    expect(await marks()).toEqual([{ value: "allow" }]);
  });

  test("are recorded as Prisma records them, so that its own commands agree", async () => {
    await using database = await openTestStore(kind);
    const adapter =
      kind === "sqlite" ? new PrismaBetterSqlite3({ url: database.url }) : describablePostgres(database.url);
    const engine = await openEngine(kind, adapter);
    const filters = filtersOf(kind);
    const history = await engine.diagnoseMigrationHistory({
      migrationsList: await migrationList(kind),
      optInToShadowDatabase: false,
      filters,
    });
    expect(history).toMatchObject({
      editedMigrationNames: [],
      failedMigrationNames: [],
      hasMigrationsTable: true,
      history: null,
    });
  });

  test.each([
    {
      why: "of a newer release",
      sql: "UPDATE _prisma_migrations SET migration_name = '9999_future'",
      says: /9999_future/,
    },
    {
      why: "with another migration of the same name",
      sql: "UPDATE _prisma_migrations SET checksum = 'x'",
      says: /another 0001_first than this release: .*restore a backup/,
    },
    {
      why: "with a migration that did not end",
      sql: "UPDATE _prisma_migrations SET finished_at = NULL",
      says: /unfinished/,
    },
  ])("refuse a database $why, and leave it as it is", async ({ sql, says }) => {
    await using database = await databaseUrl(kind);
    await (await open(database.url)).close();
    await runOn(database.url, sql);
    const before = await rowsIn(database.url, "SELECT migration_name, checksum FROM _prisma_migrations");
    const refusal = await open(database.url).catch((thrown: unknown) => thrown);
    expect(refusal).toMatchObject({ reason: "failed_precondition", message: expect.stringMatching(says) });
    expect(await rowsIn(database.url, "SELECT migration_name, checksum FROM _prisma_migrations")).toEqual(
      before,
    );
  });

  test("are not left incomplete by a prepare that fails, and the next start continues", async () => {
    await using database = await databaseUrl(kind, { empty: true });
    const prepare = () => Promise.reject(new Error("another key"));
    const refused = openStore({
      databaseUrl: database.url,
      clock: systemClock,
      random: systemRandom,
      prepare,
    });
    await expect(refused).rejects.toThrow("another key");
    const store = await open(database.url);
    expect(await store.settings.get("k")).toBeNull();
    await store.close();
  });
});

describeOnEach("the migration of the command line's client", (kind) => {
  const client = "SELECT * FROM oauth_app WHERE client_id = 'atp-cli'";

  test("keeps the apps, secrets, grants, codes and tokens of an earlier release, and adds the row of a new installation", async () => {
    await using fresh = await openTestStore(kind);
    const [expected] = await rowsIn(fresh.url, client);
    expect(expected).toMatchObject({ space_id: "", name: "Command line" });
    await using database = await migratedBefore(kind, "0031_command_line_client");
    await runOn(
      database.url,
      `INSERT INTO oauth_app VALUES ('client_a', 'north', 'ann', 'Garden', '', '["https://a.example/cb"]', '', NULL, '["create_task"]', '[]', '[]', false, false, 2, 1, 2, NULL);
       INSERT INTO oauth_secret VALUES ('s1', 'client_a', 'digest', 'last', 1, NULL);
       INSERT INTO oauth_grant VALUES ('g1', 'ann', 'north', 'client_a', '["create_task"]', '[]', 2, 1, 1, NULL);
       INSERT INTO oauth_code (digest, client_id, grant_id, account_id, space_id, redirect_uri, scopes, generation, created_at, expires_at)
         VALUES ('d1', 'client_a', 'g1', 'ann', 'north', 'https://a.example/cb', '[]', 2, 1, 9);
       INSERT INTO oauth_family (id, client_id, grant_id, account_id, space_id, scopes, generation, needs_secret, access_expires_at, refresh_digest, refresh_expires_at, created_at)
         VALUES ('f1', 'client_a', 'g1', 'ann', 'north', '[]', 2, true, 9, 'r1', 9, 1);`,
    );
    const tables = ["oauth_app", "oauth_secret", "oauth_grant", "oauth_code", "oauth_family"];
    const read = () =>
      Promise.all(
        tables.map((table) => rowsIn(database.url, `SELECT * FROM ${table} WHERE client_id = 'client_a'`)),
      );
    const before = await read();
    expect(before.map((rows) => rows.length)).toEqual([1, 1, 1, 1, 1]);
    const store = await open(database.url);
    // Later migrations add columns.
    expect(await read()).toMatchObject(before);
    expect(await rowsIn(database.url, client)).toEqual([expected]);
    expect(await store.apps.find("client_a")).toMatchObject({
      spaceId: "north",
      generation: 2,
      scopes: ["create_task"],
    });
    expect(await store.apps.find("atp-cli")).toMatchObject({
      spaceId: null,
      loopbackAnyPort: true,
      confidentialOnly: false,
    });
    await store.close();
  });
});

describeOnEach("the migrations of an upgrade", (kind) => {
  test("lead a database of 0.1.0 to the schema of a new one", async () => {
    await using database = await migratedBefore(kind, "0012_node_address");
    await (await open(database.url)).close();
    const lines = (await rowsIn(database.url, schemas[kind])).map(({ line }) => String(line));
    expectGolden(`schema.${kind}.sql`, `${lines.join("\n")}\n`);
  });
});

test("the jobs of runs that an earlier release left on SQLite are deleted, and no others", async () => {
  await using database = await migratedBefore("sqlite", "0059_no_run_jobs");
  await runOn(
    database.url,
    "INSERT INTO job (kind, key, run_at) VALUES ('run', 'a', 1), ('export', 'b', 1);",
  );
  await (await open(database.url)).close();
  expect(await rowsIn(database.url, "SELECT kind, key FROM job")).toEqual([{ kind: "export", key: "b" }]);
});

test.skipIf(lacks("postgresql"))("the migrations of both databases lead to the models", async () => {
  await postgresReady();
  const server = new URL("/postgres", inject("postgresTemplate") ?? "").href;
  expect(await migrationDrift(server)).toEqual({ sqlite: "", postgresql: "" });
});

test("a database of another kind is refused", async () => {
  await expect(open("mysql://localhost/x")).rejects.toMatchObject({ reason: "invalid_argument" });
});

test("a lock on a table that stays in use is requested repeatedly, for a limited time", async () => {
  const clock = movableClock();
  const inUse = Object.assign(new Error("canceling statement due to lock timeout"), {
    cause: { originalCode: "55P03" },
  });
  const work = vi.fn(() => Promise.reject(inUse));
  await expect(retryWhileInUse(work, clock)).rejects.toBe(inUse);
  expect(work.mock.calls.length).toBe(60);
  const other = vi.fn(() => Promise.reject(new Error("syntax error")));
  await expect(retryWhileInUse(other, clock)).rejects.toThrow("syntax error");
  expect(other).toHaveBeenCalledOnce();
});
