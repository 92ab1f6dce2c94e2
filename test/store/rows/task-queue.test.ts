import fc from "fast-check";
import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Task } from "../../../src/core/tasks/task.ts";
import { describeOnEach, openTestStore, type TestStore } from "../../support/database.ts";
import { runDirectly } from "../../support/direct.ts";
import { putQueue } from "../queues.ts";
import { putTask, sampleTask } from "../samples.ts";

/** The ids in the order of the fairness rule, as a model. */
function fairOrder(tasks: readonly Task[]): string[] {
  const waiting = tasks.filter(({ status, nodeId }) => status === "running" && nodeId === null);
  const runningOf = (accountId: string) =>
    tasks.filter((task) => task.accountId === accountId && task.status === "running" && task.nodeId !== null)
      .length;
  const byAge = waiting.toSorted((a, b) => a.queuedAt - b.queuedAt || (a.id < b.id ? -1 : 1));
  const position = (task: Task) =>
    runningOf(task.accountId) + byAge.filter(({ accountId }) => accountId === task.accountId).indexOf(task);
  const lastTurn = ({ accountId }: Task) =>
    Math.max(
      ...tasks.filter((task) => task.accountId === accountId).map(({ lastClaimedAt }) => lastClaimedAt),
    );
  return byAge.toSorted((a, b) => position(a) - position(b) || lastTurn(a) - lastTurn(b)).map(({ id }) => id);
}

describeOnEach("tasks.unowned", (kind) => {
  test("prefers the least-served account, then the longest wait", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    const queue = (id: string, accountId: string, queuedAt: number, nodeId: string | null = null) =>
      putTask(store, { id, accountId, queuedAt, nodeId });
    for (let n = 0; n < 5; n += 1) await queue(`greedy-${n}`, "greedy", n);
    await queue("modest-0", "modest", 100);
    await queue("busy-has", "busy", 0, "n");
    await queue("busy-0", "busy", 50);
    const ids = (await store.tasks.listUnowned(99)).map(({ id }) => id);
    expect(ids).toEqual(["greedy-0", "modest-0", "greedy-1", "busy-0", "greedy-2", "greedy-3", "greedy-4"]);
    expect((await store.tasks.listUnowned(2)).map(({ id }) => id)).toEqual(ids.slice(0, 2));
  });

  test("has the tasks of one account in their order, up to the limit, and none when all of them run", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    await putQueue(database, "busy", 3, "n");
    expect(await store.tasks.listUnowned(2)).toEqual([]);
    await putQueue(database, "ann", 3);
    expect((await store.tasks.listUnowned(2)).map(({ id }) => id)).toEqual(["ann-1", "ann-2"]);
    await putTask(store, { id: "of-bob", accountId: "bob", queuedAt: 9 });
    expect((await store.tasks.listUnowned(2)).map(({ id }) => id)).toEqual(["ann-1", "of-bob"]);
  });

  test("is fair for any queue", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    const some = fc.record({
      accountId: fc.constantFrom("a", "b", "c"),
      status: fc.constantFrom("running" as const, "running" as const, "stopped" as const),
      nodeId: fc.constantFrom(null, null, "n"),
      queuedAt: fc.integer({ min: 0, max: 5 }),
      lastClaimedAt: fc.integer({ min: 0, max: 2 }),
    });
    let round = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(some, { maxLength: 15 }), async (queue) => {
        // Separate accounts: the last turn of an account is remembered after its task is deleted.
        round += 1;
        const tasks = queue.map((members) =>
          sampleTask({ ...members, accountId: `${members.accountId}-${round}` }),
        );
        await store.change(async (tx) => {
          for (const task of tasks) await tx.tasks.insert(task, []);
        });
        const found = await store.tasks.listUnowned(99);
        const few = await store.tasks.listUnowned(2);
        const counted = await store.tasks.countUnowned(99);
        await store.change(async (tx) => {
          for (const { id } of tasks) await tx.tasks.tombstone(id, 1, true);
        });
        expect(found.map(({ id }) => id)).toEqual(fairOrder(tasks));
        expect(few.map(({ id }) => id)).toEqual(fairOrder(tasks).slice(0, 2));
        expect(counted).toBe(found.length);
      }),
      { numRuns: 15 },
    );
  });

  test("returns the state that a claim depends on, and counts only up to the given limit", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    const { id, spaceId, agentProfile } = await putTask(store, { fence: 4, claims: 2 });
    await putTask(store);
    const expected = { id, fence: 4, nodeId: null, claims: 2, spaceId, agentProfile, isLimited: false };
    expect(await store.tasks.listUnowned(1)).toEqual([expected]);
    expect([await store.tasks.countUnowned(1), await store.tasks.countUnowned(9)]).toEqual([1, 2]);
  });

  test("`owned` returns only the running tasks of these nodes", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    const mine = await putTask(store, { nodeId: "n", fence: 3, claims: 1 });
    const other = await putTask(store, { nodeId: "m" });
    await putTask(store, { nodeId: "n", status: "waiting" });
    await putTask(store, { nodeId: "o" });
    await putTask(store);
    expect(await store.tasks.listOwned(["n"])).toMatchObject([
      { id: mine.id, fence: 3, nodeId: "n", claims: 1 },
    ]);
    expect((await store.tasks.listOwned(["n", "m", "x"])).map(({ id }) => id)).toEqual([mine.id, other.id]);
    expect(await store.tasks.listOwned([])).toEqual([]);
  });
});

describeOnEach("a read of a queue with 10,000 tasks of one account and 50 others", (kind) => {
  let statement = "";
  const record = (sql: string): undefined => {
    if (sql.includes("RECURSIVE")) statement = sql;
  };
  let database: TestStore;
  beforeAll(async () => {
    database = await openTestStore(kind, { onStatement: record });
    await putQueue(database, "greedy", 10_000);
    await putQueue(database, "busy", 100, "n");
    for (let i = 0; i < 50; i += 1) await putQueue(database, `modest-${i}`, 2);
  });
  afterAll(() => database[Symbol.asyncDispose]());

  test("finds for each account the same tasks as in a short queue", async () => {
    const ids = (await database.store.tasks.listUnowned(32)).map(({ id }) => id);
    expect(ids).toHaveLength(32);
    expect(ids[0]).toBe("greedy-1");
    expect(ids.slice(1).every((id) => /^modest-\d+-1$/.test(id))).toBe(true);
  });

  test.runIf(kind === "postgresql")("reads few rows of it", async () => {
    await database.store.tasks.listUnowned(32);
    const values = [...statement.matchAll(/\$\d+/g)].map(() => 32);
    const client = new Client(database.url);
    await client.connect();
    const { rows } = await client.query({ text: `EXPLAIN (ANALYZE, FORMAT JSON) ${statement}`, values });
    await client.end();
    const [{ Plan }] = rows[0]["QUERY PLAN"] as [{ Plan: PlanNode }];
    expect(touched(Plan)).toBeLessThan(2_000);
  });

  test.runIf(kind === "sqlite")("reads all of its rows by an index that has them in order", async () => {
    await database.store.tasks.listUnowned(32);
    const values = [...statement.matchAll(/\?/g)].map(() => "32");
    let next = 0;
    const rows = await runDirectly(
      database,
      `EXPLAIN QUERY PLAN ${statement.replaceAll("?", () => values[next++] ?? "")}`,
    );
    const steps = rows
      .map(({ detail }) => String(detail))
      .filter((detail) => /^(SCAN|SEARCH) t\b/.test(detail));
    expect(steps.toSorted()).toEqual([
      "SCAN t USING INDEX running_task_queue",
      "SEARCH t USING COVERING INDEX task_account_id_served_at_idx (account_id=?)",
      "SEARCH t USING INDEX running_task_profile (space_id=? AND agent_profile=?)",
      "SEARCH t USING INDEX running_task_queue (account_id=?)",
      "SEARCH t USING INDEX running_task_queue (account_id=?)",
      "SEARCH t USING INDEX running_task_queue (account_id=?)",
      "SEARCH t USING INDEX running_task_queue (account_id>?)",
    ]);
  });
});

/** A node of a query plan, with the members that are read here. */
interface PlanNode {
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly "Rows Removed by Filter"?: number;
  readonly Plans?: readonly PlanNode[];
}

/** Rows that all nodes of a plan returned or skipped. */
const touched = (node: PlanNode): number =>
  (node["Actual Rows"] + (node["Rows Removed by Filter"] ?? 0)) * node["Actual Loops"] +
  (node.Plans ?? []).reduce((sum, child) => sum + touched(child), 0);
