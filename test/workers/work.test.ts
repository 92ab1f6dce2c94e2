import { beforeAll, expect, test } from "vitest";
import { describeOnEach } from "../support/database.ts";
import { explain, type Hand, handOf, remoteRig } from "./worker-rig.ts";

const lost = { status: 400, body: { code: "failed_precondition", message: expect.stringContaining("fence") } };

describeOnEach("a remote worker", (database) => {
  const rig = remoteRig({ database });
  let hand: Hand;
  beforeAll(async () => {
    hand = await handOf(rig.service, rig.ann);
  });
  const typesOf = async (id: string) => (await rig.events(id)).map(({ type }) => type);

  test("is given a run with all that it needs, and its finish is the task's end", async () => {
    const { body: project } = await rig.ann.v2("project.create", { name: "Garden", instruction: "Be brief." });
    const file = { type: "file", file_data: `data:text/plain;base64,${Buffer.from("owls").toString("base64")}`, filename: "birds.txt" };
    const id = await rig.create([{ type: "text", text: "Say hello" }, file], { project_id: project["project"].id, interactive_mode: true });
    const run = await hand.take();
    expect(run).toMatchObject({
      ...{ taskId: id, fence: 1, leaseSeconds: 15, claim: 1, profile: "manus-1.6", locale: "en" },
      ...{ instruction: "Be brief.", interactive: true },
      messages: [
        { content: expect.stringContaining("Say hello"), files: [{ filename: "birds.txt", contentType: "text/plain", bytes: 4 }] },
      ],
    });
    const { pathname } = new URL(run.messages[0].files[0].url);
    expect(await (await fetch(`${rig.service.url}${pathname}`)).text()).toBe("owls");
    expect((await hand.append(run, [explain("1", "Hm")])).body).toEqual({ events: [{ key: "1", seq: 3 }] });
    expect(await hand.finish(run, { finish: { content: "Hello" } })).toEqual({ status: 200, body: {} });
    expect((await rig.events(id)).slice(2)).toMatchObject([
      { type: "explanation", explanation: { content: "Hm" } },
      { type: "assistant_message", assistant_message: { content: "Hello", delivery_kind: "result" } },
      { type: "status_update", status_update: { agent_status: "stopped" } },
    ]);
    expect(await hand.poll()).toBeUndefined();
  });

  test("appends each kind of event as others see it", async () => {
    const id = await rig.create();
    const run = await hand.take();
    const steps = [{ status: "doing", title: "Look", startedAt: 5 }];
    const use = {
      tool: "browser",
      status: "error",
      brief: "Read",
      params: { url: "x" },
      result: [1],
      message: { action: "Reading", param: "x" },
    };
    const events = [
      { key: "a", planUpdate: { steps } },
      { key: "b", newPlanStep: { stepId: "s1", title: "Look" } },
      { key: "c", toolUsed: use },
      { key: "d", assistantMessage: { content: "Half done" } },
    ];
    expect((await hand.append(run, events, { credits: 3, usage: { inputTokens: 5 } })).status).toBe(200);
    expect((await rig.events(id)).slice(2)).toMatchObject([
      { plan_update: { steps: [{ status: "doing", title: "Look", started_at: 5 }] } },
      { new_plan_step: { step_id: "s1", title: "Look" } },
      { tool_used: { tool: "browser", status: "error", brief: "Read", params: { url: "x" }, result: [1] } },
      { assistant_message: { content: "Half done", delivery_kind: "progress" } },
    ]);
    expect((await rig.row(id)).credits).toBe(3);
    await hand.finish(run, { fail: { errorType: "timeout", content: "Too slow" } });
    expect((await rig.events(id)).slice(-2)).toMatchObject([
      { error_message: { error_type: "timeout", content: "Too slow" } },
      { status_update: { agent_status: "error" } },
    ]);
  });

  test("may send anything again: it is done once, and answered the same", async () => {
    const id = await rig.create();
    const run = await hand.take();
    const both = [explain("1"), explain("2")];
    const first = await hand.append(run, both, { credits: 2 });
    expect(await hand.append(run, both, { credits: 2 })).toEqual(first);
    expect((await hand.append(run, [explain("3"), explain("1")])).body.events).toEqual([
      { key: "3", seq: 5 },
      { key: "1", seq: 3 },
    ]);
    expect(await hand.append(run, [explain("1", "other")])).toMatchObject({ status: 409, body: { code: "already_exists" } });
    const ends = { finish: { content: "Done" } };
    const ended = await Promise.all(Array.from({ length: 5 }, () => hand.finish(run, ends)));
    expect(ended).toEqual(ended.map(() => ({ status: 200, body: {} })));
    expect(await hand.finish(run, ends)).toEqual({ status: 200, body: {} });
    expect(await hand.finish(run, { finish: { content: "Else" } })).toMatchObject({ status: 409, body: { code: "already_exists" } });
    expect(await hand.append(run, both)).toMatchObject(lost);
    expect(await typesOf(id)).toEqual([
      ...["user_message", "status_update", "explanation", "explanation", "explanation", "assistant_message", "status_update"],
    ]);
    expect((await rig.row(id)).credits).toBe(2);
  });

  test("appends of one key at a time write it once", async () => {
    const id = await rig.create();
    const run = await hand.take();
    const replies = await Promise.all(Array.from({ length: 10 }, () => hand.append(run, [explain("same")])));
    expect(replies).toEqual(replies.map(() => ({ status: 200, body: { events: [{ key: "same", seq: 3 }] } })));
    expect(await typesOf(id)).toEqual(["user_message", "status_update", "explanation"]);
    await hand.finish(run, { finish: { content: "Done" } });
  });

  test("goes on with the next turn when a message came meanwhile, with no stop between and a fence of its own", async () => {
    const id = await rig.create("One");
    const run = await hand.take();
    await hand.append(run, [explain("1")]);
    await rig.send(id, "Two");
    expect((await hand.call("Heartbeat", { taskId: id, fence: run.fence })).body).toEqual({ newMessages: [{ content: "Two" }] });
    const ends = { finish: { content: "To one" } };
    const reply = await hand.finish(run, ends);
    expect(reply.body.run).toMatchObject({ taskId: id, fence: run.fence + 1, claim: 1, messages: [{ content: "Two" }] });
    expect(reply.body.run.events).toBeUndefined();
    expect(reply.body.run.earlier.at(-1)).toEqual({ role: "assistant", content: "To one" });
    expect((await hand.finish(run, ends)).body).toEqual(reply.body);
    expect(await hand.append(run, [explain("late")])).toMatchObject(lost);
    expect((await hand.append(reply.body.run, [explain("1")])).body.events).toEqual([{ key: "1", seq: 6 }]);
    await hand.finish(reply.body.run, { finish: { content: "To two" } });
    expect((await typesOf(id)).filter((type) => type === "status_update")).toHaveLength(2);
  });

  test("asks, and has its memo back with the answer", async () => {
    const id = await rig.create();
    const run = await hand.take();
    await hand.finish(run, { ask: { content: "Which?", options: ["a", "b"], memo: { left: 3 } } });
    await rig.reach(id, "waiting");
    await rig.send(id, "a");
    const next = await hand.take();
    expect(next).toMatchObject({ taskId: id, memo: { left: 3 }, messages: [{ content: "a" }] });
    await hand.finish(next, { finish: { content: "Done" } });
  });

  test("asks for approvals: the same turn goes on with the decision, at once where it was allowed before", async () => {
    const id = await rig.create();
    const run = await hand.take();
    await hand.append(run, [explain("1")]);
    const wants = { confirm: { kind: "terminalExecute", params: { command: "ls" } } };
    expect((await hand.finish(run, wants)).body).toEqual({});
    const waiting = (await rig.events(id)).at(-1);
    const event_id = waiting?.["status_update"].status_detail.waiting_for_event_id;
    await rig.ann.v2("task.confirmAction", { task_id: id, event_id, input: { accept: true, always_allow: true } });
    const next = await hand.take();
    expect(next).toMatchObject({
      ...{ taskId: id, messages: run.messages, decisions: [{ kind: "terminalExecute", accepted: true }] },
      events: [{ seq: 3, event: { key: "1", explanation: { content: "1" } } }],
    });
    const passed = await hand.finish(next, wants);
    expect(passed.body.run).toMatchObject({ fence: next.fence + 1, decisions: [{ accepted: true }, { accepted: true }] });
    expect((await hand.finish(next, wants)).body).toEqual(passed.body);
    await hand.finish(passed.body.run, { finish: { content: "Done" } });
    expect((await rig.events(id)).filter(({ type }) => type === "tool_used")).toHaveLength(3);
  });

  test("gives the structured output that was asked for", async () => {
    const schema = { type: "object", properties: { n: { type: "number" } }, required: ["n"], additionalProperties: false };
    const id = await rig.create("Count", { structured_output_schema: schema });
    const run = await hand.take();
    expect(run.outputSchema).toEqual(schema);
    await hand.finish(run, { finish: { content: "Two", output: { n: 2 } } });
    expect((await rig.events(id)).at(-1)).toMatchObject({ structured_output_result: { success: true, value: { n: 2 } } });
  });

  test("gives a run back, and another goes on at once with nothing lost", async () => {
    const id = await rig.create();
    const run = await hand.take();
    await hand.append(run, [explain("1")]);
    const other = await handOf(rig.service, rig.ann);
    const waits = other.take({ waitSeconds: 20 });
    expect((await hand.call("Release", { taskId: id, fence: run.fence })).status).toBe(200);
    const next = await waits;
    expect(next).toMatchObject({ taskId: id, events: [{ seq: 3, event: { key: "1" } }] });
    expect(next.fence).toBeGreaterThan(run.fence);
    expect(await hand.append(run, [explain("2")])).toMatchObject(lost);
    expect((await hand.call("Heartbeat", { taskId: id, fence: run.fence })).body).toEqual({ stop: "lost" });
    await other.finish(next, { finish: { content: "Done" } });
  });

  test("is told to drop what the user stopped or deleted, and writes nothing more", async () => {
    const [stopped, deleted] = [await rig.create(), await rig.create()];
    const runs = new Map([await hand.take(), await hand.take()].map((run) => [run.taskId, run]));
    await rig.ann.v2("task.stop", { task_id: stopped });
    await rig.ann.v2("task.delete", { task_id: deleted, stop: true });
    for (const [id, stop] of [
      [stopped, "stopped"],
      [deleted, "deleted"],
    ] as const) {
      const { fence } = runs.get(id);
      expect((await hand.call("Heartbeat", { taskId: id, fence })).body).toEqual({ stop });
      expect(await hand.append(runs.get(id), [explain("1")])).toMatchObject(lost);
      expect(await hand.finish(runs.get(id), { finish: { content: "Done" } })).toMatchObject(lost);
    }
    expect(await typesOf(stopped)).toEqual(["user_message", "status_update", "user_stop", "status_update"]);
  });
});
