import { expect, test } from "vitest";
import type { TaskRecordFilter } from "../../../src/core/exports/task-record.ts";
import type { Store } from "../../../src/core/store.ts";
import type { Task } from "../../../src/core/tasks/task.ts";
import { describeOnEach, openTestStore } from "../../support/database.ts";
import { ann, annAtHome, bo, newId, putTask, userMessage } from "../samples.ts";

const open: TaskRecordFilter = { startTime: null, endTime: null, includeDeleted: false };

/** A main task of an agent of Ann's without messages. */
async function putMainTask(
  store: Store,
  members: Partial<Task>,
  events = [] as Parameters<typeof putTask>[2],
): Promise<Task> {
  const agentId = newId("agent");
  const task = await putTask(store, { agentId, ...members }, events);
  const agent = {
    id: agentId,
    ...ann,
    taskId: task.id,
    nickname: "Agent",
    about: "",
    isDefault: false,
    createdAt: task.createdAt,
  };
  await store.change((tx) => tx.agents.insert(agent));
  return task;
}

const pageOf = async (store: Store, filter: Partial<TaskRecordFilter> = {}, limit = 100, offset = 0) => {
  const { items, total } = await store.exports.tasks(ann, { ...open, ...filter }, { limit, offset });
  return { ids: items.map(({ id }) => id), total };
};

describeOnEach("records of tasks", (kind) => {
  test("have the members that an export shows, of one person in one space", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    const members = {
      title: "Post",
      projectId: "p",
      scheduleId: "s",
      shareVisibility: "team",
      status: "error",
    } as const;
    const task = await putTask(store, { ...members, createdAt: 1000, updatedAt: 2000, lastMessageAt: 1500 });
    for (const { accountId, spaceId } of [bo, annAtHome]) await putTask(store, { accountId, spaceId });
    expect(await store.exports.tasks(ann, open, { limit: 10, offset: 0 })).toEqual({
      total: 1,
      items: [
        {
          ...{
            id: task.id,
            ...ann,
            ...members,
            createdAt: 1000,
            updatedAt: task.updatedAt,
            lastMessageAt: task.lastMessageAt,
          },
          deletedAt: null,
        },
      ],
    });
  });

  test("of deleted tasks are included when requested, with the time of deletion", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    const [kept, gone] = [await putTask(store, { createdAt: 1 }), await putTask(store, { createdAt: 2 })];
    await store.change((tx) => tx.tasks.tombstone(gone.id, 5000, false));
    expect(await pageOf(store)).toEqual({ ids: [kept.id], total: 1 });
    expect(await pageOf(store, { includeDeleted: true })).toEqual({ ids: [gone.id, kept.id], total: 2 });
    const { items } = await store.exports.tasks(
      ann,
      { ...open, includeDeleted: true },
      { limit: 1, offset: 0 },
    );
    expect(items).toMatchObject([{ id: gone.id, title: gone.title, deletedAt: 5000 }]);
  });

  test("satisfy both bounds, which are inclusive", async () => {
    await using database = await openTestStore(kind);
    for (const createdAt of [1000, 2000, 3000, 4000])
      await putTask(database.store, { id: `t${createdAt}`, createdAt });
    const ids = async (startTime: number | null, endTime: number | null) =>
      (await pageOf(database.store, { startTime, endTime })).ids;
    expect(await ids(2000, 3000)).toEqual(["t3000", "t2000"]);
    expect(await ids(2001, 2999)).toEqual([]);
    expect(await ids(3000, null)).toEqual(["t4000", "t3000"]);
    expect(await ids(null, 1000)).toEqual(["t1000"]);
  });

  test("are in one order, each on one page, with one total on all pages; agents' main tasks from their first message", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    const listedTasks: Task[] = [];
    // Several with the same time; tasks without messages are first, last, adjacent and in between.
    const unbegun = new Set([0, 4, 5, 11, 19]);
    for (let n = 0; n < 20; n++) {
      const createdAt = 1000 + Math.floor(n / 3);
      if (unbegun.has(n)) await putMainTask(store, { createdAt });
      else listedTasks.push(await putTask(store, { createdAt }));
    }
    listedTasks.push(await putMainTask(store, { createdAt: 1002 }, [userMessage()]));
    const deleted = await putTask(store, { createdAt: 1003 });
    await store.change((tx) => tx.tasks.tombstone(deleted.id, 5000, false));
    const inOrder = (tasks: readonly Task[]) =>
      tasks.toSorted((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1)).map(({ id }) => id);
    for (const [filter, tasks] of [
      [{}, listedTasks],
      [{ includeDeleted: true }, [...listedTasks, deleted]],
      [
        { startTime: 1001, endTime: 1004 },
        listedTasks.filter(({ createdAt }) => createdAt >= 1001 && createdAt <= 1004),
      ],
    ] as const) {
      const ids = inOrder(tasks);
      for (const limit of [1, 2, 3, 7, 100])
        for (let offset = 0; offset <= ids.length + 6; offset += limit)
          expect(await pageOf(store, filter, limit, offset)).toEqual({
            ids: ids.slice(offset, offset + limit),
            total: ids.length,
          });
    }
  });

  test("and their total are read in one statement: no change comes in between", async () => {
    const statements: string[] = [];
    await using database = await openTestStore(kind, { onStatement: (sql) => void statements.push(sql) });
    const before = statements.length;
    await pageOf(database.store);
    expect(statements.slice(before)).toHaveLength(1);
  });
});
