import { beforeEach, expect, test } from "vitest";
import { subtasksMax, subtasksOfTurnMax } from "../../src/runtime/subtasks.ts";
import { describeOnOne } from "../support/database.ts";
import type { Person } from "../support/service.ts";
import { rpcWires } from "../support/wires.ts";
import { createWorker, explain, type Reply, type RunOf, remoteRig, type TestWorker } from "./worker-rig.ts";

const shortcut = "agent-default-main_task";

describeOnOne("StartSubtask", (database) => {
  const rig = remoteRig({ database });
  let ben: Person;
  let worker: TestWorker;
  beforeEach(async () => {
    ben = await rig.service.person();
    worker = await createWorker(rig.service, ben);
  });
  const done = { finish: { content: "Done" } };
  const sendToMain = async (content = "Go") =>
    (await ben.v2("task.sendMessage", { task_id: shortcut, message: { content } })).body["task_id"];
  const start = ({ taskId, fence }: RunOf, key: string, message = `Part ${key}`): Promise<Reply> =>
    worker.call("StartSubtask", { taskId, fence, key, message });
  const subtasks = async () =>
    (await ben.v2("task.list", { scope: "agent_subtask", agent_id: "agent-default", limit: 100 })).body["data"] as { id: string }[];
  const runOf = async () => {
    await sendToMain();
    return worker.pollUntilRun();
  };

  test("begins a subtask that workers receive as any task, and an event reports it", async () => {
    const run = await runOf();
    expect(run).toMatchObject({ mayBeginSubtasks: true });
    const { status, body } = await start(run, "owls", "Count the owls\nAll of them");
    expect([status, body]).toEqual([200, { subtaskId: expect.stringMatching(/^[A-Za-z0-9]{22}$/), seq: 3 }]);
    const { body: listedMessages } = await ben.v2("task.listMessages", { task_id: shortcut, order: "asc", verbose: true });
    expect(listedMessages["messages"][2].tool_used).toMatchObject({
      ...{ tool: "start_subtask", status: "success", brief: "Begin a subtask: Count the owls" },
      ...{ params: { message: "Count the owls\nAll of them" }, result: { task_id: body.subtaskId, status: "running" } },
    });
    expect(await subtasks()).toMatchObject([
      { id: body.subtaskId, task_type: "agent_subtask", title: "Count the owls", status: "running" },
    ]);
    const subtaskRun = await worker.pollUntilRun();
    expect(subtaskRun).toMatchObject({ taskId: body.subtaskId, messages: [{ content: "Count the owls\nAll of them" }] });
    expect(subtaskRun.mayBeginSubtasks).toBeUndefined();
  });

  test.each(rpcWires)("begins one over %s", async (wire) => {
    const { taskId, fence } = await runOf();
    const { subtaskId, seq } = await worker.client(wire).startSubtask({ taskId, fence, key: "1", message: "Count" });
    expect([(await subtasks()).map(({ id }) => id), seq]).toEqual([[subtaskId], 3]);
  });

  test("takes effect once, however often it is repeated, concurrently or by a later run of the turn", async () => {
    const run = await runOf();
    const replies = await Promise.all(Array.from({ length: 6 }, () => start(run, "1")));
    const [first] = replies;
    for (const reply of replies) expect(reply).toEqual(first);
    await worker.call("Release", { taskId: run.taskId, fence: run.fence });
    const again = await worker.pollUntilRun({ waitSeconds: 5, profiles: [run.profile] });
    const next = again.taskId === run.taskId ? again : await worker.pollUntilRun();
    expect(next.fence).toBeGreaterThan(run.fence);
    expect(next.events).toMatchObject([{ event: { key: "1", toolUsed: { tool: "start_subtask" } } }]);
    expect(await start(next, "1")).toEqual(first);
    expect(await subtasks()).toHaveLength(1);
  });

  test("refuses a key that the turn has used with other content, in a call of either kind", async () => {
    const run = await runOf();
    await start(run, "1");
    await worker.append(run, [explain("2")]);
    for (const reply of [await start(run, "1", "Other"), await start(run, "2"), await worker.append(run, [explain("1")])]) {
      expect(reply).toMatchObject({ status: 409, body: { code: "already_exists" } });
    }
    expect(await subtasks()).toHaveLength(1);
  });

  test("is only for an agent's main task: a user's task and a subtask begin none", async () => {
    await ben.v2("task.create", { message: { content: "Mine" } });
    const plain = await worker.pollUntilRun();
    await worker.finish(plain, done);
    await start(await runOf(), "1");
    const subtaskRun = await worker.pollUntilRun();
    const other = { status: 400, body: { code: "failed_precondition", message: expect.stringMatching(/^task_id: /) } };
    await ben.v2("task.sendMessage", { task_id: plain.taskId, message: { content: "Again" } });
    for (const run of [await worker.pollUntilRun(), subtaskRun]) expect(await start(run, "2")).toMatchObject(other);
    expect(await subtasks()).toHaveLength(1);
  });

  test("is refused after another worker took the run, and begins nothing", async () => {
    const run = await runOf();
    await ben.v2("task.stop", { task_id: run.taskId });
    const lostRun = { status: 400, body: { code: "failed_precondition", message: expect.stringMatching(/^fence: /) } };
    expect(await start(run, "1")).toMatchObject(lostRun);
    expect(await subtasks()).toEqual([]);
    const otherWorker = await createWorker(rig.service, await rig.service.person());
    expect((await otherWorker.call("StartSubtask", { taskId: run.taskId, fence: run.fence, key: "1", message: "a" })).status).toBe(404);
  });

  test.each([
    ["a text of blanks", { message: " " }, "message"],
    ["more than 5,000 estimated tokens", { message: "é".repeat(5_001) }, "message"],
    ["no text", {}, "message"],
    ["no key", { message: "a", key: "" }, "key"],
  ])("refuses %s and names the field", async (_, sent, field) => {
    const { taskId, fence } = await runOf();
    const reply = await worker.call("StartSubtask", { taskId, fence, key: "1", ...sent });
    expect(reply).toMatchObject({ status: 400, body: { code: "invalid_argument", message: expect.stringMatching(`^${field}: `) } });
  });

  test(`allows ${subtasksMax} running at a time, also for concurrent calls`, async () => {
    const run = await runOf();
    const replies = await Promise.all(Array.from({ length: subtasksMax + 5 }, (_, i) => start(run, `${i}`)));
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(subtasksMax);
    for (const { body } of replies.filter(({ status }) => status !== 200)) {
      expect(body).toMatchObject({ code: "resource_exhausted", message: `${subtasksMax} subtasks run already` });
    }
    expect(await subtasks()).toHaveLength(subtasksMax);
  });

  test(`allows ${subtasksOfTurnMax} in a turn, however soon they end, and more in the next turn`, async () => {
    const run = await runOf();
    const { store } = rig.service;
    for (let i = 0; i < subtasksOfTurnMax; i += 1) {
      const { body } = await start(run, `${i}`);
      await store.change((tx) => tx.tasks.advance(body.subtaskId, { now: 1, set: { status: "stopped" } }));
    }
    expect((await start(run, "more")).body.message).toBe(`this turn has begun ${subtasksOfTurnMax} subtasks already`);
    await worker.finish(run, done);
    expect((await start(await runOf(), "more")).status).toBe(200);
  });

  test("reports results of subtasks to the next turn, and starts no turn when one ends", async () => {
    const run = await runOf();
    const [first, second] = [(await start(run, "1")).body.subtaskId, (await start(run, "2")).body.subtaskId];
    await worker.finish(run, done);
    for (let i = 0; i < 2; i += 1) {
      const subtaskRun = await worker.pollUntilRun();
      const outcome = subtaskRun.taskId === first ? { finish: { content: "x".repeat(600) } } : { ask: { content: "Which?" } };
      await worker.finish(subtaskRun, outcome);
    }
    expect(await worker.poll()).toBeUndefined();
    expect((await rig.row(run.taskId)).status).toBe("stopped");
    const { subtasks } = await runOf();
    const byTitle = subtasks.toSorted((a: { title: string }, b: { title: string }) => a.title.localeCompare(b.title));
    expect(byTitle).toEqual([
      { taskId: first, title: "Part 1", status: "stopped", said: "x".repeat(500) },
      { taskId: second, title: "Part 2", status: "waiting", said: "Which?" },
    ]);
  });
});
