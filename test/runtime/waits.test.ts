import { beforeAll, expect, test } from "vitest";
import { systemIds } from "../../src/core/ids.ts";
import type { PublishTask, Tx } from "../../src/core/store.ts";
import { firstEvents, idleTask, resume, stop } from "../../src/core/tasks/lifecycle.ts";
import { followSubtask, settleParent, stopSubtasks } from "../../src/core/tasks/parents.ts";
import {
  hasEnded,
  nextLook,
  reasonOf,
  type SubtaskWait,
  waitBrief,
} from "../../src/core/tasks/subtask-wait.ts";
import { livingMax } from "../../src/core/tasks/subtasks.ts";
import type { Task } from "../../src/core/tasks/task.ts";
import type { SubtaskEnd } from "../../src/core/tasks/task-rows.ts";
import type { Agent, Outcome, Progress } from "../../src/runtime/agent.ts";
import type { Subtask } from "../../src/runtime/agent-subtasks.ts";
import { runTask } from "../../src/runtime/run.ts";
import { beginSubtasks } from "../../src/runtime/subtasks.ts";
import { ann } from "../store/samples.ts";
import { withoutFiles } from "../support/agent-files.ts";
import { cipher } from "../support/cipher.ts";
import { claimTasks } from "../support/claims.ts";
import { movableClock } from "../support/clock.ts";
import { describeOnOne, openTestStore, rowsIn } from "../support/database.ts";

const state = (status: Task["status"]): SubtaskEnd => ({ id: status, title: "", status, lastSeq: 1 });
const calm = { now: 5, hasMessage: false };

test.each([
  ["all", ["stopped", "error"], {}, "ended"],
  ["all", ["stopped", "running"], {}, null],
  ["all", ["stopped", "waiting"], {}, null],
  ["any", ["running", "error"], {}, "ended"],
  ["any", ["running", "waiting"], {}, null],
  ["all", [], {}, "ended"],
  ["any", [], {}, "ended"],
  ["all", ["running"], { hasMessage: true }, "message"],
  ["all", ["running"], { now: 10 }, "timeout"],
  ["all", ["running"], { now: 10, hasMessage: true }, "message"],
  ["any", ["stopped"], { now: 10, hasMessage: true }, "ended"],
] as const)("a wait for %s of %j, %j, is over by %s", (mode, statuses, more, reason) => {
  expect(reasonOf({ mode, until: 10 }, statuses.map(state), { ...calm, ...more })).toBe(reason);
});

test("a wait is looked at again at the end of its time, and every minute", () => {
  expect(nextLook({ until: 7 }, 5)).toBe(7);
  expect(nextLook({ until: null }, 5)).toBe(60_005);
  expect(nextLook({ until: 100_000 }, 5)).toBe(60_005);
});

test.each([
  ["all", 1, "Waits for a subtask"],
  ["any", 1, "Waits for a subtask"],
  ["all", 3, "Waits for 3 subtasks"],
  ["any", 3, "Waits for one of 3 subtasks"],
] as const)("a wait for %s of %d is described", (mode, count, text) => {
  expect(waitBrief({ mode, subtasks: Array.from({ length: count }, String) })).toBe(text);
});

describeOnOne("a waiting task", (kind) => {
  const clock = movableClock();
  let open: Awaited<ReturnType<typeof openTestStore>>;
  beforeAll(async () => {
    open = await openTestStore(kind, { clock });
    return () => open[Symbol.asyncDispose]();
  });
  /** Whether the subtasks of a task are due for a look. */
  const isDue = async (id: string) => (await open.store.parents.due(clock.now(), 100)).includes(id);
  const store = () => open.store;
  const publishTask: PublishTask = async (tx, written) => {
    await followSubtask(tx, written);
    return written.task;
  };
  const parts = () => ({ store: store(), clock, publishTask });
  const byId = async (id: string): Promise<Task> => {
    const task = await open.store.tasks.byId(id);
    if (!task) throw new Error("no such task");
    return task;
  };
  async function claim(id: string): Promise<Task> {
    const candidate = await byId(id);
    const [task] = await store().change((tx) => claimTasks(tx, [candidate], "n1", clock.now()));
    if (!task) throw new Error("not claimed");
    return task;
  }
  async function create(more: Partial<Task> = {}): Promise<Task> {
    const task: Task = {
      ...idleTask(systemIds.short(), ann, clock.now()),
      status: "running",
      agentProfile: "manus-1.6",
      ...more,
    };
    await store().change((tx) => tx.tasks.insert(task, firstEvents("Go")));
    return claim(task.id);
  }
  const run = (task: Task, agent: Agent) =>
    runTask(task, new AbortController().signal, {
      ...{
        store: store(),
        clock,
        ids: systemIds,
        cipher,
        log: () => undefined,
        ...withoutFiles,
        publishTask,
      },
      agentFor: () => agent,
    });
  const use = (subtask: Subtask) =>
    ({
      type: "tool_used",
      payload: { tool: "subtask", actionId: subtask.id, status: "success", brief: "Began" },
      subtask,
    }) as const;
  const done: Outcome = { kind: "finish", content: "Done" };
  const endIn = async (tx: Tx, id: string) => {
    const written = await tx.tasks.advance(id, { now: clock.now(), set: { status: "stopped" } });
    if (written) await publishTask(tx, written);
  };
  const end = (id: string) => store().change((tx) => endIn(tx, id));
  const latest = async (id: string): Promise<SubtaskWait> =>
    (await open.store.waits.latest(id)) as SubtaskWait;
  /** Starts subtasks, waits for them, and ends. Returns their ids and how often the agent was started. */
  function waiting(count: number, timeoutMs?: number) {
    const ids: string[] = [];
    const results: unknown[] = [];
    const agent: Agent = async function* (turn) {
      if (!turn.subtask || !turn.waitFor) throw new Error("the task may have subtasks");
      if (turn.written.length > 0) yield { events: turn.written };
      else {
        const subtasks = await Array.fromAsync({ length: count }, (_, i) =>
          turn.subtask?.({ message: `Part ${i}` }),
        );
        for (const subtask of subtasks) if (subtask) ids.push(subtask.id);
        yield { events: subtasks.flatMap((subtask) => (subtask ? [use(subtask)] : [])) };
      }
      const wait = await turn.waitFor({ mode: "all", ...(timeoutMs === undefined ? {} : { timeoutMs }) });
      if ("kind" in wait) return wait;
      results.push(wait);
      return done;
    };
    return { ids, results, agent };
  }

  test("has no process, refuses writes of the run that ended, and continues the same turn", async () => {
    const parent = await create();
    const { ids, results, agent } = waiting(2);
    await run(parent, agent);
    const waits = await byId(parent.id);
    expect(waits).toMatchObject({
      status: "running",
      nodeId: "subtasks",
      subtasks: 2,
      fence: parent.fence + 1,
    });
    expect((await open.store.tasks.listUnowned(10)).map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
    expect(await open.store.tasks.countUnowned(10)).toBe(2);
    expect(
      await store().change((tx) => tx.tasks.advance(parent.id, { now: 1, when: { fence: parent.fence } })),
    ).toBeNull();
    await end(ids[0] ?? "");
    await settleParent(parts(), parent.id);
    expect((await byId(parent.id)).nodeId).toBe("subtasks");
    await end(ids[1] ?? "");
    expect(await isDue(parent.id)).toBe(true);
    await Promise.all([settleParent(parts(), parent.id), settleParent(parts(), parent.id)]);
    expect(await byId(parent.id)).toMatchObject({ status: "running", nodeId: null });
    await run(await claim(parent.id), agent);
    expect(results).toMatchObject([
      { mode: "all", reason: "ended", subtasks: [{ status: "stopped" }, { status: "stopped" }] },
    ]);
    expect(await byId(parent.id)).toMatchObject({ status: "stopped", claims: 2 });
  });

  test("continues after its time, and not before", async () => {
    const parent = await create();
    const { agent, results } = waiting(1, 90_000);
    await run(parent, agent);
    for (const ms of [59_000, 2_000, 28_000]) {
      clock.pass(ms);
      if (await isDue(parent.id)) await settleParent(parts(), parent.id);
      expect((await byId(parent.id)).nodeId).toBe("subtasks");
    }
    clock.pass(2_000);
    expect(await isDue(parent.id)).toBe(true);
    await settleParent(parts(), parent.id);
    await run(await claim(parent.id), agent);
    expect(results).toMatchObject([
      { reason: "timeout", subtasks: [{ status: "running", lastMessage: "" }] },
    ]);
  });

  test("is found when the process that ended its last subtask reported nothing", async () => {
    const parent = await create();
    const { ids, agent } = waiting(1);
    await run(parent, agent);
    // A process of an earlier release.
    await open.store.change((tx) =>
      tx.tasks.advance(ids[0] ?? "", { now: clock.now(), set: { status: "stopped" } }),
    );
    expect(await isDue(parent.id)).toBe(false);
    clock.pass(60_000);
    expect(await isDue(parent.id)).toBe(true);
    await settleParent(parts(), parent.id);
    expect((await byId(parent.id)).nodeId).toBeNull();
  });

  /**
   * A change that is held open before its commit, until the returned function is called. Resolves when it has
   * done its work.
   */
  async function heldChange<T>(work: (tx: Tx) => Promise<T>): Promise<() => Promise<T>> {
    const gate = Promise.withResolvers<void>();
    const done = Promise.withResolvers<void>();
    const change = store().change(async (tx) => {
      const result = await work(tx);
      done.resolve();
      await gate.promise;
      return result;
    });
    change.catch(done.reject);
    await done.promise;
    return () => {
      gate.resolve();
      return change;
    };
  }
  /** Lets changes that need no lock of an open change end. */
  async function letOthersRun(): Promise<void> {
    for (let looks = 0; looks < 20; looks += 1) {
      await open.store.parents.due(clock.now(), 1);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  test("finds the end of a subtask whose change is not committed when the wait begins", async () => {
    const parent = await create();
    const { ids, agent } = waiting(1);
    const commit = Promise.withResolvers<() => Promise<unknown>>();
    const ending: Agent = async function* (turn) {
      if (turn.written.length > 0) return yield* agent(turn);
      const work = agent(turn);
      yield (await work.next()).value as Progress;
      while ((await open.store.tasks.byId(ids[0] ?? "")) === null)
        await new Promise((resolve) => setImmediate(resolve));
      commit.resolve(await heldChange((tx) => endIn(tx, ids[0] ?? "")));
      return (await work.next()).value as Outcome;
    };
    const running = run(parent, ending);
    const commitEnd = await commit.promise;
    await letOthersRun();
    await Promise.all([commitEnd(), running]);
    if (await isDue(parent.id)) await settleParent(parts(), parent.id);
    expect(await latest(parent.id)).toMatchObject({
      reason: "ended",
      ends: [{ id: ids[0], status: "stopped" }],
    });
  });

  test("gets each subtask of its turn once by waits that name none, also one that ended before the wait", async () => {
    const parent = await create();
    const { ids, agent } = waiting(3);
    const got: string[][] = [];
    const collecting: Agent = async function* (turn) {
      if (turn.written.length > 0) yield { events: turn.written };
      else {
        const work = agent(turn);
        yield (await work.next()).value as Progress;
        while ((await open.store.tasks.byId(ids[2] ?? "")) === null)
          await new Promise((resolve) => setImmediate(resolve));
        await end(ids[0] ?? "");
      }
      for (let waits = 0; waits < 3; waits += 1) {
        const wait = await turn.waitFor?.({ mode: "any" });
        if (wait === undefined || "kind" in wait) return wait ?? done;
        got[waits] = wait.subtasks.flatMap(({ id, status }) => (status === "stopped" ? [id] : []));
      }
      return done;
    };
    await run(parent, collecting);
    for (const id of ids.slice(1)) {
      expect((await byId(parent.id)).nodeId).toBe("subtasks");
      await end(id);
      await settleParent(parts(), parent.id);
      await run(await claim(parent.id), collecting);
    }
    expect(got).toEqual(ids.map((id) => [id]));
    expect(await byId(parent.id)).toMatchObject({ status: "stopped" });
  });

  test("of two tasks of a tree only one starts the last subtask that is allowed", async () => {
    const root = await create();
    const { ids, agent } = waiting(1);
    await run(root, agent);
    const child = await claim(ids[0] ?? "");
    const below = { parentId: root.id, rootId: root.id, depth: 1, status: "running" } as const;
    const [row] = [await byId(root.id)];
    await store().change(async (tx) => {
      for (let i = 0; i < livingMax - 2; i += 1)
        await tx.tasks.insert({ ...row, id: systemIds.short(), ...below }, []);
    });
    const start = (task: Task) => (tx: Tx) =>
      beginSubtasks(tx, task, [use({ id: systemIds.short(), message: "More" })], parts());
    const commit = await heldChange(start(child));
    const other = store().change(start(row));
    other.catch(() => undefined);
    await letOthersRun();
    await commit();
    await expect(other).rejects.toMatchObject({ reason: "resource_exhausted" });
    expect((await open.store.tasks.countSubtasks(row, [])).living).toBe(livingMax);
  });

  test("stops the subtasks of the turn that was stopped, and not those of a later turn", async () => {
    const parent = await create();
    const [first, second] = [waiting(1), waiting(1)];
    await run(parent, first.agent);
    await store().change(async (tx) => {
      const stopped = await tx.tasks.advance(parent.id, {
        now: clock.now(),
        set: stop.set,
        events: stop.events,
      });
      if (stopped) await stopSubtasks(tx, stopped.task);
    });
    await store().change((tx) =>
      tx.tasks.advance(parent.id, { now: clock.now(), ...resume("Again", clock.now()) }),
    );
    await run(await claim(parent.id), second.agent);
    await settleParent(parts(), parent.id);
    const statuses = await Promise.all(
      [...first.ids, ...second.ids].map(async (id) => (await byId(id)).status),
    );
    expect(statuses).toEqual(["stopped", "running"]);
    expect((await byId(parent.id)).nodeId).toBe("subtasks");
  });

  test("forgets a deleted task once nothing is due about its subtasks", async () => {
    const parent = await create();
    const { ids, agent } = waiting(1);
    await run(parent, agent);
    await store().change(async (tx) => {
      const task = await tx.tasks.byId(parent.id);
      if (task) await stopSubtasks(tx, task);
      await tx.tasks.tombstone(parent.id, clock.now(), true);
    });
    await settleParent(parts(), parent.id);
    expect(await byId(ids[0] ?? "")).toMatchObject({ status: "stopped" });
    // The end of the subtask has requested another look.
    expect(await isDue(parent.id)).toBe(false);
    expect(await rowsIn(open.url, `SELECT task_id FROM parent_task WHERE task_id = '${parent.id}'`)).toEqual(
      [],
    );
  });

  test("has the same results after its subtask continued", async () => {
    const parent = await create();
    const { ids, agent, results } = waiting(1);
    await run(parent, agent);
    const say = (content: string) =>
      async function* (): ReturnType<Agent> {
        yield { events: [{ type: "explanation", payload: { content: "Working" } }] };
        return { kind: "finish", content } as const;
      };
    await run(await claim(ids[0] ?? ""), say("First"));
    await settleParent(parts(), parent.id);
    await store().change((tx) =>
      tx.tasks.advance(ids[0] ?? "", {
        now: clock.now(),
        events: [{ type: "assistant_message", payload: { content: "Second" } }],
      }),
    );
    await run(await claim(parent.id), agent);
    expect(results).toMatchObject([{ subtasks: [{ lastMessage: "First" }] }]);
  });

  test("gives its subtasks its owner, app, key and project, and not what the user has allowed", async () => {
    const parent = await create({
      clientId: "app",
      apiKeyId: "key",
      projectId: "garden",
      allowed: ["terminalExecute"],
      hidden: true,
    });
    const { ids, agent } = waiting(1);
    await run(parent, agent);
    const { accountId, spaceId, clientId, apiKeyId, projectId, hidden, agentProfile, locale } = parent;
    expect(await byId(ids[0] ?? "")).toMatchObject({
      ...{ accountId, spaceId, clientId, apiKeyId, projectId, hidden, agentProfile, locale },
      ...{
        allowed: [],
        shareVisibility: "private",
        depth: 1,
        rootId: parent.id,
        parentId: parent.id,
        type: "agent_subtask",
      },
    });
    await run(await claim(ids[0] ?? ""), async function* () {
      yield { events: [] };
      return { kind: "confirm", action: "terminalExecute", variant: "" };
    });
    expect(await byId(ids[0] ?? "")).toMatchObject({ status: "waiting" });
  });

  test("counts its subtasks' costs in its budget, which ends all of them", async () => {
    const parent = await create();
    const { ids, agent } = waiting(3);
    await run(parent, agent);
    const budget = {
      ...({
        id: systemIds.short(),
        spaceId: parent.spaceId,
        kind: "task",
        subject: parent.id,
        period: "total",
        credits: 5,
      } as const),
      ...{ spent: 0, held: 0, since: 0, createdAt: 1, updatedAt: 1 },
    };
    const spend: Agent = async function* () {
      yield { events: [{ type: "explanation", payload: { content: "Spent" } }], credits: 3 };
      return done;
    };
    await run(await claim(ids[0] ?? ""), spend);
    // A budget that is set later counts them too.
    await store().change((tx) => tx.budgets.set(budget));
    expect((await open.store.budgets.list(parent.spaceId)).find(({ id }) => id === budget.id)).toMatchObject({
      spent: 3,
    });
    for (const id of ids.slice(1)) await run(await claim(id), spend);
    expect(await byId(ids[2] ?? "")).toMatchObject({ status: "error", credits: 0 });
    expect(await open.store.tasks.find(ann, parent.id)).toMatchObject({
      credits: 0,
      subtaskCredits: 6,
      subtasksFailed: 1,
      subtasksStopped: 2,
    });
    await settleParent(parts(), parent.id);
    await run(await claim(parent.id), agent);
    expect(await byId(parent.id)).toMatchObject({ status: "error" });
    const last = await open.store.events.list(parent.id, { order: "desc", limit: 2, verbose: false });
    expect(last[1]).toMatchObject({ type: "error_message", payload: { errorType: "quota_limit" } });
  });

  test("a run whose subtasks exceed a limit that another task has used writes nothing, and is repeated", async () => {
    const parent = await create();
    const agent: Agent = async function* ({ subtask, written }) {
      if (!subtask || written.length > 0) return done;
      const first = await subtask({ message: "One" });
      await store().change(async (tx) => {
        for (let i = 0; i < livingMax; i += 1)
          await tx.tasks.insert(
            {
              ...(await byId(parent.id)),
              id: systemIds.short(),
              parentId: parent.id,
              rootId: parent.id,
              depth: 1,
            },
            [],
          );
      });
      yield { events: [use(first)] };
      return done;
    };
    await expect(run(parent, agent)).rejects.toMatchObject({ reason: "resource_exhausted" });
    expect(
      (await open.store.events.list(parent.id, { order: "asc", limit: 9, verbose: true })).some(
        ({ type }) => type === "tool_used",
      ),
    ).toBe(false);
  });

  test("refuses ids of other tasks and times out of bounds", async () => {
    const parent = await create();
    const refused = async (
      wait: Parameters<NonNullable<Parameters<Agent>[0]["waitFor"]>>[0],
      text: string,
    ): Promise<void> => {
      const agent: Agent = async function* ({ waitFor }) {
        await expect(waitFor?.(wait)).rejects.toMatchObject({ reason: "invalid_argument", message: text });
        return done;
      };
      await run(await claimAgain(parent.id), agent);
    };
    const claimAgain = async (id: string): Promise<Task> => {
      await store().change((tx) =>
        tx.tasks.advance(id, { now: clock.now(), set: { status: "running", nodeId: null } }),
      );
      return claim(id);
    };
    await refused({ mode: "all", subtasks: [parent.id] }, "subtasks[0]: is not a subtask of this task");
    await refused({ mode: "all", timeoutMs: 0 }, "timeoutMs: must be above 0 and at most 7 days");
    await refused(
      { mode: "all", subtasks: Array.from({ length: 101 }, String) },
      "subtasks: must have at most 100 items",
    );
    expect(hasEnded((await byId(parent.id)).status)).toBe(true);
  });
});
