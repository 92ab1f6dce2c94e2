import { beforeAll, describe, expect, test } from "vitest";
import { TaskService } from "../../../src/gen/proto/task/v2/task_service_pb.ts";
import { describeOnOne } from "../../support/database.ts";
import { taskRig } from "../../support/task-rig.ts";
import { type CallV1, refusal, v1Of } from "./caller.ts";

describeOnOne("a task of v1", (database) => {
  const rig = taskRig({ database });
  let call: CallV1;
  beforeAll(() => {
    call = v1Of(rig.service, rig.ann);
  });

  describe("PUT /v1/tasks/{task_id}", () => {
    test("changes the title and nothing else, and answers without a link while the task is private", async () => {
      const id = await rig.create("[[forever]]", { hide_in_task_list: true });
      const { status, body } = await call(`PUT /v1/tasks/${id}`, { title: "Letters" });
      expect(status).toBe(200);
      expect(body).toEqual({
        task_id: id,
        task_title: "Letters",
        task_url: expect.stringMatching(new RegExp(`/app/${id}$`)),
      });
      expect(await rig.row(id)).toMatchObject({
        title: "Letters",
        hidden: true,
        shareVisibility: "private",
        status: "running",
      });
    });

    test.each([
      ["enableShared", "enableVisibleInTaskList"],
      ["enable_shared", "enable_visible_in_task_list"],
    ])("shares and shows by %s and %s, and undoes both", async (shared, visible) => {
      const id = await rig.create("[[forever]]", { hide_in_task_list: true });
      const open = await call(`PUT /v1/tasks/${id}`, { [shared]: true, [visible]: true });
      expect(open.body.share_url).toMatch(new RegExp(`/share/${id}$`));
      expect(await rig.row(id)).toMatchObject({ shareVisibility: "public", hidden: false });
      const closed = await call(`PUT /v1/tasks/${id}`, { [shared]: false, [visible]: false });
      expect(closed.body).not.toHaveProperty("share_url");
      expect(await rig.row(id)).toMatchObject({ shareVisibility: "private", hidden: true });
    });

    test("with an empty body, or unknown members, changes nothing", async () => {
      const id = await rig.create("[[forever]]", { title: "Letters" });
      for (const body of [undefined, {}, { status: "completed", prompt: "x", title: null }])
        expect(await call(`PUT /v1/tasks/${id}`, body)).toMatchObject({
          status: 200,
          body: { task_id: id, task_title: "Letters" },
        });
    });

    test("the id in the path overrides one in the body", async () => {
      const [id, other] = [await rig.create("[[forever]]"), await rig.create("[[forever]]")];
      expect((await call(`PUT /v1/tasks/${id}`, { task_id: other, title: "Letters" })).body.task_id).toBe(id);
      expect((await rig.row(other)).title).not.toBe("Letters");
    });

    test.each([
      [{ title: 5 }, 400, 3, /^title: must be a string/],
      [{ title: " " }, 400, 3, /^title: must not be empty/],
      [{ title: "a".repeat(256) }, 400, 3, /^title: /],
      [{ enableShared: "true" }, 400, 3, /^enable_shared: must be true or false/],
      [{ enable_visible_in_task_list: 1 }, 400, 3, /^enable_visible_in_task_list: must be true or false/],
    ])("refuses %j", async (body, status, code, named) => {
      const id = await rig.create("[[forever]]");
      expect(await call(`PUT /v1/tasks/${id}`, body)).toMatchObject({ status, body: refusal(code, named) });
    });
  });

  describe("DELETE /v1/tasks/{task_id}", () => {
    test.each([
      ["one that runs", "[[forever]]", "running"],
      ["one that waits", "[[ask Which?]]", "waiting"],
      ["one that is done", "Hello", "stopped"],
      ["one that failed", "[[fail internal | No]]", "error"],
    ] as const)("deletes %s permanently", async (_, prompt, reached) => {
      const id = await rig.create(prompt);
      await rig.reach(id, reached);
      const { status, body } = await call(`DELETE /v1/tasks/${id}`);
      expect({ status, body }).toEqual({ status: 200, body: { id, object: "task.deleted", deleted: true } });
      for (const at of [`GET /v1/tasks/${id}`, `PUT /v1/tasks/${id}`, `DELETE /v1/tasks/${id}`])
        expect(await call(at)).toMatchObject({ status: 404, body: refusal(5, /^task not found$/) });
    });

    test("refuses to delete an agent's task, by either id", async () => {
      const [main] = (await rig.ann.v2("task.detail", { task_id: "agent-default-main_task" })).body[
        "task"
      ].id.match(/.+/);
      for (const id of [main, "agent-default-main_task"])
        expect(await call(`DELETE /v1/tasks/${id}`)).toMatchObject({
          status: 400,
          body: refusal(9, /agent/),
        });
    });

    test("of another account's task is answered like that of an unknown one", async () => {
      const foreign = await rig.create("[[forever]]", {}, await rig.service.person());
      expect(await call(`DELETE /v1/tasks/${foreign}`)).toMatchObject({
        status: 404,
        body: refusal(5, /^task not found$/),
      });
      expect(await rig.row(foreign)).toMatchObject({ status: "running" });
    });
  });

  test("task.delete stops a running task only when requested, in the same transaction", async () => {
    const id = await rig.create("[[forever]]");
    await expect(rig.ann.client(TaskService).deleteTask({ taskId: id })).rejects.toThrow(/stop it first/);
    expect(await rig.row(id)).toMatchObject({ status: "running" });
    expect(await rig.ann.client(TaskService).deleteTask({ taskId: id, stop: true })).toMatchObject({
      id,
      deleted: true,
    });
    expect((await rig.ann.v2("task.detail", { task_id: id })).status).toBe(404);
  });

  test("v1 and v2 have the same tasks by the same ids (spec/clients.md 25)", async () => {
    const id = await rig.create("[[forever]]", { title: "From v2" });
    expect((await call(`GET /v1/tasks/${id}`)).body).toMatchObject({
      id,
      metadata: { task_title: "From v2" },
    });
    expect((await call("GET /v1/tasks?limit=1")).body.first_id).toBe(id);
    await call(`PUT /v1/tasks/${id}`, { title: "Renamed by v1" });
    expect((await rig.ann.v2("task.detail", { task_id: id })).body["task"]).toMatchObject({
      title: "Renamed by v1",
    });

    const { task_id } = (await call("POST /v1/tasks", { prompt: "[[forever]]" })).body;
    expect((await rig.ann.v2("task.list", { limit: 1 })).body["data"]).toMatchObject([
      { id: task_id, created_by_api_key: { id: rig.ann.keyId } },
    ]);
    await rig.ann.v2("task.update", { task_id, title: "Renamed by v2" });
    expect((await call(`GET /v1/tasks/${task_id}`)).body.metadata.task_title).toBe("Renamed by v2");
    await rig.ann.v2("task.stop", { task_id });
    expect((await call(`GET /v1/tasks/${task_id}`)).body.status).toBe("completed");
    const { body } = await rig.ann.v2("task.listMessages", { task_id, order: "asc", limit: 1 });
    expect((await call(`GET /v1/tasks/${task_id}`)).body.output[0].id).toBe(body["messages"][0].id);
  });
});
