import { expect, test } from "vitest";
import { TaskOrder, TaskStatus } from "../../src/gen/proto/task/v2/task_pb.ts";
import { TaskService } from "../../src/gen/proto/task/v2/task_service_pb.ts";
import { describeOnOne } from "../support/database.ts";
import { taskRig } from "../support/task-rig.ts";
import { rpcWires } from "../support/wires.ts";

describeOnOne("metadata of a task", (database) => {
  const rig = taskRig({ database, idle: true });
  const metadataOf = async (task_id: string) =>
    (await rig.ann.v2("task.detail", { task_id })).body["task"].metadata;
  const update = (task_id: string, metadata: object) => rig.ann.v2("task.update", { task_id, metadata });

  test("is returned by task.detail and task.list, and absent when there is none", async () => {
    const labels = { ticket: "42", "team.name": "gärten 庭", __proto__x: "1" };
    const id = await rig.create("Go", { metadata: labels });
    expect(await metadataOf(id)).toEqual(labels);
    const { body } = await rig.ann.v2("task.list", { metadata: { ticket: "42" } });
    expect(body["data"]).toMatchObject([{ id, metadata: labels }]);
    const plain = (await rig.ann.v2("task.detail", { task_id: await rig.create("Go") })).body["task"];
    expect(plain).not.toHaveProperty("metadata");
  });

  test("keeps a key that is also a member of every JavaScript object", async () => {
    const metadata = JSON.parse('{"__proto__":"a","constructor":"b","toString":"c"}');
    const id = await rig.create("Go", { metadata });
    expect(JSON.stringify(await metadataOf(id))).toBe(JSON.stringify(metadata));
    const { body } = await rig.ann.v2("task.list", JSON.parse('{"metadata":{"__proto__":"a"}}'));
    expect(body["data"].map((task: { id: string }) => task.id)).toEqual([id]);
  });

  test("is merged by task.update, and an empty text removes a pair", async () => {
    const id = await rig.create("Go", { metadata: { ticket: "42", colour: "red", none: "" } });
    expect(await metadataOf(id)).toEqual({ ticket: "42", colour: "red" });
    expect((await update(id, { colour: "blue", shade: "dark" })).status).toBe(200);
    expect(await metadataOf(id)).toEqual({ ticket: "42", colour: "blue", shade: "dark" });
    await update(id, { ticket: "", shade: "" });
    expect(await metadataOf(id)).toEqual({ colour: "blue" });
    await rig.ann.v2("task.update", { task_id: id, title: "Other" });
    expect(await metadataOf(id)).toEqual({ colour: "blue" });
    await update(id, { colour: "" });
    expect(await metadataOf(id)).toBeUndefined();
  });

  test("has at most 16 pairs after a change: one more changes nothing", async () => {
    const pairs = (from: number, count: number, value = "x") =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`key-${from + n}`, value]));
    const id = await rig.create("Go", { metadata: pairs(0, 16) });
    expect(await update(id, pairs(16, 1))).toMatchObject({
      status: 400,
      body: { error: { code: "invalid_argument", message: "metadata: a task has at most 16 pairs" } },
    });
    expect(await metadataOf(id)).toEqual(pairs(0, 16));
    expect((await update(id, { ...pairs(0, 16, ""), ...pairs(16, 16) })).status).toBe(200);
    expect(await metadataOf(id)).toEqual(pairs(16, 16));
  });

  test.each([
    ["17 pairs", Object.fromEntries(Array.from({ length: 17 }, (_, n) => [`k${n}`, "x"])), /^metadata: .*16/],
    ["a key with a space", { "a b": "x" }, /^metadata\["a b"\]: /],
    ["an empty key", { "": "x" }, /^metadata\[""\]: /],
    ["a key of 65 characters", { ["k".repeat(65)]: "x" }, /^metadata\["k+…?"\]: .*64/],
    ["a value of 513 characters", { key: "🌱".repeat(513) }, /^metadata\["key"\]: .*512/],
    ["a number as value", { key: 5 }, /^metadata\["key"\]: /],
  ])("is refused with %s, with the pair and the rule", async (_what, metadata, message) => {
    const { status, body } = await rig.ann.v2("task.create", { message: { content: "Go" }, metadata });
    expect([status, body.error?.code]).toEqual([400, "invalid_argument"]);
    expect(body.error?.message).toMatch(message);
  });

  test("filters lists with all of its pairs, in a body and in a query", async () => {
    const who = await rig.service.person();
    const create = (metadata: object) => rig.create("Go", { metadata }, who);
    const [both, first] = [await create({ a: "1", b: "2" }), await create({ a: "1", b: "3" })];
    await create({ a: "2", b: "2" });
    const ids = (reply: { readonly body: Record<string, { id: string }[]> }) =>
      reply.body["data"]?.map(({ id }) => id);
    expect(ids(await who.v2("task.list", { metadata: { a: "1" } }))).toEqual([first, both]);
    expect(ids(await who.v2("task.list", { metadata: { a: "1", b: "2" } }))).toEqual([both]);
    const query = { "metadata[a]": "1", "metadata[b]": "2", status: "running", order_by: "updated_at" };
    const reply = await who.v2("task.list", query, { method: "GET" });
    expect(ids(reply)).toEqual([both]);
    expect(reply.body).not.toHaveProperty("warnings");
    expect(ids(await rig.ann.v2("task.list", { metadata: { a: "1" } }))).toEqual([]);
    for (const wire of rpcWires) {
      const { data } = await who
        .client(TaskService, wire)
        .listTasks({ metadata: { a: "1" }, status: TaskStatus.RUNNING });
      expect(data.map(({ id, metadata }) => [id, metadata])).toEqual([
        [first, { a: "1", b: "3" }],
        [both, { a: "1", b: "2" }],
      ]);
    }
  });

  test.each([
    ["five pairs", { metadata: { a: "1", b: "1", c: "1", d: "1", e: "1" } }],
    ["an empty value", { metadata: { a: "" } }],
    ["text instead of pairs", { metadata: "a" }],
  ])("is refused as a filter with %s", async (_what, body) => {
    expect((await rig.ann.v2("task.list", body)).status).toBe(400);
  });

  test("is not in the audit log: it has only the changed keys", async () => {
    const id = await rig.create("Go", { metadata: { secret: "hunter2" } });
    await update(id, { secret: "hunter3" });
    const { body } = await rig.ann.v2("audit.list", {});
    expect(JSON.stringify(body)).not.toMatch(/hunter/);
  });

  test("lists by last change: a changed task comes first", async () => {
    const who = await rig.service.person();
    const [one, two] = [await rig.create("One", {}, who), await rig.create("Two", {}, who)];
    await who.v2("task.update", { task_id: one, title: "Changed" });
    const { data } = await who.client(TaskService).listTasks({ orderBy: TaskOrder.UPDATED_AT });
    expect(data.map(({ id }) => id)).toEqual([one, two]);
    expect((await who.client(TaskService).listTasks({})).data.map(({ id }) => id)).toEqual([two, one]);
  });
});
