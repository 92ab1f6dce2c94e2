import { afterAll, beforeAll, expect, test } from "vitest";
import { systemIds } from "../../src/core/ids.ts";
import type { Task } from "../../src/core/tasks/task.ts";
import { ShareVisibility, TaskStatus, TaskType } from "../../src/gen/proto/task/v2/task_pb.ts";
import { TaskService } from "../../src/gen/proto/task/v2/task_service_pb.ts";
import { describeOnOne, nodesOf, openTestStore, type TestStore } from "../support/database.ts";
import { runDirectly } from "../support/direct.ts";
import { openService, type Person, type Service } from "../support/service.ts";
import { invalid, taskRig } from "../support/task-rig.ts";

describeOnOne("task.detail", (database) => {
  const rig = taskRig({ database });
  const detail = async (id: string) => (await rig.ann.v2("task.detail", { task_id: id })).body;

  /** A copy of a task with some changes. */
  async function copyOf(id: string, other: Partial<Task>): Promise<string> {
    const copy = { ...(await rig.row(id)), ...other, id: systemIds.short() };
    await rig.service.store.change((tx) => tx.tasks.insert(copy, []));
    return copy.id;
  }

  test("shows the specified members of a task, times in seconds, and nothing else", async () => {
    const before = Math.floor(Date.now() / 1000);
    const id = await rig.runToEnd("Say hello");
    const row = await rig.row(id);
    const { task, ...rest } = await detail(id);
    expect(rest).toStrictEqual({
      ok: true,
      request_id: expect.stringMatching(/^req_/),
      last_seq: row.lastSeq,
      read_seq: row.consumedSeq,
    });
    expect(task).toStrictEqual({
      id,
      status: "stopped",
      created_at: Math.floor(row.createdAt / 1000),
      updated_at: Math.floor(row.updatedAt / 1000),
      task_type: "standard",
      share_visibility: "private",
      title: "Say hello",
      task_url: `https://platform.test/app/${id}`,
      created_by_api_key: { id: rig.ann.keyId, name: "test" },
      agent_profile: "manus-1.6",
      has_running_background_jobs: false,
      hide_in_task_list: false,
      created_by: { account_id: rig.ann.accountId },
      last_seq: row.lastSeq,
      brief: "Done",
      plan_progress: { done: 2, total: 2 },
      outcome: "finished",
    });
    expect(task.created_at).toBeGreaterThanOrEqual(before);
    expect(task.updated_at).toBeGreaterThanOrEqual(task.created_at);
  });

  test("a task made without a key has no created_by_api_key", async () => {
    const id = await copyOf(await rig.runToEnd(), { apiKeyId: null });
    expect((await detail(id))["task"]).not.toHaveProperty("created_by_api_key");
  });

  test("credit_usage appears once credits were spent", async () => {
    const id = await copyOf(await rig.runToEnd(), { credits: 42 });
    expect((await detail(id))["task"]).toMatchObject({ credit_usage: 42 });
  });

  test("the status is the agent's, in the specified values", async () => {
    const [runs, ends, fails] = [
      await rig.create("[[forever]]"),
      await rig.runToEnd(),
      await rig.create("[[fail quota_limit]]"),
    ];
    const waits = await rig.runToEnd();
    await rig.force(waits, "waiting");
    await rig.reach(fails, "error");
    const statuses = await Promise.all(
      [runs, ends, fails, waits].map(async (id) => (await detail(id))["task"].status),
    );
    expect(statuses).toEqual(["running", "stopped", "error", "waiting"]);
  });

  test("agent_profile is that of the latest turn", async () => {
    const id = await rig.runToEnd("hi", { agent_profile: "lite" });
    expect((await detail(id))["task"]).toMatchObject({ agent_profile: "manus-1.6-lite" });
    await rig.send(id, "again", { agent_profile: "max" });
    expect((await detail(id))["task"]).toMatchObject({ agent_profile: "manus-1.6-max" });
  });

  test("last_seq is the number of events, verbose ones included", async () => {
    const id = await rig.runToEnd("One. Two.");
    expect((await detail(id))["last_seq"]).toBe((await rig.events(id)).length);
  });

  test("GET returns the same as POST", async () => {
    const id = await rig.runToEnd();
    const { body } = await rig.ann.v2("task.detail", { task_id: id }, { method: "GET" });
    expect(body["task"]).toEqual((await detail(id))["task"]);
  });

  test.each<[why: string, body: object, named: string]>([
    ["no task_id", {}, "task_id"],
    ["an empty one", { task_id: "" }, "task_id"],
    ["one of a wrong type", { task_id: 7 }, "task_id"],
    ["one of 129 characters", { task_id: "a".repeat(129) }, "task_id"],
    ["after_seq below 0", { task_id: "a", after_seq: -1 }, "after_seq"],
    ["after_seq as text", { task_id: "a", after_seq: "1" }, "after_seq"],
    ["wait_seconds above 60", { task_id: "a", wait_seconds: 61 }, "wait_seconds"],
    ["wait_seconds below 0", { task_id: "a", wait_seconds: -1 }, "wait_seconds"],
    ["fractional wait_seconds", { task_id: "a", wait_seconds: 0.5 }, "wait_seconds"],
  ])("refuses %s", async (_why, body, named) => {
    const reply = await rig.ann.v2("task.detail", body);
    expect(reply).toMatchObject(invalid(named));
  });

  test.each(["connect-json", "grpc"] as const)("returns on %s the same as on v2", async (wire) => {
    const id = await rig.runToEnd();
    const { task } = await detail(id);
    const { task: message, lastSeq } = await rig.ann.client(TaskService, wire).getTask({ taskId: id });
    expect(lastSeq).toBe((await rig.row(id)).lastSeq);
    expect(message).toMatchObject({
      id,
      status: TaskStatus.STOPPED,
      createdAt: BigInt(task.created_at),
      updatedAt: BigInt(task.updated_at),
      taskType: TaskType.STANDARD,
      shareVisibility: ShareVisibility.PRIVATE,
      title: "Say hello",
      taskUrl: task.task_url,
      createdByApiKey: { id: rig.ann.keyId, name: "test" },
      agentProfile: "manus-1.6",
      hasRunningBackgroundJobs: false,
    });
    expect(message?.creditUsage).toBeUndefined();
  });
});

describeOnOne("created_by_api_key", (database) => {
  let kept: TestStore;
  let service: Service;
  let ann: Person;
  beforeAll(async () => {
    kept = await openTestStore(database);
    service = await openService({ over: kept, nodes: nodesOf(database) });
    ann = await service.person();
  });
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
    await kept[Symbol.asyncDispose]();
  });

  test("has the current name of the key, not the one at creation", async () => {
    const { body } = await ann.v2("task.create", { message: { content: "hi" } });
    await runDirectly(kept, `UPDATE api_key SET name = 'renamed' WHERE id = '${ann.keyId}'`);
    const { body: detail } = await ann.v2("task.detail", { task_id: body["task_id"] });
    expect(detail["task"].created_by_api_key).toEqual({ id: ann.keyId, name: "renamed" });
    const { body: list } = await ann.v2("task.list");
    expect(list["data"][0].created_by_api_key).toEqual({ id: ann.keyId, name: "renamed" });
  });
});
