import { setImmediate as turn } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { beforeAll, describe, expect, test } from "vitest";
import { pathOf } from "../../src/store/backend.ts";
import { driverFailure } from "../../src/store/driver-failure.ts";
import { scanThread } from "../../src/store/scan-thread.ts";
import { connectSqlite, driverOf, sqliteStatements } from "../../src/store/sqlite-adapter.ts";
import { type Sql, sql } from "../../src/store/statements.ts";
import { openTestStore, storeOfSuite } from "../support/database.ts";
import { sample } from "../support/depth.ts";
import { openService } from "../support/service.ts";

/**
 * Rows with plain arrays instead of bytes: the driver returns a Buffer, the thread another kind of the same
 * bytes.
 */
const plain = (rows: readonly unknown[]) =>
  (rows as readonly Readonly<Record<string, unknown>>[]).map((row) =>
    Object.fromEntries(
      Object.entries(row).map(([name, value]) => [
        name,
        value instanceof Uint8Array ? { bytes: [...value] } : value,
      ]),
    ),
  );

/** A statement that takes some tenths of a second, of few rows. */
const long = sql`WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 800000) SELECT COUNT(*) AS count FROM c`;
const short = sql`SELECT 1 AS one`;

describe("the thread that scans (sqlite)", () => {
  const suite = storeOfSuite("sqlite");
  let path: string;
  beforeAll(() => {
    path = pathOf(suite.url);
  });

  /** A thread, and the workers that it has started. */
  function openThread() {
    const workers: Worker[] = [];
    const thread = scanThread(path, undefined, (workerData) => {
      const worker = new Worker(new URL("../../src/store/scan-worker.ts", import.meta.url), {
        workerData,
        execArgv: [],
        env: {},
      });
      workers.push(worker);
      return worker;
    });
    return { ...thread, workers, [Symbol.asyncDispose]: () => thread.close() };
  }

  const failureOf = (query: Promise<unknown>) =>
    query.then(
      () => null,
      (thrown: unknown) => driverFailure(thrown),
    );

  test("is started by the first scan, and serves all later ones", async () => {
    await using thread = openThread();
    expect(thread.workers).toHaveLength(0);
    await thread.query(short);
    await thread.query(short);
    expect(thread.workers).toHaveLength(1);
  });

  test("leaves the event loop free during a long scan", async () => {
    await using thread = openThread();
    await thread.query(short);
    let isOver = false;
    const scan = thread.query(long).finally(() => {
      isOver = true;
    });
    let turns = 0;
    for (; !isOver; turns += 1) await turn();
    expect(await scan).toEqual([{ count: 800_000 }]);
    expect(turns).toBeGreaterThan(100);
  });

  test("answers as the connection of short reads does: texts, integers, bytes, nulls and errors", async () => {
    await using thread = openThread();
    const connection = await connectSqlite(path);
    const here = sqliteStatements(driverOf(connection));
    const bytes = new Uint8Array([0, 255, 7]);
    const statements: readonly Sql[] = [
      sql`SELECT ${"straße 😀"} AS a, ${2 ** 53 - 1} AS b, ${null} AS c, ${true} AS d, ${1.5} AS e, ${12n} AS f`,
      sql`SELECT fold_case(${"ÄÖ"}) AS a, ${bytes} AS b, x'' AS c`,
      sql`SELECT 1 AS a WHERE 1 = 0`,
      sql`SELECT value FROM json_each(${JSON.stringify(Array.from({ length: 5_000 }, (_, n) => "x".repeat(n % 100)))})`,
    ];
    for (const statement of statements)
      expect(plain(await thread.query(statement))).toEqual(plain(await here.query(statement)));
    const codeOf = (query: Promise<unknown>) =>
      query.then(
        () => null,
        (thrown: { readonly code: unknown }) => thrown.code,
      );
    for (const wrong of [
      sql`SELECT * FROM nothing`,
      sql`DELETE FROM setting RETURNING key`,
      sql`SELECT ${1} +`,
    ]) {
      expect(await codeOf(thread.query(wrong))).toMatch(/^SQLITE_/);
      expect(await failureOf(thread.query(wrong))).toMatchObject({
        reason: "internal",
        message: "internal error",
      });
    }
    await connection.dispose();
  });

  test("that ends makes its waiting scans unavailable, and the next scan starts another one", async () => {
    await using thread = openThread();
    const waiting = [long, short, short].map((statement) => failureOf(thread.query(statement)));
    await thread.workers[0]?.terminate();
    for (const failure of await Promise.all(waiting))
      expect(failure).toMatchObject({ reason: "unavailable", retryAfter: 1 });
    expect(await thread.query(short)).toEqual([{ one: 1 }]);
    expect(thread.workers).toHaveLength(2);
  });

  test("that cannot start makes each scan unavailable", async () => {
    const thread = scanThread("/nowhere/at/all.db");
    for (let n = 0; n < 2; n += 1)
      expect(await failureOf(thread.query(short))).toMatchObject({ reason: "unavailable" });
    await thread.close();
  });

  test("refuses a value that cannot be sent, and nothing waits for it", async () => {
    await using thread = openThread();
    const wrong: Sql = Object.assign(sql`SELECT 1`, { values: [() => undefined] });
    await expect(thread.query(wrong)).rejects.toThrow();
    expect(thread.use()).toMatchObject({ used: 0, waiting: 0 });
  });

  test("refuses a scan at once when 1,000 others wait, and answers those", async () => {
    await using thread = openThread();
    const waiting = Array.from({ length: 1_000 }, () => thread.query(short));
    expect(thread.use()).toEqual({ used: 1, idle: 0, max: 1, waiting: 999 });
    expect(await failureOf(thread.query(short))).toMatchObject({ reason: "unavailable" });
    expect(await Promise.all(waiting)).toHaveLength(1_000);
    expect(thread.use()).toMatchObject({ used: 0, waiting: 0 });
  });

  test("that is closed answers waiting scans before it ends, and refuses further ones", async () => {
    const thread = openThread();
    const waiting = [long, short].map((statement) => thread.query(statement));
    const closed = thread.close();
    expect(await failureOf(thread.query(short))).toMatchObject({ reason: "unavailable" });
    expect(await Promise.all(waiting)).toHaveLength(2);
    await closed;
    expect(thread.workers[0]?.threadId).toBe(-1);
  });
});

test("a scan begun after a change was acknowledged sees it, for 20 callers at once over the wire", async () => {
  await using service = await openService({ idle: true });
  const missing: string[] = [];
  const caller = async (n: number) => {
    const { v2 } = await service.person();
    for (let i = 0; i < sample(50, 8); i += 1) {
      const metadata = { pair: `${n}-${i}` };
      const { body: made } = await v2("task.create", { message: { content: "hi" }, metadata });
      const { body: list } = await v2("task.list", { metadata });
      if (list["data"].length !== 1 || list["data"][0].id !== made["task_id"]) missing.push(metadata.pair);
    }
  };
  await Promise.all(Array.from({ length: 20 }, (_, n) => caller(n)));
  expect(missing).toEqual([]);
});

test("a store whose scans wait closes after they are answered", async () => {
  const database = await openTestStore("sqlite");
  const counting = database.store.archives.count({
    ...{
      spaceId: "north",
      accountId: "ann",
      includeDeleted: true,
      startTime: null,
      endTime: null,
      ids: null,
    },
  });
  await database[Symbol.asyncDispose]();
  expect(await counting).toBe(0);
});
