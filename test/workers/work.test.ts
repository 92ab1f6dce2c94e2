import { beforeAll, expect, test } from "vitest";
import { describeOnOne } from "../support/database.ts";
import { createWorker, explain, remoteRig, type TestWorker } from "./worker-rig.ts";

const lostRun = {
  status: 400,
  body: { code: "failed_precondition", message: expect.stringContaining("fence") },
};

describeOnOne("a remote worker", (database) => {
  const rig = remoteRig({ database });
  let worker: TestWorker;
  beforeAll(async () => {
    worker = await createWorker(rig.service, rig.ann);
  });
  const typesOf = async (id: string) => (await rig.events(id)).map(({ type }) => type);

  test("receives a run with all its data, and its finish ends the task", async () => {
    const { body: project } = await rig.ann.v2("project.create", {
      name: "Garden",
      instruction: "Be brief.",
    });
    const file = {
      type: "file",
      file_data: `data:text/plain;base64,${Buffer.from("owls").toString("base64")}`,
      filename: "birds.txt",
    };
    const id = await rig.create([{ type: "text", text: "Say hello" }, file], {
      project_id: project["project"].id,
      interactive_mode: true,
    });
    const run = await worker.pollUntilRun();
    expect(run).toMatchObject({
      ...{ taskId: id, fence: 1, leaseSeconds: 15, claim: 1, profile: "manus-1.6", locale: "en" },
      ...{ instruction: "Be brief.", interactive: true },
      messages: [
        {
          content: expect.stringContaining("Say hello"),
          files: [{ filename: "birds.txt", contentType: "text/plain", bytes: 4 }],
        },
      ],
    });
    const { pathname } = new URL(run.messages[0].files[0].url);
    expect(await (await fetch(`${rig.service.url}${pathname}`)).text()).toBe("owls");
    expect((await worker.append(run, [explain("1", "Hm")])).body).toEqual({ events: [{ key: "1", seq: 3 }] });
    expect(await worker.finish(run, { finish: { content: "Hello" } })).toEqual({ status: 200, body: {} });
    expect((await rig.events(id)).slice(2)).toMatchObject([
      { type: "explanation", explanation: { content: "Hm" } },
      { type: "assistant_message", assistant_message: { content: "Hello", delivery_kind: "result" } },
      { type: "status_update", status_update: { agent_status: "stopped" } },
    ]);
    expect(await worker.poll()).toBeUndefined();
  });

  test("appends each kind of event in the form that other clients read", async () => {
    const id = await rig.create();
    const run = await worker.pollUntilRun();
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
    expect((await worker.append(run, events, { credits: 3, usage: { inputTokens: 5 } })).status).toBe(200);
    expect((await rig.events(id)).slice(2)).toMatchObject([
      { plan_update: { steps: [{ status: "doing", title: "Look", started_at: 5 }] } },
      { new_plan_step: { step_id: "s1", title: "Look" } },
      { tool_used: { tool: "browser", status: "error", brief: "Read", params: { url: "x" }, result: [1] } },
      { assistant_message: { content: "Half done", delivery_kind: "progress" } },
    ]);
    expect((await rig.row(id)).credits).toBe(3);
    await worker.finish(run, { fail: { errorType: "timeout", content: "Too slow" } });
    expect((await rig.events(id)).slice(-2)).toMatchObject([
      { error_message: { error_type: "timeout", content: "Too slow" } },
      { status_update: { agent_status: "error" } },
    ]);
  });

  test("may repeat any call: it takes effect once and gets the same answer", async () => {
    const id = await rig.create();
    const run = await worker.pollUntilRun();
    const both = [explain("1"), explain("2")];
    const first = await worker.append(run, both, { credits: 2 });
    expect(await worker.append(run, both, { credits: 2 })).toEqual(first);
    expect((await worker.append(run, [explain("3"), explain("1")])).body.events).toEqual([
      { key: "3", seq: 5 },
      { key: "1", seq: 3 },
    ]);
    expect(await worker.append(run, [explain("1", "other")])).toMatchObject({
      status: 409,
      body: { code: "already_exists" },
    });
    const ends = { finish: { content: "Done" } };
    const ended = await Promise.all(Array.from({ length: 5 }, () => worker.finish(run, ends)));
    expect(ended).toEqual(ended.map(() => ({ status: 200, body: {} })));
    expect(await worker.finish(run, ends)).toEqual({ status: 200, body: {} });
    expect(await worker.finish(run, { finish: { content: "Else" } })).toMatchObject({
      status: 409,
      body: { code: "already_exists" },
    });
    expect(await worker.append(run, both)).toMatchObject(lostRun);
    expect(await typesOf(id)).toEqual([
      ...[
        "user_message",
        "status_update",
        "explanation",
        "explanation",
        "explanation",
        "assistant_message",
        "status_update",
      ],
    ]);
    expect((await rig.row(id)).credits).toBe(2);
  });

  test("concurrent appends of one key write it once", async () => {
    const id = await rig.create();
    const run = await worker.pollUntilRun();
    const replies = await Promise.all(
      Array.from({ length: 10 }, () => worker.append(run, [explain("same")])),
    );
    expect(replies).toEqual(
      replies.map(() => ({ status: 200, body: { events: [{ key: "same", seq: 3 }] } })),
    );
    expect(await typesOf(id)).toEqual(["user_message", "status_update", "explanation"]);
    await worker.finish(run, { finish: { content: "Done" } });
  });

  test("continues with the next turn when a message arrived in the meantime, without a stop in between and with a new fence", async () => {
    const id = await rig.create("One");
    const run = await worker.pollUntilRun();
    await worker.append(run, [explain("1")]);
    await rig.send(id, "Two");
    expect((await worker.call("Heartbeat", { taskId: id, fence: run.fence })).body).toEqual({
      newMessages: [{ content: "Two" }],
    });
    const ends = { finish: { content: "To one" } };
    const reply = await worker.finish(run, ends);
    expect(reply.body.run).toMatchObject({
      taskId: id,
      fence: run.fence + 1,
      claim: 1,
      messages: [{ content: "Two" }],
    });
    expect(reply.body.run.events).toBeUndefined();
    expect(reply.body.run.earlier.at(-1)).toEqual({ role: "assistant", content: "To one" });
    expect((await worker.finish(run, ends)).body).toEqual(reply.body);
    expect(await worker.append(run, [explain("late")])).toMatchObject(lostRun);
    expect((await worker.append(reply.body.run, [explain("1")])).body.events).toEqual([{ key: "1", seq: 6 }]);
    await worker.finish(reply.body.run, { finish: { content: "To two" } });
    expect((await typesOf(id)).filter((type) => type === "status_update")).toHaveLength(2);
  });

  test("has the messages of earlier turns with their files, and the uses of tools, which a new worker can continue from", async () => {
    const file = {
      type: "file",
      file_data: `data:text/plain;base64,${Buffer.from("owls").toString("base64")}`,
      filename: "birds.txt",
    };
    const id = await rig.create([{ type: "text", text: "Count" }, file]);
    const run = await worker.pollUntilRun();
    const { uploadId } = (
      await worker.call("Upload", {
        taskId: id,
        fence: run.fence,
        filename: "sum.txt",
        content: Buffer.from("4").toString("base64"),
      })
    ).body;
    const use = {
      tool: "count",
      status: "error",
      brief: "Count",
      params: { path: "birds.txt" },
      result: { owls: "x".repeat(5_000) },
    };
    await worker.append(run, [{ key: "1", toolUsed: use }, explain("2")]);
    await worker.finish(run, { finish: { content: "Four", uploadIds: [uploadId] } });
    await rig.send(id, "Again");
    const next = await worker.pollUntilRun();
    expect(next.earlier).toEqual([
      { role: "user", content: expect.stringContaining("Count") },
      { role: "assistant", content: "Four" },
    ]);
    const files = (name: string, bytes: number) => [
      { filename: name, contentType: "text/plain", bytes, url: expect.any(String) },
    ];
    expect(next.history).toEqual([
      { role: "user", content: expect.stringContaining("Count"), files: files("birds.txt", 4) },
      {
        role: "tool",
        tool: {
          ...{ name: "count", arguments: { path: "birds.txt" }, isError: true, shortened: true },
          result: { beginning: `{"owls":"${"x".repeat(991)}` },
        },
      },
      { role: "assistant", content: "Four", files: files("sum.txt", 1) },
    ]);
    for (const [at, content] of [
      [0, "owls"],
      [2, "4"],
    ] as const) {
      const { pathname } = new URL(next.history[at].files[0].url);
      expect(await (await fetch(`${rig.service.url}${pathname}`)).text()).toBe(content);
    }
    await worker.finish(next, { finish: { content: "Done" } });
  });

  test("asks a question and receives its memo with the answer", async () => {
    const id = await rig.create();
    const run = await worker.pollUntilRun();
    await worker.finish(run, { ask: { content: "Which?", options: ["a", "b"], memo: { left: 3 } } });
    await rig.reach(id, "waiting");
    await rig.send(id, "a");
    const next = await worker.pollUntilRun();
    expect(next).toMatchObject({ taskId: id, memo: { left: 3 }, messages: [{ content: "a" }] });
    await worker.finish(next, { finish: { content: "Done" } });
  });

  test("asks for approvals: the same turn continues with the decision, at once where it was allowed before", async () => {
    const id = await rig.create();
    const run = await worker.pollUntilRun();
    await worker.append(run, [explain("1")]);
    const approval = { confirm: { kind: "terminalExecute", params: { command: "ls" } } };
    expect((await worker.finish(run, approval)).body).toEqual({});
    const waiting = (await rig.events(id)).at(-1);
    const event_id = waiting?.["status_update"].status_detail.waiting_for_event_id;
    await rig.ann.v2("task.confirmAction", {
      task_id: id,
      event_id,
      input: { accept: true, always_allow: true },
    });
    const next = await worker.pollUntilRun();
    expect(next).toMatchObject({
      ...{ taskId: id, messages: run.messages, decisions: [{ kind: "terminalExecute", accepted: true }] },
      events: [{ seq: 3, event: { key: "1", explanation: { content: "1" } } }],
    });
    const nextTurn = await worker.finish(next, approval);
    expect(nextTurn.body.run).toMatchObject({
      fence: next.fence + 1,
      decisions: [{ accepted: true }, { accepted: true }],
    });
    expect((await worker.finish(next, approval)).body).toEqual(nextTurn.body);
    await worker.finish(nextTurn.body.run, { finish: { content: "Done" } });
    expect((await rig.events(id)).filter(({ type }) => type === "tool_used")).toHaveLength(3);
  });

  test("hands its state over an approval in a memo of at most 64 KiB", async () => {
    const id = await rig.create();
    const run = await worker.pollUntilRun();
    const approval = (memo: unknown, command = "ls") => ({
      confirm: { kind: "terminalExecute", params: { command }, memo },
    });
    const refused = await worker.finish(run, approval("x".repeat(65_535)));
    expect([refused.status, refused.body.message]).toEqual([
      400,
      expect.stringContaining("confirm.memo: must be at most 64 KiB as JSON"),
    ]);
    await worker.finish(run, approval("x".repeat(65_534)));
    const event_id = (await rig.events(id)).at(-1)?.["status_update"].status_detail.waiting_for_event_id;
    await rig.ann.v2("task.confirmAction", {
      task_id: id,
      event_id,
      input: { accept: true, always_allow: true },
    });
    const next = await worker.pollUntilRun();
    expect(next).toMatchObject({ decisions: [{ accepted: true }], memo: "x".repeat(65_534) });
    const atOnce = await worker.finish(next, approval({ messages: [{ role: "user" }] }, "rm"));
    expect(atOnce.body.run).toMatchObject({
      decisions: [{ accepted: true }, { accepted: true }],
      memo: { messages: [{ role: "user" }] },
    });
    expect((await worker.finish(next, approval({ messages: [{ role: "user" }] }, "rm"))).body).toEqual(
      atOnce.body,
    );
    expect(await worker.finish(next, approval({ messages: [] }, "rm"))).toMatchObject({
      status: 409,
      body: { code: "already_exists" },
    });
    expect(JSON.stringify(await rig.events(id)), "no event shows a memo").not.toContain("xxx");
    await worker.finish(atOnce.body.run, { finish: { content: "Done" } });
  });

  test("proposes a schedule, which the approval creates, with the platform's text and times", async () => {
    const id = await rig.create();
    const run = await worker.pollUntilRun();
    const params = { name: "Report", interval_seconds: 3600, message: "Go.", next_times: ["soon"] };
    const refused = await worker.finish(run, {
      confirm: { kind: "scheduleCreate", params: { ...params, time_zone: "Mars/Base" } },
    });
    expect([refused.status, refused.body.message]).toEqual([
      400,
      expect.stringContaining("confirm.params.time_zone: is not a name"),
    ]);
    await worker.finish(run, {
      confirm: { kind: "scheduleCreate", description: "Say hello", params, memo: { left: 3 } },
    });
    const { waiting_description: description, waiting_for_event_id: event_id } =
      (await rig.events(id)).at(-1)?.["status_update"].status_detail ?? {};
    expect(description).toMatch(/^Create the schedule Report: every 3600 seconds/);
    expect(description).not.toMatch(/soon|hello/);
    await rig.ann.v2("task.confirmAction", { task_id: id, event_id });
    const next = await worker.pollUntilRun();
    const [schedule] = (await rig.ann.v2("schedule.list")).body["data"];
    expect(schedule).toMatchObject({ name: "Report", interval_seconds: 3600 });
    expect(next.memo).toEqual({ left: 3 });
    expect(next.decisions).toMatchObject([
      { kind: "scheduleCreate", accepted: true, input: { schedule_id: schedule.id } },
    ]);
    await rig.ann.v2("schedule.delete", { schedule_id: schedule.id });
    await worker.finish(next, { finish: { content: "Done" } });
  });

  test("returns the requested structured output", async () => {
    const schema = {
      type: "object",
      properties: { n: { type: "number" } },
      required: ["n"],
      additionalProperties: false,
    };
    const id = await rig.create("Count", { structured_output_schema: schema });
    const run = await worker.pollUntilRun();
    expect(run.outputSchema).toEqual(schema);
    await worker.finish(run, { finish: { content: "Two", output: { n: 2 } } });
    expect((await rig.events(id)).at(-1)).toMatchObject({
      structured_output_result: { success: true, value: { n: 2 } },
    });
  });

  test("releases a run, and another worker continues at once without loss", async () => {
    const id = await rig.create();
    const run = await worker.pollUntilRun();
    await worker.append(run, [explain("1")]);
    const other = await createWorker(rig.service, rig.ann);
    const waits = other.pollUntilRun({ waitSeconds: 20 });
    expect((await worker.call("Release", { taskId: id, fence: run.fence })).status).toBe(200);
    const next = await waits;
    expect(next).toMatchObject({ taskId: id, events: [{ seq: 3, event: { key: "1" } }] });
    expect(next.fence).toBeGreaterThan(run.fence);
    expect(await worker.append(run, [explain("2")])).toMatchObject(lostRun);
    expect((await worker.call("Heartbeat", { taskId: id, fence: run.fence })).body).toEqual({ stop: "lost" });
    await other.finish(next, { finish: { content: "Done" } });
  });

  test("must drop runs that the user stopped or deleted, and writes nothing more", async () => {
    const [stopped, deleted] = [await rig.create(), await rig.create()];
    const runs = new Map(
      [await worker.pollUntilRun(), await worker.pollUntilRun()].map((run) => [run.taskId, run]),
    );
    await rig.ann.v2("task.stop", { task_id: stopped });
    await rig.ann.v2("task.delete", { task_id: deleted, stop: true });
    for (const [id, stop] of [
      [stopped, "stopped"],
      [deleted, "deleted"],
    ] as const) {
      const { fence } = runs.get(id);
      expect((await worker.call("Heartbeat", { taskId: id, fence })).body).toEqual({ stop });
      expect(await worker.append(runs.get(id), [explain("1")])).toMatchObject(lostRun);
      expect(await worker.finish(runs.get(id), { finish: { content: "Done" } })).toMatchObject(lostRun);
    }
    expect(await typesOf(stopped)).toEqual(["user_message", "status_update", "user_stop", "status_update"]);
  });
});
