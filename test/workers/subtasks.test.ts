import { beforeEach, expect, test } from "vitest";
import { subtasksMax, subtasksOfTurnMax } from "../../src/runtime/subtasks.ts";
import { describeOnEach } from "../support/database.ts";
import type { Person } from "../support/service.ts";
import { rpcWires } from "../support/wires.ts";
import { explain, type Hand, handOf, type Reply, type RunOf, remoteRig } from "./worker-rig.ts";

const shortcut = "agent-default-main_task";

describeOnEach("StartSubtask", (database) => {
  const rig = remoteRig({ database });
  let ben: Person;
  let hand: Hand;
  beforeEach(async () => {
    ben = await rig.service.person();
    hand = await handOf(rig.service, ben);
  });
  const done = { finish: { content: "Done" } };
  const say = async (content = "Go") => (await ben.v2("task.sendMessage", { task_id: shortcut, message: { content } })).body["task_id"];
  const start = ({ taskId, fence }: RunOf, key: string, message = `Part ${key}`): Promise<Reply> =>
    hand.call("StartSubtask", { taskId, fence, key, message });
  const listed = async () =>
    (await ben.v2("task.list", { scope: "agent_subtask", agent_id: "agent-default", limit: 100 })).body["data"] as { id: string }[];
  const runOf = async () => {
    await say();
    return hand.take();
  };

  test("begins a subtask that workers are given as any task, and its event tells of it", async () => {
    const run = await runOf();
    expect(run).toMatchObject({ mayBeginSubtasks: true });
    const { status, body } = await start(run, "owls", "Count the owls\nAll of them");
    expect([status, body]).toEqual([200, { subtaskId: expect.stringMatching(/^[A-Za-z0-9]{22}$/), seq: 3 }]);
    const { body: told } = await ben.v2("task.listMessages", { task_id: shortcut, order: "asc", verbose: true });
    expect(told["messages"][2].tool_used).toMatchObject({
      ...{ tool: "start_subtask", status: "success", brief: "Begin a subtask: Count the owls" },
      ...{ params: { message: "Count the owls\nAll of them" }, result: { task_id: body.subtaskId, status: "running" } },
    });
    expect(await listed()).toMatchObject([{ id: body.subtaskId, task_type: "agent_subtask", title: "Count the owls", status: "running" }]);
    const sub = await hand.take();
    expect(sub).toMatchObject({ taskId: body.subtaskId, messages: [{ content: "Count the owls\nAll of them" }] });
    expect(sub.mayBeginSubtasks).toBeUndefined();
  });

  test.each(rpcWires)("begins one over %s", async (wire) => {
    const { taskId, fence } = await runOf();
    const { subtaskId, seq } = await hand.client(wire).startSubtask({ taskId, fence, key: "1", message: "Count" });
    expect([(await listed()).map(({ id }) => id), seq]).toEqual([[subtaskId], 3]);
  });

  test("is done once, whatever is sent how often, at once or by a later run of the turn", async () => {
    const run = await runOf();
    const replies = await Promise.all(Array.from({ length: 6 }, () => start(run, "1")));
    const [first] = replies;
    for (const reply of replies) expect(reply).toEqual(first);
    await hand.call("Release", { taskId: run.taskId, fence: run.fence });
    const again = await hand.take({ waitSeconds: 5, profiles: [run.profile] });
    const next = again.taskId === run.taskId ? again : await hand.take();
    expect(next.fence).toBeGreaterThan(run.fence);
    expect(next.events).toMatchObject([{ event: { key: "1", toolUsed: { tool: "start_subtask" } } }]);
    expect(await start(next, "1")).toEqual(first);
    expect(await listed()).toHaveLength(1);
  });

  test("refuses a key that the turn has with other content, from whichever call it is", async () => {
    const run = await runOf();
    await start(run, "1");
    await hand.append(run, [explain("2")]);
    for (const reply of [await start(run, "1", "Other"), await start(run, "2"), await hand.append(run, [explain("1")])]) {
      expect(reply).toMatchObject({ status: 409, body: { code: "already_exists" } });
    }
    expect(await listed()).toHaveLength(1);
  });

  test("is for an agent's main task alone: neither a task of the user's nor a subtask begins any", async () => {
    await ben.v2("task.create", { message: { content: "Mine" } });
    const plain = await hand.take();
    await hand.finish(plain, done);
    await start(await runOf(), "1");
    const sub = await hand.take();
    const other = { status: 400, body: { code: "failed_precondition", message: expect.stringMatching(/^task_id: /) } };
    await ben.v2("task.sendMessage", { task_id: plain.taskId, message: { content: "Again" } });
    for (const run of [await hand.take(), sub]) expect(await start(run, "2")).toMatchObject(other);
    expect(await listed()).toHaveLength(1);
  });

  test("is refused once the run is another's, and begins nothing", async () => {
    const run = await runOf();
    await ben.v2("task.stop", { task_id: run.taskId });
    const lost = { status: 400, body: { code: "failed_precondition", message: expect.stringMatching(/^fence: /) } };
    expect(await start(run, "1")).toMatchObject(lost);
    expect(await listed()).toEqual([]);
    const stranger = await handOf(rig.service, await rig.service.person());
    expect((await stranger.call("StartSubtask", { taskId: run.taskId, fence: run.fence, key: "1", message: "a" })).status).toBe(404);
  });

  test.each([
    ["a text of blanks", { message: " " }, "message"],
    ["more than 5,000 estimated tokens", { message: "é".repeat(5_001) }, "message"],
    ["no text", {}, "message"],
    ["no key", { message: "a", key: "" }, "key"],
  ])("refuses %s, by the field's name", async (_, sent, field) => {
    const { taskId, fence } = await runOf();
    const reply = await hand.call("StartSubtask", { taskId, fence, key: "1", ...sent });
    expect(reply).toMatchObject({ status: 400, body: { code: "invalid_argument", message: expect.stringMatching(`^${field}: `) } });
  });

  test(`lets ${subtasksMax} run at a time, also of those that are begun at once`, async () => {
    const run = await runOf();
    const replies = await Promise.all(Array.from({ length: subtasksMax + 5 }, (_, i) => start(run, `${i}`)));
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(subtasksMax);
    for (const { body } of replies.filter(({ status }) => status !== 200)) {
      expect(body).toMatchObject({ code: "resource_exhausted", message: `${subtasksMax} subtasks run already` });
    }
    expect(await listed()).toHaveLength(subtasksMax);
  });

  test(`lets a turn begin ${subtasksOfTurnMax}, however soon they end, and the next one more`, async () => {
    const run = await runOf();
    const { store } = rig.service;
    for (let i = 0; i < subtasksOfTurnMax; i += 1) {
      const { body } = await start(run, `${i}`);
      await store.change((tx) => tx.tasks.advance(body.subtaskId, { now: 1, set: { status: "stopped" } }));
    }
    expect((await start(run, "more")).body.message).toBe(`this turn has begun ${subtasksOfTurnMax} subtasks already`);
    await hand.finish(run, done);
    expect((await start(await runOf(), "more")).status).toBe(200);
  });

  test("the next turn is told what became of them, and nobody is woken when one ends", async () => {
    const run = await runOf();
    const [first, second] = [(await start(run, "1")).body.subtaskId, (await start(run, "2")).body.subtaskId];
    await hand.finish(run, done);
    for (let i = 0; i < 2; i += 1) {
      const sub = await hand.take();
      const ending = sub.taskId === first ? { finish: { content: "x".repeat(600) } } : { ask: { content: "Which?" } };
      await hand.finish(sub, ending);
    }
    expect(await hand.poll()).toBeUndefined();
    expect((await rig.row(run.taskId)).status).toBe("stopped");
    const { subtasks } = await runOf();
    const byTitle = subtasks.toSorted((a: { title: string }, b: { title: string }) => a.title.localeCompare(b.title));
    expect(byTitle).toEqual([
      { taskId: first, title: "Part 1", status: "stopped", said: "x".repeat(500) },
      { taskId: second, title: "Part 2", status: "waiting", said: "Which?" },
    ]);
  });
});
