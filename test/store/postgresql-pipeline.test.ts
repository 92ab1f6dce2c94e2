import { PrismaPg } from "@prisma/adapter-pg";
import { Pool } from "pg";
import { describe, expect, test, vi } from "vitest";
import { unobserved } from "../../src/core/observe.ts";
import { postgresStatements } from "../../src/store/postgresql-statements.ts";
import { postgresTransactions } from "../../src/store/postgresql-transactions.ts";
import { sql } from "../../src/store/statements.ts";
import { transactionContext } from "../../src/store/transactions.ts";
import { databaseUrl, postgresTemplate, rowsIn } from "../support/database.ts";

// spec/decisions.md 150.

/**
 * Transactions on one connection with an empty table `t`, and the statements that they sent: "wait" is before
 * the first one of a round trip.
 */
async function open() {
  const database = await databaseUrl("postgresql", { empty: true });
  const pool = new Pool({ connectionString: database.url, max: 1, pipeline: true });
  await pool.query("CREATE TABLE t (id INTEGER PRIMARY KEY)");
  const sent: string[] = [];
  let waiting = 0;
  const onStatement = (text: string) => {
    sent.push(`${waiting === 0 ? "wait " : ""}${text}`);
    waiting += 1;
    return () => {
      waiting -= 1;
    };
  };
  const names = new Map<string, string>();
  const nameOf = (text: string) => names.set(text, names.get(text) ?? `s${names.size}`).get(text) ?? "";
  const present = transactionContext();
  const parts = {
    ...{ pool, present, onStatement, onError: vi.fn(), observe: unobserved },
    adapter: await new PrismaPg(pool, { disposeExternalPool: true }).connect(),
    statementsOn: (connection: Parameters<typeof postgresStatements>[0]) =>
      postgresStatements(connection, nameOf, onStatement),
  };
  return {
    ...{ sent, onError: parts.onError },
    transact: postgresTransactions({ ...parts, settings: null }),
    /** Its BEGIN fails: what follows it is not valid. */
    transactBadly: postgresTransactions({ ...parts, settings: "SET LOCAL no_such_setting_at_all = 1" }),
    queries: present.adapter(parts.adapter),
    ids: async () => (await rowsIn(database.url, "SELECT id FROM t ORDER BY id")).map(({ id }) => id),
    async [Symbol.asyncDispose]() {
      await parts.adapter.dispose();
      await database[Symbol.asyncDispose]();
    },
  };
}

const insert = (id: number) => sql`INSERT INTO t VALUES (${id})`;
const count = sql`SELECT COUNT(*) AS count FROM t`;

describe.skipIf(postgresTemplate === undefined)("a transaction on PostgreSQL", () => {
  test("sends BEGIN with its first reads, and COMMIT with its last writes", async () => {
    await using rig = await open();
    const [first, second] = await rig.transact(async ({ query, write }) => {
      const both = await Promise.all([query(count), query(sql`SELECT 2 AS two`)]);
      await write(insert(1));
      await write(insert(2));
      return both;
    });
    expect([first, second]).toEqual([[{ count: 0 }], [{ two: 2 }]]);
    expect(rig.sent.map((text) => text.split(" ", 2).join(" "))).toEqual([
      ...["wait BEGIN", "SELECT COUNT(*)", "SELECT 2"],
      ...["wait INSERT", "INSERT INTO", "COMMIT"],
    ]);
    expect(await rig.ids()).toEqual([1, 2]);
  });

  test("waits for an answer after sixteen writes, so that a change with many rows is not collected in memory", async () => {
    await using rig = await open();
    await rig.transact(async ({ write }) => {
      for (let id = 0; id < 40; id += 1) await write(insert(id));
    });
    expect(rig.sent.flatMap((text, index) => (text.startsWith("wait ") ? [index] : []))).toEqual([
      0, 1, 17, 33,
    ]);
    expect(await rig.ids()).toHaveLength(40);
  });

  test("a write waits for the answer to BEGIN: behind a failed one it would be committed alone", async () => {
    await using rig = await open();
    for (const work of [
      rig.transactBadly(async ({ write }) => write(insert(1))),
      rig.transactBadly(async ({ execute }) => execute(insert(2))),
      rig.transactBadly(async ({ query }) => query(sql`${insert(3)} RETURNING id`)),
      rig.transactBadly(async () =>
        rig.queries.executeRaw({ sql: "INSERT INTO t VALUES (4)", args: [], argTypes: [] }),
      ),
    ])
      await expect(work).rejects.toMatchObject({ name: "Error", code: expect.stringMatching(/^42/) });
    expect(rig.sent.filter((text) => text.includes("INSERT"))).toEqual([]);
    expect(await rig.ids()).toEqual([]);
  });

  test("fails with the error of a write that was not waited for, also when a later statement is refused because of it", async () => {
    await using rig = await open();
    await rig.transact(async ({ execute }) => execute(insert(1)));
    const failure = { code: "23505", answered: true };
    const atCommit = rig.transact(async ({ write }) => {
      await write(insert(2));
      await write(insert(1));
      await write(insert(3));
    });
    await expect(atCommit).rejects.toMatchObject(failure);
    const later = vi.fn();
    const before = rig.transact(async ({ write, query }) => {
      await write(insert(1));
      await query(count).catch(later);
      await write(insert(4));
    });
    await expect(before).rejects.toMatchObject(failure);
    expect(later).toHaveBeenCalledWith(expect.objectContaining({ code: "25P02" }));
    expect(await rig.ids()).toEqual([1]);
    // A statement whose first preparation was refused is prepared again.
    await rig.transact(async ({ query, write }) => {
      await query(sql`SELECT id FROM t`);
      await write(insert(5));
    });
    expect(await rig.ids()).toEqual([1, 5]);
  });

  test("refuses a write that its work has begun and not waited for, instead of sending it behind COMMIT", async () => {
    await using rig = await open();
    const refused = vi.fn();
    await rig.transact(async ({ write }) => void write(insert(1)).catch(refused));
    await vi.waitFor(() =>
      expect(refused).toHaveBeenCalledWith(expect.objectContaining({ name: "ProgrammingError" })),
    );
    expect(await rig.ids()).toEqual([]);
  });

  test("is not committed when its work continues after a failed statement", async () => {
    await using rig = await open();
    const work = rig.transact(async ({ execute, query }) => {
      await execute(insert(1));
      await query(sql`SELECT 1 / (SELECT COUNT(*) FROM t WHERE id = 9)`).catch(() => undefined);
    });
    await expect(work).rejects.toMatchObject({ name: "ProgrammingError" });
    expect(await rig.ids()).toEqual([]);
  });

  test("a rollback that cannot end in time closes the connection, with all that was sent", async () => {
    await using rig = await open();
    const work = rig.transact(async ({ execute, query, write }) => {
      await execute(insert(1));
      void query(sql`SELECT pg_sleep(600)`).catch(() => undefined);
      await write(insert(2));
      throw new Error("too late");
    });
    await expect(work).rejects.toThrow("too late");
    expect(await rig.ids()).toEqual([]);
    expect(await rig.transact(({ execute }) => execute(insert(3)))).toBe(1);
  });
});
