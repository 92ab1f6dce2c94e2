import { PrismaPg } from "@prisma/adapter-pg";
import { expect, test, vi } from "vitest";
import { systemClock } from "../../src/core/clock.ts";
import { systemRandom } from "../../src/core/ids.ts";
import { declaredIndexes, indexesForLater } from "../../src/store/index-builds.ts";
import { migrationsOf } from "../../src/store/migrate.ts";
import { openStore } from "../../src/store/open.ts";
import { databaseUrl, describeOnPostgres, openTestStore, rowsIn, runOn } from "../support/database.ts";
import { hangMs } from "../support/patience.ts";

const open = (databaseUrl: string) => openStore({ databaseUrl, clock: systemClock, random: systemRandom });

const indexes = `SELECT c.relname AS name, i.indisvalid AS valid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
  WHERE c.relnamespace = 'public'::regnamespace AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = c.oid) ORDER BY c.relname`;
const waiting =
  "SELECT query FROM pg_stat_activity WHERE query LIKE '%INDEX CONCURRENTLY%' AND wait_event_type = 'Lock'";

/** Begins a change of the table `task`; resolves with the function that commits it. */
async function changeTasks(url: string): Promise<() => Promise<void>> {
  const connection = await new PrismaPg({ connectionString: url, max: 1 }).connect();
  const change = await connection.startTransaction();
  await change.executeRaw({ sql: "UPDATE task SET title = 'x'", args: [], argTypes: [] });
  return async () => {
    await change.executeRaw({ sql: "COMMIT", args: [], argTypes: [] });
    await change.commit();
    await connection.dispose();
  };
}

describeOnPostgres("indexes", (kind) => {
  test("of a new database are those that the migrations declare", async () => {
    await using database = await openTestStore(kind);
    const names = (await rowsIn(database.url, indexes)).map(({ name }) => String(name));
    expect([...declaredIndexes().keys()].toSorted()).toEqual(names.toSorted());
  });

  test("of existing tables are left out of a migration, and those of its new tables are not", async () => {
    const { sql } = migrationsOf(kind).find(({ name }) => name === "0014_find_tasks") ?? { sql: "" };
    const indexed = async (url: string) => {
      const query = async (text: string) => (await rowsIn(url, text)).map((row) => Object.values(row));
      const textOf = await indexesForLater({
        query,
        script: () => Promise.reject(new Error("must not write")),
      });
      return [...textOf(sql).matchAll(/^CREATE INDEX "\w+" ON "(\w+)"/gm)].map(([, table]) => table);
    };
    await using empty = await databaseUrl(kind, { empty: true });
    expect(await indexed(empty.url)).toEqual(["task_metadata", "task", "task", "task"]);
    await runOn(empty.url, 'CREATE TABLE "task" (id TEXT)');
    expect(await indexed(empty.url)).toEqual(["task_metadata"]);
  });

  test("that are missing, or that an ended start left invalid, are built while others write the table and start", async () => {
    await using database = await openTestStore(kind);
    await runOn(
      database.url,
      "DROP INDEX task_status; UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'task_updated'::regclass",
    );
    const commit = await changeTasks(database.url);
    const starts = [open(database.url), open(database.url)];
    await vi.waitFor(async () => expect(await rowsIn(database.url, waiting)).not.toEqual([]), {
      timeout: hangMs,
    });
    // If the start waited for a lock of the table, this statement would wait behind it.
    await runOn(database.url, "SET lock_timeout = 1; UPDATE task SET title = 'y'");
    await commit();
    for (const store of await Promise.all(starts)) await store.close();
    const rows = await rowsIn(database.url, indexes);
    expect(rows.filter(({ valid }) => valid !== true)).toEqual([]);
    expect(rows.map(({ name }) => name)).toEqual(expect.arrayContaining(["task_status", "task_updated"]));
  });
});
