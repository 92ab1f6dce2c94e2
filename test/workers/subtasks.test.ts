import { beforeEach, expect, test } from "vitest";
import { depthMax, livingMax, subtasksMax } from "../../src/core/tasks/subtasks.ts";
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
    (await ben.v2("task.list", { scope: "agent_subtask", agent_id: "agent-default", limit: 100 })).body[
      "data"
    ] as { id: string }[];
  const runOf = async () => {
    await sendToMain();
    return worker.pollUntilRun();
  };

  test("begins a subtask that workers receive as any task, and an event reports it", async () => {
    const run = await runOf();
    expect(run).toMatchObject({ mayBeginSubtasks: true });
    const { status, body } = await start(run, "owls", "Count the owls\nAll of them");
    expect([status, body]).toEqual([200, { subtaskId: expect.stringMatching(/^[A-Za-z0-9]{22}$/), seq: 3 }]);
    const { body: listedMessages } = await ben.v2("task.listMessages", {
      task_id: shortcut,
      order: "asc",
      verbose: true,
    });
    expect(listedMessages["messages"][2].tool_used).toMatchObject({
      ...{ tool: "start_subtask", status: "success", brief: "Begin a subtask: Count the owls" },
      ...{
        params: { message: "Count the owls\nAll of them" },
        result: { task_id: body.subtaskId, status: "running" },
      },
    });
    expect(await subtasks()).toMatchObject([
      { id: body.subtaskId, task_type: "agent_subtask", title: "Count the owls", status: "running" },
    ]);
    const subtaskRun = await worker.pollUntilRun();
    expect(subtaskRun).toMatchObject({
      taskId: body.subtaskId,
      messages: [{ content: "Count the owls\nAll of them" }],
    });
    expect(subtaskRun.mayBeginSubtasks).toBe(true);
  });

  test.each(rpcWires)("begins one over %s", async (wire) => {
    const { taskId, fence } = await runOf();
    const { subtaskId, seq } = await worker
      .client(wire)
      .startSubtask({ taskId, fence, key: "1", message: "Count" });
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
    for (const reply of [
      await start(run, "1", "Other"),
      await start(run, "2"),
      await worker.append(run, [explain("1")]),
    ]) {
      expect(reply).toMatchObject({ status: 409, body: { code: "already_exists" } });
    }
    expect(await subtasks()).toHaveLength(1);
  });

  test("is for any task, to a depth of three", async () => {
    await ben.v2("task.create", { message: { content: "Mine" } });
    let run = await worker.pollUntilRun();
    for (let depth = 1; depth <= depthMax; depth += 1) {
      const { body } = await start(run, "1");
      run = await worker.pollUntilRun();
      expect(run.taskId).toBe(body.subtaskId);
    }
    expect(run.mayBeginSubtasks).toBeUndefined();
    const tooDeep = { code: "failed_precondition", message: "task_id: subtasks are at most 3 deep" };
    expect(await start(run, "1")).toMatchObject({ status: 400, body: tooDeep });
  });

  test("is refused after another worker took the run, and begins nothing", async () => {
    const run = await runOf();
    await ben.v2("task.stop", { task_id: run.taskId });
    const lostRun = {
      status: 400,
      body: { code: "failed_precondition", message: expect.stringMatching(/^fence: /) },
    };
    expect(await start(run, "1")).toMatchObject(lostRun);
    expect(await subtasks()).toEqual([]);
    const otherWorker = await createWorker(rig.service, await rig.service.person());
    expect(
      (
        await otherWorker.call("StartSubtask", {
          taskId: run.taskId,
          fence: run.fence,
          key: "1",
          message: "a",
        })
      ).status,
    ).toBe(404);
  });

  test.each([
    ["a text of blanks", { message: " " }, "message"],
    ["more than 5,000 estimated tokens", { message: "é".repeat(5_001) }, "message"],
    ["no text", {}, "message"],
    ["no key", { message: "a", key: "" }, "key"],
  ])("refuses %s and names the field", async (_, sent, field) => {
    const { taskId, fence } = await runOf();
    const reply = await worker.call("StartSubtask", { taskId, fence, key: "1", ...sent });
    expect(reply).toMatchObject({
      status: 400,
      body: { code: "invalid_argument", message: expect.stringMatching(`^${field}: `) },
    });
  });

  // spec/decisions.md 98
  test(`allows ${livingMax} living ones below a root, also for concurrent calls of several of its tasks`, async () => {
    const run = await runOf();
    const { body } = await start(run, "child");
    const child = await worker.pollUntilRun();
    const replies = await Promise.all(
      Array.from({ length: livingMax + 5 }, (_, i) => start(i % 2 ? run : child, `${i}`)),
    );
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(livingMax - 1);
    for (const { body } of replies.filter(({ status }) => status !== 200)) {
      expect(body).toMatchObject({
        code: "resource_exhausted",
        message: `at most ${livingMax} subtasks of a task may run or wait`,
      });
    }
    expect(await subtasks()).toHaveLength(livingMax);
    // A repeated call is answered also when the limit is reached.
    const first = replies.findIndex(({ status }) => status === 200);
    expect(await start(first % 2 ? run : child, `${first}`)).toEqual(replies[first]);
    expect(child.taskId).toBe(body.subtaskId);
  });

  /** Gives a root this many more subtasks, which have ended. */
  async function addEnded(rootId: string, count: number): Promise<void> {
    const root = await rig.row(rootId);
    const ended = (i: number) => ({
      ...root,
      id: `${i}`.padStart(22, "0"),
      type: "agent_subtask" as const,
      status: "stopped" as const,
    });
    await rig.service.store.change(async (tx) => {
      for (let i = 0; i < count; i += 1)
        await tx.tasks.insert({ ...ended(i), parentId: rootId, rootId, depth: 1, createdAt: Date.now() }, []);
    });
  }

  test(`allows ${subtasksMax} below a root in all, and below a main task in each turn`, async () => {
    const run = await runOf();
    await addEnded(run.taskId, subtasksMax - 1);
    expect((await start(run, "last")).status).toBe(200);
    expect((await start(run, "more")).body).toMatchObject({
      code: "resource_exhausted",
      message: `a task may have at most ${subtasksMax} subtasks`,
    });
    await worker.finish(run, done);
    await worker.finish(await worker.pollUntilRun(), done);
    expect((await start(await runOf(), "more")).status).toBe(200);
  });

  test("reports results of subtasks to the next turn, and starts no turn when one ends", async () => {
    const run = await runOf();
    const [first, second] = [(await start(run, "1")).body.subtaskId, (await start(run, "2")).body.subtaskId];
    await worker.finish(run, done);
    for (let i = 0; i < 2; i += 1) {
      const subtaskRun = await worker.pollUntilRun();
      const outcome =
        subtaskRun.taskId === first
          ? { finish: { content: "x".repeat(600) } }
          : { ask: { content: "Which?" } };
      await worker.finish(subtaskRun, outcome);
    }
    expect(await worker.poll()).toBeUndefined();
    expect((await rig.row(run.taskId)).status).toBe("stopped");
    const { subtasks } = await runOf();
    const byTitle = subtasks.toSorted((a: { title: string }, b: { title: string }) =>
      a.title.localeCompare(b.title),
    );
    expect(byTitle).toEqual([
      { taskId: first, title: "Part 1", status: "stopped", said: "x".repeat(500) },
      { taskId: second, title: "Part 2", status: "waiting", said: "Which?" },
    ]);
  });
});

describeOnOne("a run that ends with a wait for subtasks", (database) => {
  const rig = remoteRig({ database });
  let ben: Person;
  let worker: TestWorker;
  beforeEach(async () => {
    ben = await rig.service.person();
    worker = await createWorker(rig.service, ben);
  });
  const start = async ({ taskId, fence }: RunOf, key: string): Promise<string> =>
    (await worker.call("StartSubtask", { taskId, fence, key, message: `Part ${key}` })).body.subtaskId;
  async function runOf(): Promise<RunOf> {
    await ben.v2("task.create", { message: { content: "Go" } });
    return worker.pollUntilRun();
  }
  const wait = (more: object = {}) => ({ wait: { mode: "all", ...more } });

  test("continues in a run that has the results and the memo, after the events of the turn", async () => {
    const run = await runOf();
    const [first, second] = [await start(run, "1"), await start(run, "2")];
    expect(await worker.finish(run, wait({ taskIds: [second, first], memo: { step: 2 } }))).toEqual({
      status: 200,
      body: {},
    });
    expect((await worker.call("Heartbeat", run)).body).toEqual({ stop: "lost" });
    expect((await worker.append(run, [explain("late")])).body.message).toBe(
      "fence: the run is no longer yours",
    );
    const subtasks = [await worker.pollUntilRun(), await worker.pollUntilRun()];
    for (const subtask of subtasks) {
      const { uploadId } = (
        await worker.call("Upload", { ...ref(subtask), filename: "a.txt", content: btoa("hello") })
      ).body;
      const isFirst = subtask.taskId === first;
      await worker.finish(
        subtask,
        isFirst
          ? { finish: { content: "One", uploadIds: [uploadId] } }
          : { fail: { errorType: "internal", content: "No" } },
      );
    }
    const next = await worker.pollUntilRun();
    expect(next).toMatchObject({
      taskId: run.taskId,
      memo: { step: 2 },
      claim: 2,
      events: [{ event: { key: "1" } }, { event: { key: "2" } }],
    });
    expect(next.waits).toEqual([
      {
        ...{ mode: "all", reason: "ended" },
        subtasks: [
          { taskId: second, title: "Part 2", status: "error", said: "No" },
          {
            taskId: first,
            title: "Part 1",
            status: "stopped",
            said: "One",
            files: [expect.objectContaining({ filename: "a.txt", bytes: 5 })],
          },
        ],
      },
    ]);
    const { pathname, search } = new URL(next.waits[0].subtasks[1].files[0].url);
    expect(await (await fetch(`${rig.service.url}${pathname}${search}`)).text()).toBe("hello");
  });

  test("continues at once when they have ended, and a repeated call gets the same run", async () => {
    const run = await runOf();
    const subtask = await start(run, "1");
    await worker.finish(await worker.pollUntilRun(), { finish: { content: "One" } });
    const sent = wait({ taskIds: [subtask] });
    const { body } = await worker.finish(run, sent);
    expect(body.run).toMatchObject({
      taskId: run.taskId,
      fence: run.fence + 1,
      waits: [{ reason: "ended", subtasks: [{ said: "One" }] }],
    });
    expect((await worker.finish(run, sent)).body).toEqual(body);
    expect((await worker.finish(run, wait())).status).toBe(409);
    const again = await worker.finish(body.run, wait({ mode: "any" }));
    expect(again.body.run.waits).toMatchObject([{ subtasks: [{ taskId: subtask }] }, { reason: "ended" }]);
    expect(again.body.run.waits[0].subtasks[0].said).toBeUndefined();
  });

  test("continues with a message of the user, which the next turn answers", async () => {
    const run = await runOf();
    await start(run, "1");
    await worker.finish(run, wait());
    await worker.pollUntilRun();
    await ben.v2("task.sendMessage", { task_id: run.taskId, message: { content: "Hurry" } });
    const next = await worker.pollUntilRun();
    expect(next).toMatchObject({
      taskId: run.taskId,
      messages: [{ content: "Go" }],
      waits: [{ reason: "message", subtasks: [{ status: "running" }] }],
    });
    const { body } = await worker.finish(next, { finish: { content: "Not yet" } });
    expect(body.run).toMatchObject({
      messages: [{ content: "Hurry" }],
      subtasks: [{ title: "Part 1", status: "running" }],
    });
    expect(body.run.waits).toBeUndefined();
  });

  test.each([
    [
      "an id that is not a subtask of the task",
      { taskIds: ["x"] },
      "wait.task_ids[0]: is not a subtask of this task",
    ],
    ["another mode", { mode: "some" }, "wait.mode: "],
    ["more than 7 days", { timeoutSeconds: 604_801 }, "wait.timeout_seconds: "],
    ["a memo of more than 64 KiB", { memo: "x".repeat(65_536) }, "wait.memo: must be at most 64 KiB as JSON"],
  ])("refuses %s, and the run continues", async (_, more, text) => {
    const run = await runOf();
    const { status, body } = await worker.finish(run, wait(more));
    expect([status, body.code]).toEqual([400, "invalid_argument"]);
    expect(body.message).toContain(text);
    expect((await worker.call("Heartbeat", run)).body).toEqual({});
  });
});

const ref = ({ taskId, fence }: RunOf): RunOf => ({ taskId, fence });
