import { Code } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { systemClock } from "../../src/core/clock.ts";
import { Failure } from "../../src/core/failure.ts";
import { systemIds } from "../../src/core/ids.ts";
import { taskSteps } from "../../src/core/tasks/steps.ts";
import { tasks } from "../../src/core/use-cases/manage-tasks.ts";
import { ContentPartType } from "../../src/gen/proto/task/v2/message_pb.ts";
import { TaskService } from "../../src/gen/proto/task/v2/task_service_pb.ts";
import { unpublished } from "../support/claims.ts";
import { describeOnOne, nodesOf } from "../support/database.ts";
import { holdingClock } from "../support/holding-clock.ts";
import { invalid, taskRig } from "../support/task-rig.ts";
import { untilClaimed } from "../support/until.ts";

const ref = (n: number): string => `${"B".repeat(19)}${100 + n}`;
const refs = (from: number, count: number): string[] =>
  Array.from({ length: count }, (_, n) => ref(from + n));

describeOnOne("task.sendMessage", (database) => {
  const clock = holdingClock();
  const rig = taskRig({ database, nodes: nodesOf(database), clock });
  const send = (id: string, message: object | string, more: object = {}) =>
    rig.ann.v2("task.sendMessage", { task_id: id, message, ...more });
  const answersOf = async (id: string): Promise<string[]> =>
    (await rig.events(id))
      .filter(({ type }) => type === "assistant_message")
      .map((event) => event["assistant_message"].content);
  const statusesOf = async (id: string): Promise<string[]> =>
    (await rig.events(id))
      .filter(({ type }) => type === "status_update")
      .map((event) => event["status_update"].agent_status);

  test("returns only the task's id", async () => {
    const id = await rig.runToEnd();
    const { status, body } = await send(id, { content: "again" });
    expect({ status, body }).toStrictEqual({
      status: 200,
      body: { ok: true, request_id: expect.stringMatching(/^req_/), task_id: id },
    });
  });

  test.each([
    "stopped",
    "error",
    "waiting",
  ] as const)("a task in %s runs again, and the message and the status are written before the answer", async (from) => {
    const id = await (from === "error" ? rig.create("[[fail timeout]]") : rig.runToEnd());
    if (from === "waiting") await rig.force(id, from);
    const { lastSeq } = await rig.reach(id, from);
    await send(id, { content: "[[forever]]" });
    const { body } = await rig.ann.v2("task.listMessages", { task_id: id, limit: 2 });
    expect(body["messages"]).toMatchObject([
      { seq: lastSeq + 2, type: "status_update", status_update: { agent_status: "running" } },
      { seq: lastSeq + 1, type: "user_message", user_message: { content: "[[forever]]" } },
    ]);
    const { body: detail } = await rig.ann.v2("task.detail", { task_id: id });
    expect(detail["task"]).toMatchObject({ status: "running" });
  });

  test("a turn answers its own message, and knows the earlier ones", async () => {
    const id = await rig.runToEnd("Tell me about owls");
    await send(id, { content: "Tell me about cats" });
    await rig.reach(id, "stopped");
    const [first, second] = await answersOf(id);
    expect(first).toContain("You wrote: Tell me about owls");
    expect(second).toContain("You wrote: Tell me about cats");
    expect(second).toContain("Before this you wrote: Tell me about owls");
    expect(await statusesOf(id)).toEqual(["running", "stopped", "running", "stopped"]);
  });

  test("each turn has its project's instruction of that moment", async () => {
    const { body } = await rig.ann.v2("project.create", { name: "Garden", instruction: "Be brief." });
    const project_id = body["project"].id;
    const id = await rig.runToEnd("Tell me about owls", { project_id });
    await rig.ann.v2("project.update", { project_id, instruction: "Answer in verse." });
    await send(id, { content: "Tell me about cats" });
    await rig.reach(id, "stopped");
    const [first, second] = await answersOf(id);
    expect(first).toContain("Be brief.");
    expect(second).toContain("Answer in verse.");
    expect(second).not.toContain("Be brief.");
  });

  test("a message to a running task is answered in the next turn, without stopped in between", async () => {
    const turn = clock.hold();
    const id = await rig.create(`${turn.text} Tell me about owls`);
    await untilClaimed(rig.service.store, id);
    await send(id, { content: "Tell me about cats" });
    await send(id, { content: "And about dogs" });
    const queued = await rig.events(id);
    expect(queued.map(({ type }) => type)).toEqual([
      "user_message",
      "status_update",
      "user_message",
      "user_message",
    ]);
    turn.release();
    await rig.reach(id, "stopped");
    const [first, second, ...more] = await answersOf(id);
    expect(first).toContain("You wrote: Tell me about owls");
    expect(second).toContain("You wrote: Tell me about cats And about dogs");
    expect(more).toEqual([]);
    expect(await statusesOf(id)).toEqual(["running", "stopped"]);
  });

  test("a failure is reported, and a message that arrived in the meantime is still answered", async () => {
    const turn = clock.hold();
    const id = await rig.create(`${turn.text} [[fail timeout | Too slow]]`);
    await untilClaimed(rig.service.store, id);
    await send(id, { content: "Tell me about cats" });
    turn.release();
    await rig.reach(id, "stopped");
    expect((await rig.events(id)).find(({ type }) => type === "error_message")).toMatchObject({
      error_message: { error_type: "timeout", content: "Too slow" },
    });
    expect(await answersOf(id)).toEqual([expect.stringContaining("Tell me about cats")]);
    expect(await statusesOf(id)).toEqual(["running", "stopped"]);
  });

  test("agent_profile applies from this turn on; empty or absent keeps it", async () => {
    const id = await rig.runToEnd("hi", { agent_profile: "lite" });
    const after = async (more: object) => {
      await rig.send(id, "hi", more);
      return (await rig.reach(id, "stopped")).agentProfile;
    };
    expect(await after({})).toBe("manus-1.6-lite");
    expect(await after({ agent_profile: "" })).toBe("manus-1.6-lite");
    expect(await after({ agent_profile: null })).toBe("manus-1.6-lite");
    expect(await after({ agent_profile: "manus-1.6-max" })).toBe("manus-1.6-max");
    expect(await after({})).toBe("manus-1.6-max");
  });

  test("references add up: the 20 newest are kept, repeats and the task itself are dropped, an empty list changes none", async () => {
    const id = await rig.runToEnd();
    const after = async (task_references: string[]) => {
      await send(id, { content: "hi", task_references });
      return (await rig.reach(id, "stopped")).references;
    };
    expect(await after([ref(1), ref(2)])).toEqual([ref(1), ref(2)]);
    expect(await after([])).toEqual([ref(1), ref(2)]);
    expect(await after([ref(1), id, ref(1)])).toEqual([ref(2), ref(1)]);
    expect(await after(refs(3, 18))).toEqual([ref(2), ref(1), ...refs(3, 18)]);
    expect(await after([ref(2), ref(30)])).toEqual([...refs(3, 18), ref(2), ref(30)]);
  });

  test("clear_connectors and an empty list are accepted, alone and together", async () => {
    const id = await rig.runToEnd();
    for (const [message, more] of [
      [{ connectors: [] }, {}],
      [{}, { clear_connectors: true }],
      [{ connectors: [] }, { clear_connectors: true }],
    ] as const) {
      expect(await send(id, { content: "hi", ...message }, more)).toMatchObject({ status: 200 });
    }
  });

  test("times are later than the request with the message", async () => {
    const id = await rig.runToEnd();
    for (let round = 0; round < 3; round += 1) {
      const sent = Date.now();
      await rig.send(id, "hi");
      const { messageSeq } = await rig.reach(id, "stopped");
      const events = (await rig.events(id)).filter((event) => event["seq"] >= messageSeq);
      expect(Math.min(...events.map((event) => event["timestamp"]))).toBeGreaterThan(sent);
    }
  });

  test.each<[why: string, message: unknown, more: object, named: string]>([
    ["no message", undefined, {}, "message"],
    ["empty content", { content: "" }, {}, "message.content"],
    ["blank parts", { content: [{ type: "text", text: " " }] }, {}, "message.content"],
    ["too much text", { content: "y".repeat(20_001) }, {}, "message.content"],
    ["a part of an unknown type", { content: [{ type: "image" }] }, {}, "message.content[0].type"],
    ["a connector that is not installed", { content: "hi", connectors: ["9444d960"] }, {}, "9444d960"],
    [
      "connectors together with clear_connectors",
      { content: "hi", connectors: ["9444d960"] },
      { clear_connectors: true },
      "clear_connectors",
    ],
    ["an unknown skill", { content: "hi", enable_skills: ["s-1"] }, {}, "s-1"],
    ["an unknown forced skill", { content: "hi", force_skills: ["s-2"] }, {}, "s-2"],
    [
      "21 references, repeats counted",
      { content: "hi", task_references: Array(21).fill(ref(0)) },
      {},
      "message.task_references",
    ],
    [
      "a reference that is not an id",
      { content: "hi", task_references: ["agent-default-main_task"] },
      {},
      "message.task_references[0]",
    ],
    ["an unknown profile", { content: "hi" }, { agent_profile: "fast" }, "agent_profile"],
    ["clear_connectors of a wrong type", { content: "hi" }, { clear_connectors: "true" }, "clear_connectors"],
    ["an empty task_id", { content: "hi" }, { task_id: "" }, "task_id"],
    ["a task_id of 129 characters", { content: "hi" }, { task_id: "a".repeat(129) }, "task_id"],
  ])("refuses %s and changes nothing", async (_why, message, more, named) => {
    const id = await rig.runToEnd();
    const before = await rig.row(id);
    const reply = await rig.ann.v2("task.sendMessage", { task_id: id, message, ...more });
    expect(reply).toMatchObject(invalid(named));
    expect(await rig.row(id)).toEqual(before);
  });

  test("an unknown file is refused, and changes nothing", async () => {
    const id = await rig.runToEnd();
    const before = await rig.row(id);
    expect(await send(id, { content: [{ type: "file", file_id: "f_1" }] })).toMatchObject(
      invalid("message.content[0].file_id: is unknown"),
    );
    expect(await rig.row(id)).toEqual(before);
  });

  test("an idle task does not run again while the queue is full", async () => {
    const { store } = rig.service;
    const { id } = await rig.reach(await rig.runToEnd(), "stopped");
    const enter = () => {
      throw new Failure("resource_exhausted", "full");
    };
    const steps = taskSteps(systemClock);
    const parts = { clock: systemClock, ids: systemIds, steps, keepsEvents: false, publishTask: unpublished };
    const full = tasks({ ...parts, backlog: { add: enter } });
    const caller = {
      ...rig.ann,
      role: "owner",
      locale: "en",
      credential: { kind: "key", keyKind: "general", id: rig.ann.keyId, scopes: null },
    } as const;
    const input = { texts: ["hi"], references: [] };
    await expect(store.change((tx) => full.send(tx, caller, id, input, {}))).rejects.toMatchObject({
      reason: "resource_exhausted",
    });
    await rig.force(id, "running");
    await store.change((tx) => full.send(tx, caller, id, input, {}));
  });

  test.each(["connect-json", "grpc"] as const)("returns on %s the same as on v2", async (wire) => {
    const client = rig.ann.client(TaskService, wire);
    const id = await rig.runToEnd();
    const content = [{ type: ContentPartType.TEXT, text: "[[forever]]" }];
    expect(await client.sendMessage({ taskId: id, message: { content, noConnectors: true } })).toMatchObject({
      taskId: id,
    });
    expect(await rig.row(id)).toMatchObject({ status: "running" });
    const both = client.sendMessage({
      taskId: id,
      message: { content, connectors: ["c"] },
      clearConnectors: true,
    });
    await expect(both).rejects.toMatchObject({ code: Code.InvalidArgument });
    const neither = client.sendMessage({
      taskId: id,
      message: { content, connectors: ["c"], noConnectors: true },
    });
    await expect(neither).rejects.toMatchObject({
      rawMessage: "message.no_connectors: cannot be given with connectors",
    });
    await expect(client.sendMessage({ taskId: id })).rejects.toMatchObject({ code: Code.InvalidArgument });
    await expect(client.sendMessage({ taskId: "nobody", message: { content } })).rejects.toMatchObject({
      code: Code.NotFound,
    });
  });
});

describeOnOne("task.sendMessage on one node", (database) => {
  const rig = taskRig({ database, nodes: 1 });

  test("a task that must run again is claimed, or runners are notified, at once; neither when it already runs", async () => {
    const { store } = rig.service;
    const told: string[] = [];
    const forget = store.feed.onJob((kind) => told.push(kind));
    const id = await rig.create("[[forever]]");
    const isTold = async () =>
      told.splice(0).includes("run") || (await store.tasks.byId(id))?.nodeId !== null;
    expect(await isTold()).toBe(true);
    await rig.send(id, "hi");
    expect(told.splice(0)).toEqual([]);
    await rig.ann.v2("task.stop", { task_id: id });
    await rig.send(id, "hi");
    forget();
    expect(await isTold()).toBe(true);
  });
});
