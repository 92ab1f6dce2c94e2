import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { systemIds } from "../../src/core/ids.ts";
import { TaskService } from "../../src/gen/proto/task/v2/task_service_pb.ts";
import { describeOnPostgres, nodesOf, openTestStore, type TestStore } from "../support/database.ts";
import { type DirectRow, runDirectly } from "../support/direct.ts";
import { openService, type Person, type Service } from "../support/service.ts";
import { invalid, taskRig } from "../support/task-rig.ts";
import { untilStatus } from "../support/until.ts";

describeOnPostgres("task.delete", (database) => {
  const rig = taskRig({ database });
  const remove = (id: string) => rig.ann.v2("task.delete", { task_id: id });

  test("returns only the id and that it is deleted", async () => {
    const id = await rig.runToEnd();
    const { status, body } = await remove(id);
    expect({ status, body }).toStrictEqual({
      status: 200,
      body: { ok: true, request_id: expect.stringMatching(/^req_/), id, deleted: true },
    });
  });

  test("a running task is refused and not changed", async () => {
    const id = await rig.create("[[forever]]");
    expect(await remove(id)).toMatchObject({
      status: 412,
      body: { ok: false, error: { code: "failed_precondition" } },
    });
    await expect(rig.ann.client(TaskService, "grpc").deleteTask({ taskId: id })).rejects.toMatchObject({
      code: Code.FailedPrecondition,
    });
    expect(await rig.row(id)).toMatchObject({ status: "running", lastSeq: 2 });
    await rig.ann.v2("task.stop", { task_id: id });
    expect(await remove(id)).toMatchObject({ status: 200 });
  });

  test("failed and waiting tasks can be deleted", async () => {
    const [failed, waits] = [await rig.create("[[fail internal]]"), await rig.runToEnd()];
    await rig.reach(failed, "error");
    await rig.force(waits, "waiting");
    for (const id of [failed, waits])
      expect(await remove(id)).toMatchObject({ status: 200, body: { deleted: true } });
  });

  test("a second deletion is not found", async () => {
    const id = await rig.runToEnd();
    await remove(id);
    expect(await remove(id)).toMatchObject({
      status: 404,
      body: { error: { code: "not_found", message: "task not found" } },
    });
  });

  test("deletes the events and stored answers: the same Idempotency-Key creates another task", async () => {
    const { store } = rig.service;
    const headers = { "idempotency-key": systemIds.short() };
    const create = async () =>
      (await rig.ann.v2("task.create", { message: { content: "hi" } }, { headers })).body["task_id"];
    const id = await create();
    expect(await create()).toBe(id);
    await untilStatus(store, id, "stopped");
    await remove(id);
    expect(await store.events.list(id, { order: "asc", limit: 10, verbose: true })).toEqual([]);
    const again = await create();
    expect(again).not.toBe(id);
    expect(await rig.row(again)).toMatchObject({ id: again });
  });

  test("a repeat with its Idempotency-Key returns the deletion again", async () => {
    const headers = { "idempotency-key": systemIds.short() };
    const id = await rig.runToEnd();
    const call = () => rig.ann.v2("task.delete", { task_id: id }, { headers });
    expect([await call(), await call()]).toMatchObject([
      { body: { id, deleted: true } },
      { body: { id, deleted: true } },
    ]);
  });

  test("a task that references it keeps working", async () => {
    const id = await rig.runToEnd();
    const { body } = await rig.ann.v2("task.create", { message: { content: "hi", task_references: [id] } });
    await rig.reach(body["task_id"], "stopped");
    await remove(id);
    await rig.send(body["task_id"], "again");
    expect(await rig.reach(body["task_id"], "stopped")).toMatchObject({ references: [id] });
  });

  test.each<[why: string, body: object]>([
    ["no task_id", {}],
    ["an empty one", { task_id: "" }],
    ["one of a wrong type", { task_id: true }],
    ["one of 129 characters", { task_id: "a".repeat(129) }],
  ])("refuses %s", async (_why, body) => {
    const reply = await rig.ann.v2("task.delete", body);
    expect(reply).toMatchObject(invalid("task_id"));
  });

  test("has the same effect over Connect as over v2", async () => {
    const id = await rig.runToEnd();
    expect(await rig.ann.client(TaskService, "connect-json").deleteTask({ taskId: id })).toMatchObject({
      id,
      deleted: true,
    });
    await expect(rig.ann.client(TaskService, "connect-json").getTask({ taskId: id })).rejects.toMatchObject({
      code: Code.NotFound,
    });
  });
});

describeOnPostgres("tombstone of a deleted task", (database) => {
  let opened: TestStore;
  let service: Service;
  beforeAll(async () => {
    opened = await openTestStore(database);
    service = await openService({ over: opened, nodes: nodesOf(database) });
  });
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
    await opened[Symbol.asyncDispose]();
  });

  const numberOf = (row: DirectRow, column: string): number | null =>
    row[column] === null ? null : Number(row[column]);

  /** The tombstone of a task with the ending that its message requests. */
  async function tombstone(
    who: Person,
    content: string,
    more: object = {},
  ): Promise<{ readonly before: DirectRow; readonly after: DirectRow; readonly now: number }> {
    const select = (id: string) => runDirectly(opened, `SELECT * FROM task WHERE id = '${id}'`);
    const message = { content, task_references: ["A".repeat(22)] };
    const { body } = await who.v2("task.create", {
      message,
      share_visibility: "public",
      hide_in_task_list: true,
      ...more,
    });
    const id = String(body["task_id"]);
    await untilStatus(service.store, id, content.startsWith("[[fail") ? "error" : "stopped");
    const [before] = await select(id);
    const now = Date.now();
    await who.v2("task.delete", { task_id: id });
    const [after] = await select(id);
    if (!before || !after) throw new Error("the row is gone");
    return { before, after, now };
  }

  test("for a team: the fields of its export, and the time of deletion", async () => {
    const who = await service.person();
    const project = (await who.v2("project.create", { name: "Post" })).body["project"].id;
    const { before, after, now } = await tombstone(who, "hi", { project_id: project, title: "Q3" });
    const kept = {
      title: "Q3",
      status: "stopped",
      project_id: project,
      share_visibility: "public",
      account_id: who.accountId,
      space_id: who.spaceId,
    };
    expect(after).toMatchObject({ id: before["id"], ...kept });
    for (const column of ["created_at", "last_message_at"])
      expect(numberOf(after, column)).toBe(numberOf(before, column));
    expect(numberOf(after, "deleted_at")).toBeGreaterThanOrEqual(now);
    expect(after).toMatchObject({
      task_references: "[]",
      agent_profile: "",
      locale: "",
      api_key_id: null,
      node_id: null,
    });
  });

  test("for a team a failed task stays failed", async () => {
    const { after } = await tombstone(await service.person(), "[[fail timeout]]");
    expect(after).toMatchObject({ status: "error" });
  });

  test("in a personal space: id and times, without messages or choices", async () => {
    const solo = await service.person({ personal: true });
    const project = (await solo.v2("project.create", { name: "Mine" })).body["project"].id;
    const { before, after, now } = await tombstone(solo, "[[fail timeout]]", {
      project_id: project,
      title: "Secret",
    });
    expect(after).toMatchObject({
      title: "",
      status: "stopped",
      project_id: null,
      share_visibility: "private",
      type: "standard",
      task_references: "[]",
      api_key_id: null,
    });
    expect(after["id"]).toBe(before["id"]);
    for (const column of ["created_at", "last_message_at"])
      expect(numberOf(after, column)).toBe(numberOf(before, column));
    expect(numberOf(after, "deleted_at")).toBeGreaterThanOrEqual(now);
  });

  test("no event, and no stored answer except the deletion's own", async () => {
    const who = await service.person();
    const headers = { "idempotency-key": systemIds.short() };
    const { body } = await who.v2("task.create", { message: { content: "hi" } }, { headers });
    await untilStatus(service.store, body["task_id"], "stopped");
    await who.v2("task.update", { task_id: body["task_id"], title: "t" }, { headers });
    await who.v2("task.delete", { task_id: body["task_id"] }, { headers });
    expect(
      await runDirectly(opened, `SELECT * FROM task_event WHERE task_id = '${body["task_id"]}'`),
    ).toEqual([]);
    const answers = await runDirectly(
      opened,
      `SELECT operation FROM idempotency_record WHERE subject = '${body["task_id"]}'`,
    );
    expect(answers).toEqual([{ operation: "task.v2.TaskService/DeleteTask" }]);
  });
});
