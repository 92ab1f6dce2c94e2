import fc from "fast-check";
import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Task } from "../../../src/core/tasks/task.ts";
import { describeOnEach, openTestStore, type TestStore } from "../../support/database.ts";
import { directly } from "../../support/direct.ts";
import { putQueue } from "../queues.ts";
import { putTask, sampleTask } from "../samples.ts";

/** Who is served next, one after the other, as the rule says it. */
function fairly(tasks: readonly Task[]): string[] {
  const waiting = tasks.filter(({ status, nodeId }) => status === "running" && nodeId === null);
  const served = (accountId: string) =>
    tasks.filter((task) => task.accountId === accountId && task.status === "running" && task.nodeId !== null).length;
  const byAge = waiting.toSorted((a, b) => a.queuedAt - b.queuedAt || (a.id < b.id ? -1 : 1));
  const place = (task: Task) => served(task.accountId) + byAge.filter(({ accountId }) => accountId === task.accountId).indexOf(task);
  const lastTurn = ({ accountId }: Task) =>
    Math.max(...tasks.filter((task) => task.accountId === accountId).map(({ servedAt }) => servedAt));
  return byAge.toSorted((a, b) => place(a) - place(b) || lastTurn(a) - lastTurn(b)).map(({ id }) => id);
}

describeOnEach("tasks.unowned", (kind) => {
  test("favours the least-served account, then who waits longest", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    const queue = (id: string, accountId: string, queuedAt: number, nodeId: string | null = null) =>
      putTask(store, { id, accountId, queuedAt, nodeId });
    for (let n = 0; n < 5; n += 1) await queue(`greedy-${n}`, "greedy", n);
    await queue("modest-0", "modest", 100);
    await queue("busy-has", "busy", 0, "n");
    await queue("busy-0", "busy", 50);
    const ids = (await store.tasks.unowned(99)).map(({ id }) => id);
    expect(ids).toEqual(["greedy-0", "modest-0", "greedy-1", "busy-0", "greedy-2", "greedy-3", "greedy-4"]);
    expect((await store.tasks.unowned(2)).map(({ id }) => id)).toEqual(ids.slice(0, 2));
  });

  test("is fair whatever the queue", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    const some = fc.record({
      accountId: fc.constantFrom("a", "b", "c"),
      status: fc.constantFrom("running" as const, "running" as const, "stopped" as const),
      nodeId: fc.constantFrom(null, null, "n"),
      queuedAt: fc.integer({ min: 0, max: 5 }),
      servedAt: fc.integer({ min: 0, max: 2 }),
    });
    let round = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(some, { maxLength: 15 }), async (queue) => {
        // Accounts of their own: whose turn it was is remembered beyond a task's burial.
        round += 1;
        const tasks = queue.map((members) => sampleTask({ ...members, accountId: `${members.accountId}-${round}` }));
        await store.change(async (tx) => {
          for (const task of tasks) await tx.tasks.insert(task, []);
        });
        const found = await store.tasks.unowned(99);
        const few = await store.tasks.unowned(2);
        const counted = await store.tasks.countUnowned(99);
        await store.change(async (tx) => {
          for (const { id } of tasks) await tx.tasks.bury(id, 1, true);
        });
        expect(found.map(({ id }) => id)).toEqual(fairly(tasks));
        expect(few.map(({ id }) => id)).toEqual(fairly(tasks).slice(0, 2));
        expect(counted).toBe(found.length);
      }),
      { numRuns: 15 },
    );
  });

  test("tells what a claim depends on, and counts no further than asked", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    const { id } = await putTask(store, { fence: 4, claims: 2 });
    await putTask(store);
    expect(await store.tasks.unowned(1)).toEqual([{ id, fence: 4, nodeId: null, claims: 2 }]);
    expect([await store.tasks.countUnowned(1), await store.tasks.countUnowned(9)]).toEqual([1, 2]);
  });

  test("owned gives the running tasks of these nodes only", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    const mine = await putTask(store, { nodeId: "n", fence: 3, claims: 1 });
    const other = await putTask(store, { nodeId: "m" });
    await putTask(store, { nodeId: "n", status: "waiting" });
    await putTask(store, { nodeId: "o" });
    await putTask(store);
    expect(await store.tasks.owned(["n"])).toEqual([{ id: mine.id, fence: 3, nodeId: "n", claims: 1 }]);
    expect((await store.tasks.owned(["n", "m", "x"])).map(({ id }) => id)).toEqual([mine.id, other.id]);
    expect(await store.tasks.owned([])).toEqual([]);
  });
});

describeOnEach("a look at a queue of 10,000 tasks of one account and 50 others", (kind) => {
  let statement = "";
  const hear = (sql: string) => {
    if (sql.includes("RECURSIVE")) statement = sql;
  };
  let database: TestStore;
  beforeAll(async () => {
    database = await openTestStore(kind, { onStatement: hear });
    await putQueue(database, "greedy", 10_000);
    await putQueue(database, "busy", 100, "n");
    for (let i = 0; i < 50; i += 1) await putQueue(database, `modest-${i}`, 2);
  });
  afterAll(() => database[Symbol.asyncDispose]());

  test("finds of each what it would find of a short one", async () => {
    const ids = (await database.store.tasks.unowned(32)).map(({ id }) => id);
    expect(ids).toHaveLength(32);
    expect(ids[0]).toBe("greedy-1");
    expect(ids.slice(1).every((id) => /^modest-\d+-1$/.test(id))).toBe(true);
  });

  test.runIf(kind === "postgresql")("touches few rows of it", async () => {
    await database.store.tasks.unowned(32);
    const values = [...statement.matchAll(/\$\d+/g)].map(() => 32);
    const client = new Client(database.url);
    await client.connect();
    const { rows } = await client.query({ text: `EXPLAIN (ANALYZE, FORMAT JSON) ${statement}`, values });
    await client.end();
    const [{ Plan }] = rows[0]["QUERY PLAN"] as [{ Plan: PlanNode }];
    expect(touched(Plan)).toBeLessThan(2_000);
  });

  test.runIf(kind === "sqlite")("goes to all of its rows by an index in which they come in order", async () => {
    await database.store.tasks.unowned(32);
    const values = [...statement.matchAll(/\?/g)].map(() => "32");
    let next = 0;
    const rows = await directly(database, `EXPLAIN QUERY PLAN ${statement.replaceAll("?", () => values[next++] ?? "")}`);
    const steps = rows.map(({ detail }) => String(detail)).filter((detail) => /^(SCAN|SEARCH) t\b/.test(detail));
    expect(steps.toSorted()).toEqual([
      "SCAN t USING INDEX task_waiting",
      "SEARCH t USING COVERING INDEX task_account_id_served_at_idx (account_id=?)",
      "SEARCH t USING INDEX task_waiting (account_id=?)",
      "SEARCH t USING INDEX task_waiting (account_id=?)",
      "SEARCH t USING INDEX task_waiting (account_id=?)",
      "SEARCH t USING INDEX task_waiting (account_id>?)",
    ]);
  });
});

/** A node of a plan, as far as it is read here. */
interface PlanNode {
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly "Rows Removed by Filter"?: number;
  readonly Plans?: readonly PlanNode[];
}

/** Rows that all nodes of a plan gave or passed over. */
const touched = (node: PlanNode): number =>
  (node["Actual Rows"] + (node["Rows Removed by Filter"] ?? 0)) * node["Actual Loops"] +
  (node.Plans ?? []).reduce((sum, child) => sum + touched(child), 0);
