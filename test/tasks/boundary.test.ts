import { Code } from "@connectrpc/connect";
import { beforeAll, describe, expect, test } from "vitest";
import { systemIds } from "../../src/core/ids.ts";
import { ContentPartType } from "../../src/gen/proto/task/v2/message_pb.ts";
import { TaskService } from "../../src/gen/proto/task/v2/task_service_pb.ts";
import { describeOnOne } from "../support/database.ts";
import { taskRig } from "../support/task-rig.ts";

/** Every operation with a task id, with its other input. */
const operations: readonly (readonly [name: string, body: object])[] = [
  ["task.detail", {}],
  ["task.update", { title: "Taken" }],
  ["task.stop", {}],
  ["task.delete", {}],
  ["task.sendMessage", { message: { content: "hi" } }],
  ["task.listMessages", {}],
  ["task.confirmAction", { event_id: "ev_1", input: { accept: true } }],
];

const message = { content: [{ type: ContentPartType.TEXT, text: "hi" }] };

describeOnOne("a task that is not the caller's", (database) => {
  const rig = taskRig({ database });
  /** Ids that ann cannot use, by the reason. */
  let ids: Record<string, string>;
  /** Those that belong to another account. */
  let othersIds: string[];
  beforeAll(async () => {
    const [colleague, outsider, personalUser] = await Promise.all([
      rig.service.person({ with: rig.ann, role: "admin" }),
      rig.service.person(),
      rig.service.person({ personal: true }),
    ]);
    const deletedId = await rig.runToEnd();
    await rig.ann.v2("task.delete", { task_id: deletedId });
    const elsewhere = await rig.runToEnd("hi", {}, personalUser);
    // A task of ann's account in another space is as inaccessible as another account's.
    const copy = { ...(await rig.row(elsewhere)), id: systemIds.short(), accountId: rig.ann.accountId };
    await rig.service.store.change((tx) => tx.tasks.insert(copy, []));
    ids = {
      "a colleague's, shared with the team": await rig.runToEnd(
        "hi",
        { share_visibility: "team" },
        colleague,
      ),
      "another account's, public": await rig.runToEnd("hi", { share_visibility: "public" }, outsider),
      "her own in another space": copy.id,
      "her own, deleted": deletedId,
      unknown: systemIds.short(),
      "not an id": "../task",
    };
    othersIds = Object.entries(ids).flatMap(([why, id]) =>
      /colleague|another account|other space/.test(why) ? [id] : [],
    );
  });

  describe.each(operations)("%s", (name, body) => {
    test("answers as for an unknown id, for any owner, and changes nothing", async () => {
      const before = await Promise.all(othersIds.map(rig.row));
      for (const [why, task_id] of Object.entries(ids)) {
        const { status, body: answer } = await rig.ann.v2(name, { task_id, ...body });
        const { ok, error } = answer;
        expect({ status, ok, error }, why).toMatchObject({
          status: 404,
          ok: false,
          error: { code: "not_found", message: "task not found" },
        });
      }
      expect(await Promise.all(othersIds.map(rig.row))).toEqual(before);
    });
  });

  test("is not found over gRPC either", async () => {
    const client = rig.ann.client(TaskService, "grpc");
    const notFound = { code: Code.NotFound, rawMessage: "task not found" };
    for (const taskId of Object.values(ids)) {
      await expect(client.getTask({ taskId })).rejects.toMatchObject(notFound);
      await expect(client.updateTask({ taskId, title: "Taken" })).rejects.toMatchObject(notFound);
      await expect(client.stopTask({ taskId })).rejects.toMatchObject(notFound);
      await expect(client.deleteTask({ taskId })).rejects.toMatchObject(notFound);
      await expect(client.sendMessage({ taskId, message })).rejects.toMatchObject(notFound);
      await expect(client.listMessages({ taskId })).rejects.toMatchObject(notFound);
      await expect(
        client.confirmAction({ taskId, eventId: "ev_1", input: { accept: true } }),
      ).rejects.toMatchObject(notFound);
    }
  });
});
