import { expect, test } from "vitest";
import { firstProgress, parseProgress, progressSetting } from "../../src/backup/move-progress.ts";
import { compareTables, copyTables, movedTables } from "../../src/backup/move-tables.ts";
import { systemClock } from "../../src/core/clock.ts";
import type { StoredRow } from "../../src/core/installation/transfer.ts";
import type { Store } from "../../src/core/store.ts";
import { type PlainTable, plainTables } from "../../src/store/table.ts";
import { seededRandom } from "../faults/harness/seeded-random.ts";
import { describeOnOne, openTestStore, postgresTemplate, rowsIn, runOn } from "../support/database.ts";
import { sample } from "../support/depth.ts";
import { contentOf } from "./move-rig.ts";

/** Texts that databases may treat differently. */
const texts = [
  "",
  "plain",
  "'quoted' \"twice\" \\ back",
  "ß İ 日本 🙂 e\u0301",
  "line\nline\ttab",
  '{"a": 1.0,  "b":[]}',
  "x".repeat(20_000),
];
/** The store uses 32 bits for counts, and 53 of the 64 bits of times and bytes. */
const counts = [0, 1, -1, 2 ** 31 - 1, -(2 ** 31)];
const times = [...counts, 2 ** 53 - 1, 1_795_564_800_000];
const rowsEach = 12;

const pick = <T>(all: readonly T[], nth: number): T => all[nth % all.length] as T; // all is not empty

/**
 * A row of a table with the values that a column can have: nulls, both booleans, bytes, large integers,
 * unusual texts.
 */
function rowOf({ name, columns, key }: PlainTable, nth: number, nullable: ReadonlySet<string>): StoredRow {
  const value = (member: string, column: string, kind: string, at: number): StoredRow[string] => {
    const isKey = key.some(([each]) => each === member);
    if (!isKey && nth === 1 && nullable.has(`${name}.${column}`)) return null;
    if (kind === "boolean") return nth % 2 === 0;
    if (kind === "bytes") return Uint8Array.from([0, 255, nth, 10, 13]);
    if (kind === "integer")
      return isKey ? nth : pick(/(_at|until|timestamp)$/.test(column) ? times : counts, nth + at);
    // Rows refer to the rows of other tables with the same number.
    if (column === "id" || column.endsWith("_id"))
      return `${column === "id" ? name : column.slice(0, -3)}-${nth}`;
    const text = `${nth} ${column} ${pick(texts, nth + at)}`;
    // PostgreSQL's indexes accept at most 2,700 bytes.
    return freeTexts.test(column) ? text : text.slice(0, 60).toWellFormed();
  };
  return Object.fromEntries(
    Object.entries(columns).map(([member, [column, kind]], at) => [member, value(member, column, kind, at)]),
  );
}

const freeTexts = /^(payload|body|before|after|content|instruction|description|template|value)$/;

/** Fills every table. */
async function fill(store: Store, url: string): Promise<void> {
  const nullable = await nullableColumns();
  for (const table of plainTables.values()) {
    if (!movedTables.includes(table.name)) continue;
    const rows = Array.from({ length: rowsEach }, (_, nth) => rowOf(table, nth, nullable));
    await store.change(async (tx) => {
      await tx.transfer.clear(table.name);
      await tx.transfer.insert(table.name, rows);
    });
  }
  expect(Object.values(await contentOf(url)).map(({ length }) => length)).toEqual(
    movedTables.slice(1).map(() => rowsEach),
  );
}

async function nullableColumns(): Promise<ReadonlySet<string>> {
  await using database = await openTestStore("sqlite");
  const query =
    "SELECT m.name || '.' || c.name AS name FROM sqlite_schema m, pragma_table_info(m.name) c WHERE c.\"notnull\" = 0";
  return new Set((await rowsIn(database.url, query)).map(({ name }) => String(name)));
}

const ignore = () => undefined;

describeOnOne("the copy of all tables to the other database and back", (kind) => {
  const other = kind === "sqlite" ? "postgresql" : "sqlite";

  test.skipIf(postgresTemplate === undefined)(
    "has every row with equal values, also when it stops after any batch and continues",
    async () => {
      await using first = await openTestStore(kind);
      await using second = await openTestStore(other);
      await using third = await openTestStore(kind);
      await fill(first.store, first.url);
      const dice = seededRandom(`move ${kind}`);
      const stops = new Set(Array.from({ length: sample(40, 6) }, () => dice.below(movedTables.length)));
      let batches = 0;
      for (let isComplete = false; !isComplete; ) {
        const stored = await second.store.settings.get(progressSetting);
        const begun = stored === null ? firstProgress("m") : parseProgress(stored);
        const stop = () => {
          batches += 1;
          if (stops.has(batches)) throw new Error("stopped");
        };
        isComplete = await copyTables(first.store, second.store, begun, stop).then(
          () => true,
          () => false,
        );
      }
      expect(batches).toBe(movedTables.length);
      await copyTables(second.store, third.store, firstProgress("m"), ignore);
      const original = await contentOf(first.url);
      expect(await contentOf(second.url)).toEqual(original);
      expect(await contentOf(third.url)).toEqual(original);
      const sums = await compareTables(first.store, third.store, ignore);
      expect(await compareTables(first.store, second.store, ignore)).toEqual(sums);
      expect(Object.keys(sums)).toEqual(movedTables);

      await runOn(first.url, "UPDATE task SET title = 'later' WHERE id = 'task-3'");
      await expect(compareTables(first.store, second.store, ignore)).rejects.toThrow(
        `the table task differs: ${rowsEach} rows in the source, ${rowsEach} in the target`,
      );
    },
  );

  test("leaves out only tables that the target makes itself, and no table has a sequence (spec/decisions.md 120)", async () => {
    await using database = await openTestStore(kind);
    const query = {
      sqlite: "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
      postgresql: "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'",
    };
    const names = (await rowsIn(database.url, query[kind])).map(({ name }) => String(name));
    const left = names
      .filter((name) => !movedTables.includes(name) && !name.startsWith("task_words"))
      .toSorted();
    expect(left).toEqual(["_prisma_migrations", "job", "rate_counter", "running_task", "task_text"]);
    const sequences = {
      sqlite: "SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_sequence'",
      postgresql: "SELECT 1 FROM pg_sequences",
    };
    expect(
      await rowsIn(
        database.url,
        `${sequences[kind]}${kind === "sqlite" ? "" : " WHERE schemaname = 'public'"}`,
      ),
    ).toEqual([]);
  });

  test("reads pages of at most the given bytes, in the order of keys, and a larger row by itself", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    const sizes = [10, 10, 500, 10, 10, 10];
    const rows = sizes.map((size, nth) => ({ key: `k${nth}`, value: "ü".repeat(size / 2) }));
    await store.change((tx) => tx.transfer.insert("setting", rows));
    const pages: number[] = [];
    const read: unknown[] = [];
    for (
      let page = await store.transfer.page("setting", null, 40);
      ;
      page = await store.transfer.page("setting", page.last, 40)
    ) {
      pages.push(page.rows.length);
      read.push(...page.rows);
      if (page.last === null) break;
    }
    expect(pages).toEqual([2, 1, 3]);
    expect(read).toEqual(rows);
  });

  test("reads every waiting job once, for the queue of the target", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    const jobs = ["a", "b", "c"].flatMap((key) =>
      (["deliver", "publish"] as const).map((of) => ({ kind: of, key })),
    );
    const runAt = systemClock.now() + 3_600_000;
    await store.change(async (tx) => {
      for (const job of jobs) await tx.jobs.put({ ...job, runAt });
    });
    const [first, second] = [
      await store.transfer.jobs(null, 4),
      await store.transfer.jobs({ kind: "publish", key: "a" }, 4),
    ];
    const read = [...first, ...second];
    expect(read.map(({ kind, key }) => `${kind} ${key}`)).toEqual(
      jobs.map((job) => `${job.kind} ${job.key}`).toSorted(),
    );
    for (const job of read) expect(Math.abs(job.runAt - runAt)).toBeLessThan(5_000);
  });
});
