import { afterAll, beforeAll, expect, test } from "vitest";
import type { Scope } from "../../../src/core/accounts/caller.ts";
import { wordsOf } from "../../../src/core/tasks/search-tokens.ts";
import type { Task, TaskChanges } from "../../../src/core/tasks/task.ts";
import type { TaskOrder, TaskPosition } from "../../../src/core/tasks/task-page.ts";
import type { TaskFilter } from "../../../src/core/tasks/task-rows.ts";
import { seededRandom } from "../../faults/harness/seeded-random.ts";
import { describeOnEach, openTestStore, type TestStore } from "../../support/database.ts";
import { seed } from "../../support/depth.ts";
import { ann, bo, sampleTask } from "../samples.ts";

/** More than the rows that one page examines. */
const count = 6_000;
const app: Scope = { ...ann, clientId: "app" };

/** Tasks with members that a few, many or almost all of them share. */
function createTasks(): readonly Task[] {
  const random = seededRandom(`tasks ${seed}`);
  const oneOf = <T>(values: readonly T[]): T => values[random.below(values.length)] as T;
  return Array.from({ length: count }, (_, n) => {
    const isRare = n % 1_000 === 17;
    return sampleTask({
      id: `t${String(n).padStart(5, "0")}`,
      createdAt: 10_000 + Math.floor(n / 3),
      updatedAt: 20_000 + random.below(2_000),
      status: isRare ? "waiting" : oneOf(["stopped", "stopped", "stopped", "error"]),
      type: oneOf(["standard", "project"]),
      projectId: oneOf([null, "p", "q"]),
      clientId: isRare || n % 3 === 0 ? "app" : null,
      metadata: {
        colour: oneOf(["red", "blue"]),
        ...(n % 100 === 3 ? { ticket: String(n % 500) } : {}),
        ...(n === 5_990 ? { last: "yes" } : {}),
      },
    });
  });
}

/** What the filter means, for a caller. */
function meets(task: Task, scope: Scope, filter: TaskFilter): boolean {
  const {
    type,
    projectId,
    status,
    createdAfter = 0,
    createdBefore = Infinity,
    updatedAfter = 0,
    updatedBefore = Infinity,
  } = filter;
  return (
    (scope.clientId === undefined || task.clientId === scope.clientId) &&
    (type === undefined || task.type === type) &&
    (projectId === undefined || task.projectId === projectId) &&
    (status === undefined || task.status === status) &&
    task.createdAt > createdAfter &&
    task.createdAt < createdBefore &&
    task.updatedAt > updatedAfter &&
    task.updatedAt < updatedBefore &&
    Object.entries(filter.metadata ?? {}).every(([key, value]) => task.metadata[key] === value)
  );
}

const filters: readonly TaskFilter[] = [
  {},
  { status: "waiting" },
  { status: "stopped" },
  { projectId: "p" },
  { projectId: "p", status: "waiting" },
  { projectId: "q", status: "error" },
  { type: "standard", status: "waiting" },
  { metadata: { colour: "red" } },
  { metadata: { colour: "red", ticket: "103" } },
  { metadata: { ticket: "103", last: "yes" } },
  { metadata: { last: "yes" } },
  { metadata: { last: "no" } },
  { metadata: { colour: "blue" }, status: "waiting" },
  { createdAfter: 10_500, createdBefore: 10_900 },
  { updatedAfter: 21_990 },
  { updatedBefore: 20_003, createdAfter: 11_000, metadata: { colour: "red" } },
];

describeOnEach("a list of tasks", (kind) => {
  let database: TestStore;
  const tasks = createTasks();
  beforeAll(async () => {
    database = await openTestStore(kind);
    await database.store.change(async (tx) => {
      for (const task of tasks) await tx.tasks.insert(task, []);
      await tx.tasks.insert(
        sampleTask({
          accountId: bo.accountId,
          spaceId: bo.spaceId,
          metadata: { last: "yes" },
          status: "waiting",
        }),
        [],
      );
    });
  });
  afterAll(() => database[Symbol.asyncDispose]());

  /** The ids of all pages in order. */
  async function allIds(
    scope: Scope,
    filter: TaskFilter,
    orderBy: TaskOrder,
    order: "asc" | "desc",
  ): Promise<string[]> {
    const found: string[] = [];
    for (let after: TaskPosition | undefined; ; ) {
      const page = await database.store.tasks.list(scope, filter, {
        orderBy,
        order,
        limit: 100,
        ...(after ? { after } : {}),
      });
      expect(page.tasks.length).toBeLessThanOrEqual(100);
      found.push(...page.tasks.map(({ id }) => id));
      if (!page.next) return found;
      after = page.next;
    }
  }

  test.each(
    filters.map((filter) => [JSON.stringify(filter), filter] as const),
  )("%s has each task once, in any order", async (_, filter) => {
    for (const scope of [ann, app])
      for (const orderBy of ["createdAt", "updatedAt"] as const) {
        const expected = tasks
          .filter((task) => meets(task, scope, filter))
          .toSorted((a, b) => a[orderBy] - b[orderBy] || (a.id < b.id ? -1 : 1))
          .map(({ id }) => id);
        if (scope === ann) expect(await allIds(scope, filter, orderBy, "asc")).toEqual(expected);
        else expect(await allIds(scope, filter, orderBy, "desc")).toEqual(expected.toReversed());
      }
  });

  test("counts the waiting tasks behind the newest 5,000, and only the newest of those that have ended", async () => {
    const { byStatus, isComplete } = await database.store.tasks.countByStatus(ann, {});
    expect([byStatus.waiting, byStatus.stopped + byStatus.error < 5_000, isComplete]).toEqual([
      6,
      true,
      false,
    ]);
  });

  test("has the waiting tasks by the length of their wait, and a wait ends only with the status", async () => {
    const carl = { accountId: "carl", spaceId: ann.spaceId };
    const advance = (id: string, now: number, set: TaskChanges) =>
      database.store.change((tx) => tx.tasks.advance(id, { now, set }));
    const ids = ["w1", "w2", "w3", "w4", "w5"];
    await database.store.change(async (tx) => {
      for (const id of ids) await tx.tasks.insert(sampleTask({ id, ...carl, status: "running" }), []);
    });
    for (const [n, id] of ["w3", "w1", "w5", "w2", "w4"].entries())
      await advance(id, 50_000 + n, { status: "waiting" });
    // Neither another question nor a new title makes a wait shorter; an answer ends it.
    await advance("w3", 60_000, { status: "waiting", title: "still waits" });
    await advance("w1", 60_001, { status: "running" });
    await advance("w1", 60_002, { status: "waiting" });
    await advance("w5", 60_003, { status: "stopped" });
    const waiting = { status: "waiting", type: "standard" } as const;
    expect(await allIds(carl, waiting, "waitingSince", "asc")).toEqual(["w3", "w2", "w4", "w1"]);
    const page = { orderBy: "waitingSince", order: "asc", limit: 2 } as const;
    const first = await database.store.tasks.list(carl, { status: "waiting" }, page);
    const second = await database.store.tasks.list(
      carl,
      { status: "waiting" },
      { ...page, ...(first.next ? { after: first.next } : {}) },
    );
    expect([first, second].map(({ tasks: found }) => found.map(({ id }) => id))).toEqual([
      ["w3", "w2"],
      ["w4", "w1"],
    ]);
    expect([first.next, second.next]).toEqual([{ at: 50_003, id: "w2" }, undefined]);
  });

  test("is short, with a place to continue, when the conditions need more rows than a page examines", async () => {
    for (const found of [{ metadata: { colour: "red" } }, { words: wordsOf(sampleTask().title) }]) {
      const filter: TaskFilter = { type: "standard", updatedAfter: 21_998, ...found };
      const page = await database.store.tasks.list(ann, filter, {
        orderBy: "createdAt",
        order: "asc",
        limit: 100,
      });
      expect(page.tasks.length).toBeLessThan(100);
      expect(page.next?.id).toBe("t04999");
      const rest = await database.store.tasks.list(ann, filter, {
        orderBy: "createdAt",
        order: "asc",
        limit: 100,
        ...(page.next ? { after: page.next } : {}),
      });
      expect(rest.next).toBeUndefined();
      const expected = tasks.filter((task) => meets(task, ann, filter)).map(({ id }) => id);
      expect([...page.tasks, ...rest.tasks].map(({ id }) => id)).toEqual(expected);
    }
  });

  test("finds metadata as it is after a change, and not after the task's deletion", async () => {
    const ids = (metadata: Record<string, string>) => allIds(ann, { metadata }, "createdAt", "asc");
    const id = "t00042";
    const set = (metadata: Record<string, string>) =>
      database.store.change((tx) => tx.tasks.advance(id, { now: 30_000, set: { metadata } }));
    await set({ shade: "green", colour: "white" });
    expect(await ids({ shade: "green" })).toEqual([id]);
    expect(await ids({ colour: "white", shade: "green" })).toEqual([id]);
    await set({ shade: "dark" });
    expect(await ids({ shade: "green" })).toEqual([]);
    expect(await ids({ shade: "dark" })).toEqual([id]);
    await database.store.change((tx) => tx.tasks.tombstone(id, 40_000, false));
    expect(await ids({ shade: "dark" })).toEqual([]);
    expect((await database.store.tasks.byId(id))?.metadata).toBeUndefined();
  });
});
