import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { type Optional, type Rows, schema } from "../../src/gen/prisma/tables.ts";
import { connectSqlite, driverOf, sqliteStatements } from "../../src/store/sqlite-adapter.ts";
import { sql } from "../../src/store/statements.ts";
import {
  boolean,
  computedShape,
  type integer,
  integerOrNull,
  json,
  type NewRow,
  type RowOf,
  type Shape,
  tables,
  text,
} from "../../src/store/table.ts";
import { describeOnEach, openTestStore, rowsIn } from "../support/database.ts";
import { sampleProject } from "./samples.ts";

/** A connection that answers every query with one row. */
const answering = (row: Readonly<Record<string, unknown>>) => ({ query: async () => [{ ...row }] });

describeOnEach("tables of the models", (kind) => {
  test("name columns that the migrations have created", async () => {
    await using database = await openTestStore(kind);
    for (const [key, { name }] of Object.entries(schema)) {
      const shape: Shape<unknown> = tables[key as keyof Rows];
      const rows = await rowsIn(database.url, `SELECT ${shape.of(`"${name}"`).sql} FROM "${name}"`);
      // A migration inserts the client of the command line.
      expect(rows, name).toHaveLength(name === "oauth_app" ? 1 : 0);
    }
  });
});

test("a row is written and read back by its members, including JSON, booleans and bytes", async () => {
  await using database = await openTestStore("sqlite");
  const adapter = await connectSqlite(database.url.replace("file:", ""));
  const session = sqliteStatements(driverOf(adapter));
  const row: Rows["webhook"] = {
    ...{
      id: "w",
      accountId: "a",
      spaceId: "s",
      clientId: null,
      url: "https://example.com",
      status: "active",
      inactiveReason: null,
    },
    ...{
      eventTypes: ["task_created"],
      doubleHash: true,
      secret: Uint8Array.of(0, 255),
      oldSecret: null,
      oldSecretUntil: null,
    },
    ...{
      createdAt: 2 ** 41,
      failingSince: null,
      failures: 3,
      projectId: null,
      metadata: { a: "b" },
      name: "n",
      deletedAt: null,
    },
  };
  await session.execute(tables.webhook.insert(row));
  const all = sql`SELECT ${tables.webhook.of("w")} FROM webhook w`;
  expect(await tables.webhook.rows(session)(all)).toEqual([row]);
  await session.execute(
    sql`UPDATE webhook SET ${tables.webhook.set({ eventTypes: [], doubleHash: false })[0]}`,
  );
  expect(await tables.webhook.row(session)(all)).toEqual({ ...row, eventTypes: [] });
  await session.execute(sql`DELETE FROM webhook`);
  expect(await tables.webhook.row(session)(all)).toBeNull();
  await adapter.dispose();
});

test("an insert has the columns of the first row's members, and no others", () => {
  const { failures, ...withDefault } = { id: "w", failures: undefined, unknown: 1 };
  const insert = tables.node.insertAll([
    { ...withDefault, id: "a", beat: 0, startedAt: 1 },
    { id: "b", beat: 1, startedAt: 2, address: "ignored, since the first row has none" },
  ]);
  expect(insert.sql).toBe("INSERT INTO node (id, beat, started_at) VALUES (?,?,?),(?,?,?)");
  expect(insert.values).toEqual(["a", 0, 1, "b", 1, 2]);
});

test("assignments leave out members that are undefined or have no column, and write null for null", () => {
  const set = tables.task.set({
    title: "T",
    memo: null,
    nodeId: null,
    hidden: undefined,
    ...{ raiseFence: true },
  });
  expect(set.map(({ sql: text, values }) => [text, ...values])).toEqual([
    ["title = ?", "T"],
    ["memo = ?", null],
    ["node_id = ?", null],
  ]);
});

test("values are read as their type from both drivers, and null stays null", async () => {
  const shape = computedShape({
    yes: boolean(sql`1`),
    list: json<string[]>(sql`'[]'`),
    none: integerOrNull(sql`NULL`),
  });
  expect(shape.of("t").sql).toBe(`1 AS "yes",'[]' AS "list",NULL AS "none"`);
  const read = (row: Readonly<Record<string, unknown>>) => shape.row(answering(row))(sql``);
  expect(await read({ yes: 1, list: '["a"]', none: null })).toEqual({ yes: true, list: ["a"], none: null });
  expect(await read({ yes: true, list: "[]", none: 2 })).toEqual({ yes: true, list: [], none: 2 });
  expect(await read({ yes: 0, list: null, none: null })).toEqual({ yes: false, list: null, none: null });
});

test("a derived member replaces those that it is made from", async () => {
  const shape = tables.node
    .pick("id", "beat")
    .with({ more: text(sql`'x'`) })
    .derive("beat", ["beat", "more"], (beat, more) => more + beat);
  expect(await shape.row(answering({ id: "n", beat: 2, more: "x" }))(sql``)).toEqual({ id: "n", beat: "x2" });
});

test("only picked columns are listed and read: a column that no line names reaches no object", async () => {
  const row = { id: "n", beat: 1, started_at: 2, address: null, added_later: "x" };
  const [one, two] = [tables.node.pick("id"), tables.node.pick("beat", "startedAt")];
  expect([one.of("n").sql, two.of("n").sql]).toEqual(["n.id", "n.beat,n.started_at"]);
  expect(await one.rows(answering(row))(sql``)).toEqual([{ id: "n" }]);
  expect(await two.rows(answering(row))(sql``)).toEqual([{ beat: 1, startedAt: 2 }]);
  // @ts-expect-error: a shape names its columns; there is no form that names the others.
  expect(tables.node.omit).toBeUndefined();
});

test("a column that a migration adds to every table is in no shape that the store picks", () => {
  const { whole, picked } = JSON.parse(
    execFileSync(process.execPath, ["test/store/processes/picked-columns.ts"], { encoding: "utf8" }),
  );
  expect(whole).toContain("t.invented");
  expect(picked.length).toBeGreaterThan(50);
  expect(picked.filter((columns: string) => columns.includes("invented"))).toEqual([]);
});

test("a missing column, a misnamed member and a wrong type do not compile", () => {
  const { name: _, ...nameless } = sampleProject();
  // @ts-expect-error: `name` is required.
  const lacking: NewRow<Rows["project"], Extract<Optional["project"], keyof Rows["project"]>> = nameless;
  // @ts-expect-error: this column does not exist.
  tables.project.pick("title");
  // @ts-expect-error: a title is a text.
  tables.task.set({ title: 1 });
  // @ts-expect-error: the row has no instruction.
  const read: RowOf<ReturnType<typeof tables.project.pick<"id">>>["instruction"] = "";
  // @ts-expect-error: an integer is not a text.
  const counted: RowOf<ReturnType<typeof computedShape<{ count: ReturnType<typeof integer> }>>>["count"] =
    "1";
  expect([lacking, read, counted]).toHaveLength(3);
});
