import { afterAll, beforeAll, expect, test } from "vitest";
import type { Scope } from "../../../src/core/accounts/caller.ts";
import type { Store } from "../../../src/core/store.ts";
import { wordsOf } from "../../../src/core/tasks/search-tokens.ts";
import type { Task, TaskStatus } from "../../../src/core/tasks/task.ts";
import type { TaskOrder, TaskPosition } from "../../../src/core/tasks/task-page.ts";
import type { TaskFilter } from "../../../src/core/tasks/task-rows.ts";
import { applyCaps, type Visibility, visibilities } from "../../../src/core/visibility.ts";
import { seededRandom } from "../../faults/harness/seeded-random.ts";
import { describeOnEach, openTestStore, runOn, type TestStore } from "../../support/database.ts";
import { seed } from "../../support/depth.ts";
import { runDirectly } from "../../support/direct.ts";
import { agentMessage, ann, annAtHome, bo, putTask, sampleTask } from "../samples.ts";

/** More than the rows that one page or count examines. */
const count = 6_000;
const statuses: readonly TaskStatus[] = ["running", "waiting", "stopped", "error"];
const team = { view: "team" } as const;
const [ofAnn, ofBo, atHome] = [ann, bo, annAtHome].map(({ accountId, spaceId }) => ({ accountId, spaceId }));

/** A task with its team's cap, which operations do not return. */
type CappedTask = Task & { readonly maxVisibility: Visibility | null };

/** In several changes: one of all tasks would take longer than a change may. */
async function insertAll(store: Store, tasks: readonly Task[]): Promise<void> {
  for (let first = 0; first < tasks.length; first += 500)
    await store.change(async (tx) => {
      for (const task of tasks.slice(first, first + 500)) await tx.tasks.insert(task, []);
    });
}

describeOnEach("a list of a team's tasks", (kind) => {
  const statements: string[] = [];
  let database: TestStore;
  let tasks: readonly CappedTask[];

  beforeAll(async () => {
    database = await openTestStore(kind, { onStatement: (statement) => void statements.push(statement) });
    const random = seededRandom(`team ${seed}`);
    const oneOf = <T>(values: readonly T[]): T => values[random.below(values.length)] as T;
    tasks = Array.from({ length: count }, (_, n) => ({
      ...sampleTask({
        id: `t${String(n).padStart(5, "0")}`,
        ...oneOf([ofAnn, ofBo, atHome]),
        createdAt: 10_000 + Math.floor(n / 3),
        updatedAt: 20_000 + random.below(2_000),
        status: oneOf(statuses),
        shareVisibility: oneOf(visibilities),
      }),
      maxVisibility: oneOf([null, null, ...visibilities]),
    }));
    await putAll(database, tasks);
  });
  afterAll(() => database[Symbol.asyncDispose]());

  async function putAll({ store, url }: TestStore, found: readonly CappedTask[]): Promise<void> {
    await insertAll(
      store,
      found.map(({ maxVisibility: _, ...task }) => task),
    );
    for (const cap of visibilities) {
      const ids = found.filter(({ maxVisibility }) => maxVisibility === cap).map(({ id }) => `'${id}'`);
      if (ids.length > 0)
        await runOn(url, `UPDATE task SET max_visibility = '${cap}' WHERE id IN (${ids.join(", ")})`);
    }
  }

  const inEffect = ({ shareVisibility, maxVisibility }: CappedTask) =>
    applyCaps(shareVisibility, maxVisibility);
  const isSeen = (task: CappedTask) => task.spaceId === "north" && inEffect(task) !== "private";

  async function allIds(
    filter: TaskFilter,
    orderBy: TaskOrder = "createdAt",
    order: "asc" | "desc" = "asc",
  ): Promise<string[]> {
    const found: string[] = [];
    for (let after: TaskPosition | undefined; ; ) {
      const page = await database.store.tasks.list(
        ann,
        { ...team, ...filter },
        { orderBy, order, limit: 100, ...(after ? { after } : {}) },
      );
      found.push(...page.tasks.map(({ id }) => id));
      if (!page.next) return found;
      after = page.next;
    }
  }

  test.each<[TaskFilter, (task: Task) => boolean]>([
    [{}, () => true],
    [{ creatorId: "bo" }, ({ accountId }) => accountId === "bo"],
    [{ creatorId: "none" }, () => false],
    [{ status: "waiting" }, ({ status }) => status === "waiting"],
    [
      { statuses: ["error", "stopped"], creatorId: "ann" },
      ({ status, accountId }) => /error|stopped/.test(status) && accountId === "ann",
    ],
    [
      { createdAfter: 10_500, updatedBefore: 20_900 },
      ({ createdAt, updatedAt }) => createdAt > 10_500 && updatedAt < 20_900,
    ],
  ])("%j has each task that the team sees once, in any order", async (filter, meets) => {
    for (const orderBy of ["createdAt", "updatedAt"] as const) {
      const expected = tasks
        .filter((task) => isSeen(task) && meets(task))
        .toSorted((a, b) => a[orderBy] - b[orderBy] || (a.id < b.id ? -1 : 1))
        .map(({ id }) => id);
      expect(await allIds(filter, orderBy)).toEqual(expected);
      expect(await allIds(filter, orderBy, "desc")).toEqual(expected.toReversed());
    }
  });

  test.each<TaskFilter>([
    {},
    { creatorId: "bo" },
  ])("%j counts the same tasks by state, without regard to a given state", async (filter) => {
    const found = tasks.filter(
      (task) => isSeen(task) && (filter.creatorId ?? task.accountId) === task.accountId,
    );
    const byStatus = Object.fromEntries(
      statuses.map((each) => [each, found.filter(({ status }) => status === each).length]),
    );
    const counts = await database.store.tasks.countByStatus(ann, {
      ...team,
      ...filter,
      status: "error",
      statuses: ["running"],
    });
    expect(counts).toEqual({ byStatus, isComplete: true });
  });

  test("finds words in the tasks of one creator that the team sees", async () => {
    const words = wordsOf("apple pie");
    const [seen, hidden, capped] = [
      await putTask(database.store, { ...ofBo, shareVisibility: "team", title: "Apple" }, [
        agentMessage("pie"),
      ]),
      await putTask(database.store, { ...ofBo, title: "Apple pie" }),
      await putTask(database.store, { ...ofBo, shareVisibility: "public", title: "Apple pie" }),
    ];
    await runOn(database.url, `UPDATE task SET max_visibility = 'private' WHERE id = '${capped.id}'`);
    expect([await allIds({ words, creatorId: "bo" }), await allIds({ words, creatorId: "ann" })]).toEqual([
      [seen.id],
      [],
    ]);
    // Texts of private tasks that are not indexed yet cause no warning.
    const isIndexed = () => database.store.tasks.isIndexed(ann, { ...team, creatorId: "bo" });
    const before = await isIndexed();
    await runOn(
      database.url,
      `UPDATE task SET indexed_seq = -1 WHERE id IN ('${hidden.id}', '${capped.id}')`,
    );
    const after = await isIndexed();
    await runOn(database.url, `UPDATE task SET indexed_seq = -1 WHERE id = '${seen.id}'`);
    expect([before, after, await isIndexed()]).toEqual([true, true, false]);
    await database.store.change(async (tx) => {
      for (const { id } of [seen, hidden, capped]) await tx.tasks.tombstone(id, 1, false);
    });
  });

  test("is the same with and without private tasks of others", async () => {
    const read = async (store: TestStore["store"]) => {
      const filter: TaskFilter = { ...team, creatorId: "bo", status: "waiting" };
      const { tasks: page, next } = await store.tasks.list(ann, filter, {
        orderBy: "createdAt",
        order: "desc",
        limit: 20,
      });
      return [
        page.map(({ id }) => id),
        next,
        await store.tasks.countByStatus(ann, filter),
        await store.tasks.listChangedInTeam("north", 21_990, 99),
      ];
    };
    await using fewer = await openTestStore(kind);
    await putAll(fewer, tasks.filter(isSeen));
    expect(await read(database.store)).toEqual(await read(fewer.store));
  });

  test("counts at most 5,000 tasks, and says that there may be more", async () => {
    await using many = await openTestStore(kind);
    const rest = (n: number) =>
      ({ createdAt: n, status: n < 2 ? "error" : "stopped", metadata: { n: `${n}` } }) as const;
    await insertAll(
      many.store,
      Array.from({ length: 5_002 }, (_, n) => sampleTask(rest(n))),
    );
    const only = (stopped: number, isComplete: boolean) => ({
      byStatus: { running: 0, waiting: 0, stopped, error: 0 },
      isComplete,
    });
    const { tasks: rows } = many.store;
    // The two oldest are not examined.
    expect(await rows.countByStatus(ann, {})).toEqual(only(5_000, false));
    expect(await rows.countByStatus(ann, { createdAfter: 10 })).toEqual(only(4_991, true));
    expect(await rows.countByStatus(ann, { metadata: { n: "7" } })).toEqual(only(1, true));
    expect(await rows.countByStatus(ann, { words: [] })).toEqual(only(0, true));
    expect(await rows.countByStatus({ ...ann, clientId: "app" }, {})).toEqual(only(0, true));
    expect(await rows.countByStatus(bo, {})).toEqual(only(0, true));
  });

  test("counts waiting and running tasks of any age next to any number of others, by the index of states", async () => {
    await using many = await openTestStore(kind);
    const old = (n: number): Partial<Task> =>
      n < 40
        ? { status: "waiting", clientId: n < 3 ? "app" : null }
        : { status: n < 60 ? "running" : "stopped" };
    await insertAll(
      many.store,
      Array.from({ length: 5_100 }, (_, n) => sampleTask({ createdAt: n, ...old(n) })),
    );
    const { tasks: rows } = many.store;
    const living = async (filter: TaskFilter, scope: Scope = ann) => {
      const { byStatus, isComplete } = await rows.countByStatus(scope, filter);
      return [byStatus.waiting, byStatus.running, isComplete];
    };
    expect(await living({})).toEqual([40, 20, false]);
    expect(await living({ status: "error", statuses: ["stopped"] })).toEqual([40, 20, false]);
    expect(await living({ createdAfter: 9 })).toEqual([30, 20, false]);
    expect(await living({ createdByApp: "app" })).toEqual([3, 0, true]);
    expect(await living({}, { ...ann, clientId: "app" })).toEqual([3, 0, true]);
  });

  test("reads waiting tasks, and the numbers of tasks that have not ended, by the index of states", async () => {
    const { tasks: rows } = database.store;
    const page = { orderBy: "waitingSince", order: "asc", limit: 20 } as const;
    expect(await planOf(() => rows.list(ann, { status: "waiting" }, page))).toEqual({
      indexes: ["task_waits"],
      sorts: false,
    });
    await using many = await openTestStore(kind, {
      onStatement: (statement) => void statements.push(statement),
    });
    const ofBo = { accountId: bo.accountId, spaceId: bo.spaceId };
    await insertAll(
      many.store,
      Array.from({ length: 5_000 }, (_, n) => sampleTask({ ...ofBo, createdAt: n })),
    );
    expect((await planOf(() => many.store.tasks.countByStatus(bo, {}))).indexes).toEqual([
      "task_status",
      "task_status",
    ]);
  });

  /** The indexes of the last statement of a call, and whether it sorts. */
  async function planOf(call: () => Promise<unknown>) {
    statements.length = 0;
    await call();
    const statement = (statements.at(-1) ?? "").replaceAll(
      /(\w+)( [=<>]+ | )(\?|\$\d+)/g,
      (_, column: string, between: string) => {
        const value = { space_id: "'north'", account_id: "'bo'", status: "'error'" }[column] ?? "'32'";
        return `${column}${between}${column === "LIMIT" || column === "OFFSET" ? "32" : value}`;
      },
    );
    if (kind === "postgresql") await runDirectly(database, "ANALYZE task");
    const rows = await runDirectly(database, `EXPLAIN ${kind === "sqlite" ? "QUERY PLAN " : ""}${statement}`);
    const plan = rows.map((row) => String(row["detail"] ?? row["QUERY PLAN"]));
    const indexes = plan.flatMap(
      (line) => /(?:USING INDEX|Index Scan (?:Backward )?using) (\w+)/.exec(line)?.[1] ?? [],
    );
    // The numbers of subtasks are read only for tasks that have some, and the primary key for those in run.
    const others = ["task_of_parent", "task_of_root", "task_pkey"];
    const ofList = (name: string) => name.startsWith("task_") && !others.includes(name);
    return { indexes: indexes.filter(ofList), sorts: plan.some((line) => /TEMP B-TREE|Sort/.test(line)) };
  }

  test("reads the indexes of shared tasks in their order", async () => {
    const { tasks: rows } = database.store;
    const orders = [
      ["createdAt", "task_team"],
      ["updatedAt", "task_team_updated"],
    ] as const;
    for (const [orderBy, index] of orders) {
      const page = { orderBy, order: "desc", limit: 20 } as const;
      expect(await planOf(() => rows.list(ann, team, page))).toEqual({
        indexes: [index],
        sorts: orderBy === "updatedAt",
      });
      expect((await planOf(() => rows.list(ann, { ...team, status: "error" }, page))).indexes).toEqual([
        index,
      ]);
    }
    // PostgreSQL reads so few rows at once.
    if (kind === "postgresql") return;
    expect((await planOf(() => rows.countByStatus(ann, team))).indexes).toEqual(["task_team"]);
    expect((await planOf(() => rows.countByStatus(ann, { createdAfter: 1_000_000 }))).indexes).toEqual([
      "task_present",
    ]);
    const [present = "", absent = ""] = await changeIndexes();
    expect([present, absent]).toEqual(["task_team_updated", "task_share_changed task_team_gone"]);
  });

  /** The indexes that the two statements of a team's changes read. */
  async function changeIndexes(): Promise<string[]> {
    const read = () => database.store.tasks.listChangedInTeam("north", 21_990, 99);
    const all = await planOf(read);
    const first = await planOf(async () => {
      await read();
      statements.length = 1;
    });
    return [first.indexes.join(" "), all.indexes.join(" ")];
  }
});
