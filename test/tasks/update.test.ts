import { expect, test } from "vitest";
import { ShareVisibility } from "../../src/gen/proto/task/v2/task_pb.ts";
import { TaskService } from "../../src/gen/proto/task/v2/task_service_pb.ts";
import { describeOnOne } from "../support/database.ts";
import { invalid, taskRig } from "../support/task-rig.ts";
import { untilClaimed } from "../support/until.ts";

describeOnOne("task.update", (database) => {
  const rig = taskRig({ database });
  const update = async (id: string, edit: object) =>
    (await rig.ann.v2("task.update", { task_id: id, ...edit })).body;

  test("changes the title and returns the task's members, as task.create does", async () => {
    const id = await rig.runToEnd();
    expect(await update(id, { title: "Renamed" })).toStrictEqual({
      ok: true,
      request_id: expect.stringMatching(/^req_/),
      task_id: id,
      task_title: "Renamed",
      task_url: `https://platform.test/app/${id}`,
      share_visibility: "private",
    });
    expect(await rig.row(id)).toMatchObject({ title: "Renamed" });
  });

  test("share_url appears and disappears with the visibility", async () => {
    const id = await rig.runToEnd();
    expect(await update(id, { share_visibility: "public" })).toMatchObject({
      share_url: `https://platform.test/share/${id}`,
    });
    expect(await update(id, { title: "still public" })).toMatchObject({
      share_url: `https://platform.test/share/${id}`,
    });
    expect(await update(id, { share_visibility: "private" })).not.toHaveProperty("share_url");
  });

  test("share_visibility team takes effect as private without a team", async () => {
    const solo = await rig.service.person({ personal: true });
    const id = await rig.runToEnd("hi", { share_visibility: "public" }, solo);
    const { body } = await solo.v2("task.update", { task_id: id, share_visibility: "team" });
    expect(body).toMatchObject({ share_visibility: "private" });
    expect(await rig.row(id)).toMatchObject({ shareVisibility: "private" });
  });

  test("enable_visible_in_task_list is the opposite of hidden", async () => {
    const id = await rig.runToEnd("hi", { hide_in_task_list: true });
    const isHidden = async () =>
      (await rig.ann.v2("task.detail", { task_id: id })).body["task"].hide_in_task_list;
    expect(await isHidden()).toBe(true);
    for (const visible of [true, false]) {
      await update(id, { enable_visible_in_task_list: visible });
      expect(await rig.row(id)).toMatchObject({ hidden: !visible });
      expect(await isHidden()).toBe(!visible);
    }
  });

  test("omitted members stay, also with an empty body, null or an unknown member", async () => {
    const id = await rig.runToEnd("hi", { title: "Kept", share_visibility: "team", hide_in_task_list: true });
    for (const nothing of [
      {},
      { title: null, share_visibility: null, enable_visible_in_task_list: null },
      { hide_in_task_list: false },
    ]) {
      expect(await update(id, nothing)).toMatchObject({ task_title: "Kept", share_visibility: "team" });
    }
    expect(await rig.row(id)).toMatchObject({ title: "Kept", shareVisibility: "team", hidden: true });
  });

  test("changes nothing of a run, and adds no event", async () => {
    const id = await rig.create("[[forever]]");
    const { status, fence, nodeId, lastSeq, claims, messageSeq, consumedSeq } = await untilClaimed(
      rig.service.store,
      id,
    );
    await update(id, { title: "Renamed while it runs", share_visibility: "public" });
    expect(await rig.row(id)).toMatchObject({
      status,
      fence,
      nodeId,
      lastSeq,
      claims,
      messageSeq,
      consumedSeq,
      title: "Renamed while it runs",
    });
  });

  test("changes updated_at", async () => {
    const id = await rig.runToEnd();
    const { updatedAt } = await rig.row(id);
    await update(id, { title: "later" });
    expect((await rig.row(id)).updatedAt).toBeGreaterThan(updatedAt);
  });

  test.each<[why: string, edit: object, named: string]>([
    ["an empty title", { title: "" }, "title"],
    ["a blank title", { title: " \t" }, "title"],
    ["a title of 256 characters", { title: "t".repeat(256) }, "title"],
    ["a title of a wrong type", { title: 5 }, "title"],
    ["an unknown visibility", { share_visibility: "friends" }, "share_visibility"],
    ["a visibility of a wrong type", { share_visibility: true }, "share_visibility"],
    ["a boolean as text", { enable_visible_in_task_list: "true" }, "enable_visible_in_task_list"],
    ["an empty task_id", { task_id: "" }, "task_id"],
    ["a task_id of a wrong type", { task_id: 1 }, "task_id"],
    ["a task_id of 129 characters", { task_id: "a".repeat(129) }, "task_id"],
  ])("refuses %s and changes nothing", async (_why, edit, named) => {
    const id = await rig.runToEnd("hi", { title: "Kept" });
    const before = await rig.row(id);
    const reply = await rig.ann.v2("task.update", { task_id: id, share_visibility: "public", ...edit });
    expect(reply).toMatchObject(invalid(named));
    expect(await rig.row(id)).toEqual(before);
  });

  test("a title is trimmed", async () => {
    expect(await update(await rig.runToEnd(), { title: "  Renamed\n" })).toMatchObject({
      task_title: "Renamed",
    });
  });

  test("a title of 255 characters is accepted", async () => {
    expect(await update(await rig.runToEnd(), { title: "t".repeat(255) })).toMatchObject({ ok: true });
  });

  test.each(["connect-binary", "grpc-web"] as const)("returns on %s the same as on v2", async (wire) => {
    const id = await rig.runToEnd();
    const client = rig.ann.client(TaskService, wire);
    expect(
      await client.updateTask({ taskId: id, title: "Renamed", shareVisibility: ShareVisibility.PUBLIC }),
    ).toMatchObject({
      taskId: id,
      taskTitle: "Renamed",
      taskUrl: `https://platform.test/app/${id}`,
      shareUrl: `https://platform.test/share/${id}`,
      shareVisibility: ShareVisibility.PUBLIC,
    });
    const kept = await client.updateTask({ taskId: id, shareVisibility: ShareVisibility.UNSPECIFIED });
    expect(kept).toMatchObject({ taskTitle: "Renamed", shareVisibility: ShareVisibility.PUBLIC });
  });
});
