import { expect, test } from "vitest";
import type { Scope } from "../../../src/core/accounts/caller.ts";
import type { TaskPosition } from "../../../src/core/tasks/task-page.ts";
import { describeOnEach, openTestStore, rowsIn } from "../../support/database.ts";
import { runDirectly } from "../../support/direct.ts";
import {
  agentMessage,
  agentThought,
  ann,
  annAtHome,
  bo,
  putTask,
  sampleKey,
  userMessage,
} from "../samples.ts";

const otherScopes: readonly [why: string, scope: Scope][] = [
  ["another account", bo],
  ["the same account in another space", annAtHome],
  ["a token of an app that did not create it", { ...ann, clientId: "other-app" }],
];

describeOnEach("tasks", (kind) => {
  test("a new task is read as it was written", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    const written = await putTask(store, {
      ...{
        clientId: "app",
        projectId: "p",
        type: "project",
        status: "waiting",
        shareVisibility: "team",
        hidden: true,
        interactive: false,
      },
      ...{
        references: ["a", "b"],
        credits: 3,
        lastSeq: 4,
        lastTimestamp: 1_790_000_000_000,
        messageSeq: 1,
        answeredSeq: 1,
        consumedSeq: 2,
      },
      ...{
        fence: 5,
        nodeId: "n",
        claims: 6,
        idleClaims: 7,
        queuedAt: 1_790_000_000_001,
        locale: "de-CH",
        agentProfile: "manus-1.6-max",
      },
    });
    expect(await store.tasks.byId(written.id)).toEqual(written);
    const noSubtasks = {
      subtasksRunning: 0,
      subtasksWaiting: 0,
      subtasksStopped: 0,
      subtasksFailed: 0,
      subtaskCredits: 0,
      hasRunningSubtasks: false,
    };
    const noNames = { apiKeyName: null, accountName: null, appName: null, workerSeenAt: null };
    const noProgress = {
      latestStatus: null,
      statusSeq: null,
      planDone: null,
      planTotal: null,
      waitingSince: 0,
    };
    expect(await store.tasks.find({ ...ann, clientId: "app" }, written.id)).toEqual({
      ...written,
      ...noNames,
      ...noProgress,
      ...noSubtasks,
    });
  });

  test.runIf(kind === "postgresql")(
    "a task is found by its id alone in a database without statistics",
    async () => {
      const sent: string[] = [];
      await using database = await openTestStore(kind, { onStatement: (text) => void sent.push(text) });
      const { id } = await putTask(database.store);
      await database.store.tasks.find(ann, id);
      const found = sent
        .at(-1)
        ?.replace(/\$(\d)/g, (_, n: string) => `'${[ann.spaceId, ann.accountId, id][Number(n) - 1]}'`);
      const plan = await runDirectly(database, `EXPLAIN ${found}`);
      expect(plan.map(Object.values).join("\n")).toContain("Index Scan using task_pkey on task t");
    },
  );

  test("a new task's counters follow from its first events", async () => {
    await using database = await openTestStore(kind);
    const task = await putTask(database.store, { createdAt: 1000 }, [
      userMessage(),
      agentThought(),
      agentMessage(),
    ]);
    expect(task).toMatchObject({
      lastSeq: 3,
      lastTimestamp: 1003,
      messageSeq: 1,
      consumedSeq: 0,
      answeredSeq: 0,
    });
    expect(await database.store.tasks.byId(task.id)).toEqual(task);
    const events = await database.store.events.list(task.id, { order: "asc", limit: 9, verbose: true });
    expect(events.map(({ seq, timestamp }) => [seq, timestamp])).toEqual([
      [1, 1001],
      [2, 1002],
      [3, 1003],
    ]);
  });

  test.each(otherScopes)("%s finds, locks and lists nothing", async (_, scope) => {
    await using database = await openTestStore(kind);
    const { store } = database;
    const { id } = await putTask(store, { clientId: "app" });
    expect(await store.tasks.find(scope, id)).toBeNull();
    expect(await store.change((tx) => tx.tasks.lock(scope, id))).toBeNull();
    expect(await store.tasks.list(scope, {}, { orderBy: "createdAt", order: "desc", limit: 9 })).toEqual({
      tasks: [],
    });
    expect(await store.tasks.find(ann, id)).not.toBeNull();
  });

  test("a task is shown with its key's current name, or without one", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    const key = sampleKey({ name: "ci" });
    await store.change((tx) => tx.keys.insert(key));
    const { id } = await putTask(store, { apiKeyId: key.id });
    const other = await putTask(store, { apiKeyId: "erased" });
    expect(await store.tasks.find(ann, id)).toMatchObject({ apiKeyName: "ci" });
    expect(await store.change((tx) => tx.tasks.lock(ann, id))).toMatchObject({ apiKeyName: "ci" });
    expect(await store.tasks.find(ann, other.id)).toMatchObject({ apiKeyName: null });
  });

  test("pages have every task once, in either order, also with equal timestamps", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    for (let n = 0; n < 25; n += 1)
      await putTask(store, { id: `t${String(n).padStart(2, "0")}`, createdAt: 1000 + Math.floor(n / 4) });
    const all = Array.from({ length: 25 }, (_, n) => `t${String(n).padStart(2, "0")}`);
    for (const order of ["asc", "desc"] as const) {
      const seen: string[] = [];
      for (let after: TaskPosition | undefined; ; ) {
        const page = await store.tasks.list(
          ann,
          {},
          { orderBy: "createdAt", order, limit: 4, ...(after ? { after } : {}) },
        );
        seen.push(...page.tasks.map(({ id }) => id));
        after = page.next;
        if (!after) break;
      }
      expect(seen).toEqual(order === "asc" ? all : all.toReversed());
    }
  });

  test("a list applies its filter", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    const standard = await putTask(store);
    const inP = await putTask(store, { type: "project", projectId: "p" });
    const inQ = await putTask(store, { type: "project", projectId: "q" });
    const ids = async (filter: Parameters<typeof store.tasks.list>[1]) =>
      (await store.tasks.list(ann, filter, { orderBy: "createdAt", order: "asc", limit: 9 })).tasks.map(
        ({ id }) => id,
      );
    expect(await ids({})).toEqual([standard.id, inP.id, inQ.id].toSorted());
    expect(await ids({ type: "standard" })).toEqual([standard.id]);
    expect(await ids({ type: "project" })).toEqual([inP.id, inQ.id].toSorted());
    expect(await ids({ projectId: "q" })).toEqual([inQ.id]);
    expect(await ids({ type: "agent_subtask" })).toEqual([]);
  });

  test("a lock blocks other changes until its own change ends", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    const { id } = await putTask(store);
    const locked = Promise.withResolvers<void>();
    const order: string[] = [];
    const first = store.change(async (tx) => {
      await tx.tasks.lock(ann, id);
      locked.resolve();
      await new Promise((resolve) => setImmediate(resolve));
      await tx.projects.count("north");
      order.push("first");
    });
    await locked.promise;
    const second = store.change(async (tx) => {
      await tx.tasks.advance(id, { now: 1 });
      order.push("second");
    });
    await Promise.all([first, second]);
    expect(order).toEqual(["first", "second"]);
  });
});

describeOnEach("tasks.bury", (kind) => {
  const full = {
    ...({
      clientId: "app",
      apiKeyId: "k",
      projectId: "p",
      type: "project",
      status: "error",
      shareVisibility: "public",
      hidden: true,
    } as const),
    ...{
      references: ["a"],
      credits: 3,
      agentProfile: "x",
      locale: "de",
      title: "Secret",
      nodeId: "n",
      fence: 2,
    },
  };

  test("makes the task invisible to callers and to the runtime", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    const { id } = await putTask(store, { status: "running" });
    await store.change((tx) => tx.tasks.tombstone(id, 7000, false));
    expect(await store.tasks.find(ann, id)).toBeNull();
    expect(await store.change((tx) => tx.tasks.lock(ann, id))).toBeNull();
    expect(await store.tasks.list(ann, {}, { orderBy: "createdAt", order: "asc", limit: 9 })).toEqual({
      tasks: [],
    });
    expect(await store.tasks.byId(id)).toBeNull();
    expect(await store.tasks.listUnowned(9)).toEqual([]);
    expect(await store.tasks.countUnowned(9)).toBe(0);
  });

  test.each([
    {
      personal: false,
      kept: {
        title: "Secret",
        type: "project",
        status: "error",
        share_visibility: "public",
        project_id: "p",
      },
    },
    {
      personal: true,
      kept: { title: "", type: "standard", status: "stopped", share_visibility: "private", project_id: null },
    },
  ])("keeps what an export needs and no more (personal: $personal)", async ({ personal, kept }) => {
    await using database = await openTestStore(kind);
    const { store } = database;
    const task = await putTask(store, full);
    await store.change((tx) => tx.tasks.tombstone(task.id, 7000, personal));
    const [row] = await rowsIn(database.url, `SELECT * FROM task WHERE id = '${task.id}'`);
    expect(row).toMatchObject({
      ...kept,
      id: task.id,
      account_id: "ann",
      space_id: "north",
      node_id: null,
      client_id: null,
      api_key_id: null,
    });
    expect(row).toMatchObject({ agent_profile: "", locale: "", task_references: "[]" });
    expect([row?.["created_at"], row?.["deleted_at"], row?.["fence"]].map(Number)).toEqual([1000, 7000, 3]);
  });

  test("happens once", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    const { id } = await putTask(store);
    await store.change((tx) => tx.tasks.tombstone(id, 7000, false));
    await store.change((tx) => tx.tasks.tombstone(id, 8000, true));
    const [row] = await rowsIn(database.url, `SELECT deleted_at, title FROM task WHERE id = '${id}'`);
    expect([Number(row?.["deleted_at"]), row?.["title"]]).toEqual([7000, "Sort the post"]);
  });
});
