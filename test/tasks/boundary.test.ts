import { Code } from "@connectrpc/connect";
import { beforeAll, describe, expect, test } from "vitest";
import { systemIds } from "../../src/core/ids.ts";
import { ContentPartType } from "../../src/gen/proto/task/v2/message_pb.ts";
import { TaskService } from "../../src/gen/proto/task/v2/task_service_pb.ts";
import { describeOnEach } from "../support/database.ts";
import { taskRig } from "../support/task-rig.ts";

/** Every operation that takes a task's id, with what else it needs. */
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

describeOnEach("a task that is not the caller's", (database) => {
  const rig = taskRig({ database });
  /** Ids that mean nothing to ann, by why. */
  let ids: Record<string, string>;
  /** Those of them that are somebody's. */
  let theirs: string[];
  beforeAll(async () => {
    const [colleague, stranger, solo] = await Promise.all([
      rig.service.person({ with: rig.ann, role: "admin" }),
      rig.service.person(),
      rig.service.person({ personal: true }),
    ]);
    const gone = await rig.finished();
    await rig.ann.v2("task.delete", { task_id: gone });
    const elsewhere = await rig.finished("hi", {}, solo);
    // A task of ann's account in another space is as far away as a stranger's.
    const copy = { ...(await rig.row(elsewhere)), id: systemIds.short(), accountId: rig.ann.accountId };
    await rig.service.store.change((tx) => tx.tasks.insert(copy, []));
    ids = {
      "a colleague's, shared with the team": await rig.finished("hi", { share_visibility: "team" }, colleague),
      "a stranger's, public": await rig.finished("hi", { share_visibility: "public" }, stranger),
      "her own in another space": copy.id,
      "her own, deleted": gone,
      "nobody's": systemIds.short(),
      "no id at all": "../task",
    };
    theirs = Object.entries(ids).flatMap(([why, id]) => (/colleague|stranger|other space/.test(why) ? [id] : []));
  });

  describe.each(operations)("%s", (name, body) => {
    test("answers as for an unknown id, whosever it is, and changes nothing", async () => {
      const before = await Promise.all(theirs.map(rig.row));
      for (const [why, task_id] of Object.entries(ids)) {
        const { status, body: answer } = await rig.ann.v2(name, { task_id, ...body });
        const { ok, error } = answer;
        expect({ status, ok, error }, why).toEqual({ status: 404, ok: false, error: { code: "not_found", message: "task not found" } });
      }
      expect(await Promise.all(theirs.map(rig.row))).toEqual(before);
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
      await expect(client.confirmAction({ taskId, eventId: "ev_1", input: { accept: true } })).rejects.toMatchObject(notFound);
    }
  });
});
