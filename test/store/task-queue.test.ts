import fc from "fast-check";
import { expect, test } from "vitest";
import type { Task } from "../../src/core/tasks/task.ts";
import { describeOnEach, openTestStore } from "../support/database.ts";
import { putTask, sampleTask } from "./samples.ts";

/** Who is served next, one after the other, as the rule says it. */
function fairly(tasks: readonly Task[]): string[] {
  const waiting = tasks.filter(({ status, nodeId }) => status === "running" && nodeId === null);
  const served = (accountId: string) =>
    tasks.filter((task) => task.accountId === accountId && task.status === "running" && task.nodeId !== null).length;
  const byAge = waiting.toSorted((a, b) => a.queuedAt - b.queuedAt || (a.id < b.id ? -1 : 1));
  const place = (task: Task) => served(task.accountId) + byAge.filter(({ accountId }) => accountId === task.accountId).indexOf(task);
  return byAge.toSorted((a, b) => place(a) - place(b)).map(({ id }) => id);
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
    });
    await fc.assert(
      fc.asyncProperty(fc.array(some, { maxLength: 15 }), async (queue) => {
        const tasks = queue.map(sampleTask);
        await store.change(async (tx) => {
          for (const task of tasks) await tx.tasks.insert(task, []);
        });
        const found = await store.tasks.unowned(99);
        const counted = await store.tasks.countUnowned(99);
        await store.change(async (tx) => {
          for (const { id } of tasks) await tx.tasks.bury(id, 1, true);
        });
        expect(found.map(({ id }) => id)).toEqual(fairly(tasks));
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
