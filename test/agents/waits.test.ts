import { describe, expect, test } from "vitest";
import { describeOnOne, nodesOf } from "../support/database.ts";
import { taskRig } from "../support/task-rig.ts";
import { until } from "../support/until.ts";
import type { V2Body } from "../support/wires.ts";

/** The texts of status events, in order. */
const briefsIn = (events: readonly V2Body[]): readonly string[] =>
  events.flatMap(({ status_update }) => (status_update ? [status_update.brief as string] : []));

// What people see of a wait: spec/api.md 8.81, spec/decisions.md 99.
describeOnOne("a task that waits for its subtasks", (database) => {
  const rig = taskRig({ database, nodes: nodesOf(database) });
  const detail = async (task_id: string) => (await rig.ann.v2("task.detail", { task_id })).body["task"];
  const subtasksOf = async (parent_task_id: string) =>
    ((await rig.ann.v2("task.list", { parent_task_id })).body["data"] as readonly V2Body[]).toSorted((a, b) =>
      a["title"].localeCompare(b["title"]),
    );
  const waits = (id: string) => until(rig.service.store, id, ({ nodeId }) => nodeId === "subtasks");
  const resultOf = async (id: string) =>
    (await rig.events(id)).flatMap(({ tool_used }) =>
      tool_used?.tool === "wait_for_subtasks" ? [tool_used.result] : [],
    );
  const say = (id: string, content: string) =>
    rig.ann.v2("task.sendMessage", { task_id: id, message: { content } });

  test("keeps running, without a place in the queue, and continues when all have ended", async () => {
    const id = await rig.create("[[subtask A [[forever]]]] [[subtask B]] [[wait all]] [[say Done]]");
    await waits(id);
    const [first, second] = await subtasksOf(id);
    await rig.reach(second?.["id"], "stopped");
    expect(await detail(id)).toMatchObject({
      ...{
        status: "running",
        run_state: "waiting_for_subtasks",
        has_running_background_jobs: true,
        brief: "Waits for 2 subtasks",
      },
      subtasks: { running: 1, waiting: 0, stopped: 1, error: 0 },
    });
    expect(await detail(id)).not.toHaveProperty("queued_at");
    expect(first).toMatchObject({
      task_type: "agent_subtask",
      parent_task_id: id,
      root_task_id: id,
      has_running_background_jobs: false,
    });
    await rig.ann.v2("task.stop", { task_id: first?.["id"] });
    await rig.reach(id, "stopped");
    const events = await rig.events(id);
    expect(briefsIn(events)).toEqual([
      "Working on it",
      "Waits for 2 subtasks",
      "Continues: 2 of 2 subtasks ended",
      "Done",
    ]);
    const [{ reason, subtasks }] = await resultOf(id);
    expect(reason).toBe("ended");
    expect(subtasks.toSorted((a: V2Body, b: V2Body) => a["title"].localeCompare(b["title"]))).toEqual([
      { task_id: first?.["id"], title: "A [[forever]]", status: "stopped", said: "" },
      { task_id: second?.["id"], title: "B", status: "stopped", said: expect.stringContaining("B") },
    ]);
    expect(await detail(id)).toMatchObject({
      has_running_background_jobs: false,
      subtasks: { running: 0, stopped: 2 },
    });
  });

  test("continues once when two end at the same time and it waits for any", async () => {
    const id = await rig.create(
      "[[subtask [[ask A?]]]] [[subtask [[ask B?]]]] [[wait any]] [[say Done]] [[wait all]] [[say All]]",
    );
    const subtasks = await subtasksOf((await waits(id)).id);
    for (const subtask of subtasks) await rig.reach(subtask["id"], "waiting");
    await Promise.all(subtasks.map((subtask) => say(subtask["id"], "Yes")));
    await rig.reach(id, "stopped");
    const [any, all, ...others] = await resultOf(id);
    expect(others).toEqual([]);
    expect(any.subtasks).toHaveLength(2);
    expect(all.subtasks.every(({ status }: V2Body) => status === "stopped")).toBe(true);
    expect(
      (await rig.events(id)).filter(({ assistant_message }) => assistant_message?.content === "Done"),
    ).toHaveLength(1);
  });

  test("does not wait without a subtask that has not ended", async () => {
    const id = await rig.runToEnd("[[wait all]] [[wait any]] [[say Done]]");
    expect(await resultOf(id)).toEqual([
      { reason: "ended", subtasks: [] },
      { reason: "ended", subtasks: [] },
    ]);
  });

  test("continues after the time of the wait, and the subtasks continue", async () => {
    const id = await rig.runToEnd("[[subtask [[forever]]]] [[wait all | 0.1]] [[say Done]]");
    expect(await resultOf(id)).toMatchObject([{ reason: "timeout", subtasks: [{ status: "running" }] }]);
    expect(await detail(id)).toMatchObject({ status: "stopped", has_running_background_jobs: true });
    await rig.ann.v2("task.stop", { task_id: id });
    await rig.reach((await subtasksOf(id))[0]?.["id"], "stopped");
    expect(await detail(id)).toMatchObject({
      status: "stopped",
      has_running_background_jobs: false,
      outcome: "finished",
    });
  });

  test("continues with a message of the user, and answers it in the next turn", async () => {
    const id = await rig.create("[[subtask [[forever]]]] [[wait all]] [[say First]]");
    await waits(id);
    await say(id, "[[say Second]]");
    await rig.reach(id, "stopped");
    expect(await resultOf(id)).toMatchObject([{ reason: "message", subtasks: [{ status: "running" }] }]);
    const said = (await rig.events(id)).flatMap(({ assistant_message }) => assistant_message?.content ?? []);
    expect(said).toEqual(["First", "Second"]);
  });

  describe("that is stopped", () => {
    const three =
      "[[subtask A [[subtask [[subtask [[forever]]]] [[wait all]]]] [[wait all]]]] [[subtask B [[ask Which?]]]] [[wait all]]";
    /** The whole tree, once it waits: the subtasks at depth 1, 2 and 3, and one that waits for the user. */
    async function tree(): Promise<{ readonly id: string; readonly below: readonly string[] }> {
      const id = await rig.create(three);
      const [first, asks] = await subtasksOf((await waits(id)).id);
      const [second] = await subtasksOf((await waits(first?.["id"])).id);
      const [third] = await subtasksOf((await waits(second?.["id"])).id);
      await rig.reach(asks?.["id"], "waiting");
      return { id, below: [first, second, third, asks].map((task) => task?.["id"]) };
    }

    test("stops its subtasks at every depth", async () => {
      const { id, below } = await tree();
      expect(await rig.row(below[2] ?? "")).toMatchObject({ depth: 3, rootId: id, parentId: below[1] });
      expect(await detail(id)).toMatchObject({
        subtasks: { running: 1, waiting: 1 },
        has_running_background_jobs: true,
      });
      await rig.ann.v2("task.stop", { task_id: id });
      for (const subtask of below) await rig.reach(subtask, "stopped");
      for (const each of [id, ...below])
        expect((await rig.events(each)).filter(({ type }) => type === "user_stop")).toHaveLength(1);
    });

    test("stops them too when it is deleted, and they stay", async () => {
      const { id, below } = await tree();
      expect((await rig.ann.v2("task.delete", { task_id: id })).status).toBe(412);
      expect((await rig.ann.v2("task.delete", { task_id: id, stop: true })).status).toBe(200);
      for (const subtask of below) await rig.reach(subtask, "stopped");
      expect(await detail(below[0] ?? "")).toMatchObject({ status: "stopped", parent_task_id: id });
    });

    test("does not stop subtasks that a later turn starts", async () => {
      const id = await rig.create("[[subtask A [[forever]]]] [[wait all]]");
      await waits(id);
      await rig.ann.v2("task.stop", { task_id: id });
      await say(id, "[[subtask B [[forever]]]] [[wait all]]");
      await waits(id);
      const [old, young] = await subtasksOf(id);
      await rig.reach(old?.["id"], "stopped");
      expect(await rig.row(young?.["id"])).toMatchObject({ status: "running" });
      await rig.ann.v2("task.stop", { task_id: id });
      await rig.reach(young?.["id"], "stopped");
    });

    test("ends in one state, also while a subtask ends", async () => {
      for (let round = 0; round < 5; round += 1) {
        const id = await rig.create(
          "[[subtask [[ask A?]]]] [[subtask [[ask B?]]]] [[wait any]] [[say Done]]",
        );
        const subtasks = await subtasksOf((await waits(id)).id);
        for (const subtask of subtasks) await rig.reach(subtask["id"], "waiting");
        await Promise.all([
          rig.ann.v2("task.stop", { task_id: id }),
          ...subtasks.map((subtask) => say(subtask["id"], "Yes")),
        ]);
        for (const subtask of subtasks)
          await until(rig.service.store, subtask["id"], ({ status }) => status === "stopped");
        await rig.reach(id, "stopped");
        const events = await rig.events(id);
        expect(
          events.filter(({ type, status_update }) => type === "user_stop" || status_update?.brief === "Done")
            .length,
        ).toBeGreaterThan(0);
        expect(await rig.row(id)).toMatchObject({ status: "stopped", nodeId: null });
      }
    });
  });

  test("continues when the subtask that it waits for is deleted", async () => {
    const id = await rig.create(
      "[[subtask A [[forever]]]] [[subtask B [[ask Which?]]]] [[wait all]] [[say Done]]",
    );
    const subtasks = await subtasksOf((await waits(id)).id);
    await rig.reach(subtasks[1]?.["id"], "waiting");
    for (const subtask of subtasks) await rig.ann.v2("task.delete", { task_id: subtask["id"], stop: true });
    await rig.reach(id, "stopped");
    expect(await resultOf(id)).toMatchObject([
      { reason: "ended", subtasks: [{ title: "", status: "stopped" }, { title: "" }] },
    ]);
  });
});
