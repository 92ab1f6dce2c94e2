import { describe, expect, test } from "vitest";
import { ensureDefaultAgents } from "../../src/core/agents/agent.ts";
import { systemIds } from "../../src/core/ids.ts";
import { describeOnOne } from "../support/database.ts";
import type { Person } from "../support/service.ts";
import { invalid, taskRig } from "../support/task-rig.ts";

const shortcut = "agent-default-main_task";

describeOnOne("the default agent's main task (spec/api.md 6, 8, 9.11)", (database) => {
  const rig = taskRig({ database });
  const mainTask = async (person: Person) =>
    (await person.v2("task.detail", { task_id: shortcut })).body["task"];
  const listed = async (person: Person, body: object = {}) =>
    (await person.v2("task.list", body)).body["data"].map(({ id }: { id: string }) => id);

  test("exists from the start, idle and empty, as a standard task", async () => {
    const person = await rig.service.person();
    const task = await mainTask(person);
    expect(task).toMatchObject({
      status: "stopped",
      task_type: "standard",
      share_visibility: "private",
      agent_profile: "manus-1.6",
    });
    expect(task).not.toHaveProperty("created_by_api_key");
    const { body } = await person.v2("task.listMessages", { task_id: shortcut });
    expect(body).toMatchObject({ task_id: task.id, messages: [], has_more: false, last_seq: 0 });
  });

  test("is one per account and space: a colleague has another one, and so has the same person in another space", async () => {
    const person = await rig.service.person();
    const people = [
      person,
      await rig.service.person({ with: person }),
      await rig.service.person({ as: person }),
    ];
    const ids = await Promise.all(people.map(async (who) => (await mainTask(who)).id));
    expect(new Set(ids).size).toBe(3);
    expect((await person.v2("task.detail", { task_id: ids[1] })).status).toBe(404);
  });

  test("continues with every message: each is a turn, under the shortcut as under its id", async () => {
    const person = await rig.service.person();
    const { id } = await mainTask(person);
    for (const [nth, task_id] of [shortcut, id].entries()) {
      const { body } = await person.v2("task.sendMessage", {
        task_id,
        message: { content: `[[say Hello ${nth}]]` },
      });
      expect(body).toMatchObject({ ok: true, task_id: id });
      await rig.reach(id, "stopped");
    }
    const { body } = await person.v2("task.listMessages", { task_id: shortcut, order: "asc" });
    const texts = body["messages"].flatMap(
      (event: { assistant_message?: { content: string } }) => event.assistant_message?.content ?? [],
    );
    expect(texts).toEqual(expect.arrayContaining(["Hello 0", "Hello 1"]));
  });

  test("is updated, stopped, read and confirmed under the shortcut; answers have its id", async () => {
    const person = await rig.service.person();
    const { id } = await mainTask(person);
    const updated = await person.v2("task.update", { task_id: shortcut, title: "Errands" });
    expect(updated.body).toMatchObject({ task_id: id, task_title: "Errands" });
    await person.v2("task.sendMessage", {
      task_id: shortcut,
      message: { content: "[[confirm deployAction]] [[forever]]" },
    });
    await rig.reach(id, "waiting");
    const { body } = await person.v2("task.listMessages", { task_id: shortcut, limit: 1 });
    const event_id = body["messages"][0].status_update.status_detail.waiting_for_event_id;
    const confirmed = await person.v2("task.confirmAction", {
      task_id: shortcut,
      event_id,
      input: { accept: true },
    });
    expect(confirmed.body).toMatchObject({ ok: true, task_id: id, confirmed: true });
    expect((await person.v2("task.stop", { task_id: shortcut })).status).toBe(200);
    expect(await rig.row(id)).toMatchObject({ status: "stopped", title: "Errands" });
  });

  test("cannot be deleted, under the shortcut or its id", async () => {
    const person = await rig.service.person();
    const { id } = await mainTask(person);
    for (const task_id of [shortcut, id]) {
      expect(await person.v2("task.delete", { task_id })).toMatchObject({
        status: 412,
        body: { error: { code: "failed_precondition" } },
      });
    }
    expect((await mainTask(person)).id).toBe(id);
  });

  test("is refused as a task reference (spec/api.md 9.8)", async () => {
    const message = { content: "hi", task_references: [shortcut] };
    expect(await rig.ann.v2("task.create", { message })).toMatchObject(invalid("message.task_references[0]"));
  });

  describe("in lists", () => {
    test("is missing before its first message, and then appears in every scope except standard", async () => {
      const person = await rig.service.person();
      expect(await listed(person)).toEqual([]);
      await person.v2("task.sendMessage", { task_id: shortcut, message: { content: "Hello" } });
      const { id } = await mainTask(person);
      expect(await listed(person)).toEqual([id]);
      expect(await listed(person, { scope: "standard" })).toEqual([]);
      expect(await listed(person, { agent_id: "agent-default" })).toEqual([id]);
    });

    test("an agent's subtasks are listed by the agent, accept the operations of a task, and cannot be deleted", async () => {
      const person = await rig.service.person();
      const { id: main } = await mainTask(person);
      const plain = await rig.runToEnd("Hello", {}, person);
      const { agentId } = await rig.row(main);
      const subtask = {
        ...(await rig.row(plain)),
        id: systemIds.short(),
        agentId,
        type: "agent_subtask" as const,
      };
      await rig.service.store.change((tx) => tx.tasks.insert(subtask, []));
      for (const agent_id of ["agent-default", agentId]) {
        expect(await listed(person, { scope: "agent_subtask", agent_id })).toEqual([subtask.id]);
      }
      expect(await listed(person, { scope: "agent_subtask", agent_id: systemIds.uuid() })).toEqual([]);
      expect(await listed(rig.ann, { scope: "agent_subtask", agent_id: agentId })).toEqual([]);
      expect((await listed(person)).toSorted()).toEqual([plain, subtask.id].toSorted());
      await person.v2("task.sendMessage", { task_id: subtask.id, message: { content: "[[forever]]" } });
      expect((await person.v2("task.stop", { task_id: subtask.id })).status).toBe(200);
      expect((await person.v2("task.delete", { task_id: subtask.id })).status).toBe(412);
    });
  });

  test("is not available to an app: a token for the app's own tasks cannot access it (spec/api.md 2.2)", async () => {
    const { accountId, spaceId } = rig.ann;
    const { store } = rig.service;
    expect(await store.tasks.find({ accountId, spaceId }, shortcut)).not.toBeNull();
    expect(await store.tasks.find({ accountId, spaceId, clientId: "app" }, shortcut)).toBeNull();
  });

  test("is created once for accounts of an earlier release too", async () => {
    const person = await rig.service.person();
    const { store } = rig.service;
    const ensure = () => store.change((tx) => ensureDefaultAgents(tx, { now: 1, ids: systemIds }));
    await ensure();
    const before = (await mainTask(person)).id;
    await Promise.all(Array.from({ length: 5 }, ensure));
    expect((await mainTask(person)).id).toBe(before);
    expect(await store.agents.withoutDefault(9)).toEqual([]);
  });
});
