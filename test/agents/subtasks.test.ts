import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemIds } from "../../src/core/ids.ts";
import { firstEvents, idleTask } from "../../src/core/tasks/lifecycle.ts";
import { livingMax } from "../../src/core/tasks/subtasks.ts";
import type { Task } from "../../src/core/tasks/task.ts";
import type { Agent, Outcome } from "../../src/runtime/agent.ts";
import type { Subtask } from "../../src/runtime/agent-subtasks.ts";
import { runTask } from "../../src/runtime/run.ts";
import { ann } from "../store/samples.ts";
import { withoutFiles } from "../support/agent-files.ts";
import { cipher } from "../support/cipher.ts";
import { claimTasks } from "../support/claims.ts";
import { movableClock } from "../support/clock.ts";
import { describeOnOne, openTestStore, type TestStore } from "../support/database.ts";
import type { Person } from "../support/service.ts";
import { taskRig } from "../support/task-rig.ts";

const shortcut = "agent-default-main_task";

describeOnOne("an agent's subtasks", (database) => {
  const rig = taskRig({ database });
  const subtasks = async (person: Person) =>
    (await person.v2("task.list", { scope: "agent_subtask", agent_id: "agent-default" })).body[
      "data"
    ] as readonly {
      readonly id: string;
    }[];
  const messagesOf = async (person: Person, task_id: string) =>
    (await person.v2("task.listMessages", { task_id, order: "asc", verbose: true, limit: 200 })).body[
      "messages"
    ];
  const usesIn = async (person: Person, task_id: string) =>
    (await messagesOf(person, task_id)).flatMap((event: { tool_used?: unknown }) => event.tool_used ?? []);

  /** Sends a message to the main task and waits for the end of the turn. */
  async function sendToMain(person: Person, text: string): Promise<string> {
    const { body } = await person.v2("task.sendMessage", { task_id: shortcut, message: { content: text } });
    await rig.reach(body["task_id"], "stopped");
    return body["task_id"];
  }

  test("begins with the event that names it, and runs independently", async () => {
    const ben = await rig.service.person();
    const main = await sendToMain(ben, "[[subtask Count the owls]] [[say Begun]]");
    const [use] = await usesIn(ben, main);
    expect(use).toMatchObject({ tool: "subtask", status: "success", params: { message: "Count the owls" } });
    const id = use.result.task_id;
    await rig.reach(id, "stopped");
    const [task] = await subtasks(ben);
    expect(task).toMatchObject({
      id,
      task_type: "agent_subtask",
      title: "Count the owls",
      status: "stopped",
      share_visibility: "private",
    });
    expect((await messagesOf(ben, id))[0]).toMatchObject({
      type: "user_message",
      user_message: { content: "Count the owls" },
    });
    expect((await rig.row(id)).agentId).toBe((await rig.row(main)).agentId);
  });

  test("can be controlled as any task, but not deleted (spec/api.md 9.11)", async () => {
    const ben = await rig.service.person();
    await sendToMain(ben, "[[subtask Count]]");
    const [{ id } = { id: "" }] = await subtasks(ben);
    await rig.reach(id, "stopped");
    await ben.v2("task.sendMessage", { task_id: id, message: { content: "[[forever]]" } });
    expect((await ben.v2("task.delete", { task_id: id })).body.error).toMatchObject({
      code: "failed_precondition",
    });
    expect((await ben.v2("task.stop", { task_id: id })).status).toBe(200);
    expect((await ben.v2("task.delete", { task_id: id })).status).toBe(412);
    expect(await rig.row(id)).toMatchObject({ status: "stopped" });
  });

  test("belongs to one account in one space", async () => {
    const ben = await rig.service.person();
    await sendToMain(ben, "[[subtask Count]]");
    const [{ id } = { id: "" }] = await subtasks(ben);
    for (const other of [
      await rig.service.person({ with: ben, role: "admin" }),
      await rig.service.person({ as: ben }),
    ]) {
      expect(await subtasks(other)).toEqual([]);
      expect((await other.v2("task.detail", { task_id: id })).status).toBe(404);
    }
  });

  test("begins once, also when the run that began it is lost", async () => {
    const ben = await rig.service.person();
    const main = await sendToMain(ben, "[[subtask One]] [[crash]] [[subtask Two]]");
    expect((await rig.row(main)).claims).toBe(2);
    expect((await subtasks(ben)).map(({ id }) => id).toSorted()).toEqual(
      (await usesIn(ben, main)).map((use: { result: { task_id: string } }) => use.result.task_id).toSorted(),
    );
    expect(await subtasks(ben)).toHaveLength(2);
  });
});

describeOnOne("a run that begins subtasks", (kind) => {
  const clock = movableClock();
  let db: TestStore;
  beforeAll(async () => {
    db = await openTestStore(kind, { clock });
  });
  afterAll(() => db[Symbol.asyncDispose]());

  async function claimMain(): Promise<Task> {
    const resting = idleTask(systemIds.short(), ann, clock.now());
    const main: Task = {
      ...resting,
      agentId: systemIds.uuid(),
      status: "running",
      agentProfile: "manus-1.6",
    };
    const [task] = await db.store.change(async (tx) => {
      const inserted = await tx.tasks.insert(main, firstEvents("Go"));
      return claimTasks(tx, [inserted.task], "n1", clock.now());
    });
    if (!task) throw new Error("not claimed");
    return task;
  }
  const run = (task: Task, agent: Agent) =>
    runTask(task, new AbortController().signal, {
      ...{ store: db.store, clock, ids: systemIds, cipher, log: () => undefined, ...withoutFiles },
      agentFor: () => agent,
    });
  const subtasksOf = async ({ agentId }: Task) => {
    const page = { orderBy: "createdAt", order: "asc", limit: 100 } as const;
    return (await db.store.tasks.list(ann, { type: "agent_subtask", agentId: agentId ?? "" }, page)).tasks;
  };
  const use = (subtask: Subtask) =>
    ({
      type: "tool_used",
      payload: { tool: "subtask", actionId: subtask.id, status: "success", brief: "Began" },
      subtask,
    }) as const;
  const done: Outcome = { kind: "finish", content: "Done" };

  describe("has a maximum of running subtasks", () => {
    test("that counts unwritten ones too", async () => {
      const task = await claimMain();
      await run(task, async function* ({ subtask }) {
        if (!subtask) throw new Error("a main task has subtasks");
        const events = await Array.fromAsync({ length: livingMax }, async (_, i) =>
          use(await subtask({ message: `Part ${i}` })),
        );
        await expect(subtask({ message: "One more" })).rejects.toMatchObject({
          reason: "resource_exhausted",
        });
        yield { events };
        return done;
      });
      expect(await subtasksOf(task)).toHaveLength(livingMax);
    });

    test("that leaves out ended ones", async () => {
      const task = await claimMain();
      await run(task, async function* ({ subtask }) {
        if (!subtask) throw new Error("a main task has subtasks");
        yield {
          events: await Array.fromAsync({ length: livingMax }, async (_, i) =>
            use(await subtask({ message: `Part ${i}` })),
          ),
        };
        // Buffered events are written once the agent pauses.
        await new Promise((resolve) => setTimeout(resolve, 0));
        while ((await subtasksOf(task)).length < livingMax)
          await new Promise((resolve) => setImmediate(resolve));
        const [first] = await subtasksOf(task);
        await db.store.change((tx) =>
          tx.tasks.advance(first?.id ?? "", { now: clock.now(), set: { status: "stopped" } }),
        );
        yield { events: [use(await subtask({ message: "One more" }))] };
        return done;
      });
      expect(await subtasksOf(task)).toHaveLength(livingMax + 1);
    });
  });

  test("refuses one with a message that users could not send either", async () => {
    const task = await claimMain();
    await run(task, async function* ({ subtask }) {
      await expect(subtask?.({ message: " " })).rejects.toMatchObject({ reason: "invalid_argument" });
      await expect(subtask?.({ message: "é".repeat(5_001) })).rejects.toMatchObject({
        reason: "invalid_argument",
      });
      yield { events: [] };
      return done;
    });
    expect(await subtasksOf(task)).toEqual([]);
  });

  test("begins none after another process took the run", async () => {
    const task = await claimMain();
    await run(task, async function* ({ subtask }) {
      if (!subtask) throw new Error("a main task has subtasks");
      const begun = await subtask({ message: "Too late" });
      await db.store.change((tx) =>
        tx.tasks.advance(task.id, { now: clock.now(), set: { raiseFence: true } }),
      );
      yield { events: [use(begun)] };
      return done;
    });
    expect(await subtasksOf(task)).toEqual([]);
  });
});
