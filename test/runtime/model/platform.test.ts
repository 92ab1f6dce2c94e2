import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { toolNames } from "../../../src/core/permissions/tool-names.ts";
import { planReminder } from "../../../src/runtime/agents/model/plan.ts";
import { openTestStore } from "../../support/database.ts";
import { modelsFile } from "../../support/model/rig.ts";
import { type ModelRequest, refusalText } from "../../support/model/script.ts";
import { modelApis, openModelServer } from "../../support/model/server.ts";
import { openService } from "../../support/service.ts";
import { taskRig } from "../../support/task-rig.ts";
import { untilStatus } from "../../support/until.ts";
import type { V2Body } from "../../support/wires.ts";
import { untilTrue } from "../../tasks/watch-rig.ts";

const endpoints = await Promise.all(
  modelApis.map(async (api) => {
    const server = await openModelServer(api);
    return { api, server, file: modelsFile(api, server, { limits: { steps: 5 } }) };
  }),
);
afterAll(async () => {
  for (const { server, file } of endpoints) {
    await server[Symbol.asyncDispose]();
    file[Symbol.dispose]();
  }
});

const schema = {
  type: "object",
  properties: { total: { type: "integer" } },
  required: ["total"],
  additionalProperties: false,
};
const types = (events: readonly V2Body[]) => events.map(({ type }) => type);
const payloads = (events: readonly V2Body[], type: string) =>
  events.filter((event) => event["type"] === type).map((event) => event[type]);

/** The model's input, without the marks of the run. */
const unmarked = (request: ModelRequest | undefined): unknown =>
  JSON.parse(JSON.stringify(request?.messages).replaceAll(/data-\w+/g, "data"));

describe.each(endpoints)("a task whose profile is a model behind $api", ({ api, server, file }) => {
  const rig = taskRig({ env: file.env });
  let modelCalls = 0;
  beforeEach(() => {
    modelCalls = server.requests.length;
  });
  const requests = () => server.requests.slice(modelCalls);

  test("is answered by the model, which receives only the task", async () => {
    server.play([{ text: ["It is ", "48."] }]);
    const id = await rig.runToEnd("What is 12 * 4?", { locale: "de" });
    const events = await rig.events(id);
    expect(types(events)).toEqual(["user_message", "status_update", "assistant_message", "status_update"]);
    expect(payloads(events, "assistant_message")).toMatchObject([
      { content: "It is 48.", delivery_kind: "result" },
    ]);
    const [request] = requests();
    expect(request?.messages.map(({ role }) => role)).toEqual(["system", "user"]);
    expect(request?.messages[1]?.text).toMatch(
      /^What is 12 \* 4\?\n\n<environment>\n.*\nLanguage: de\nNetwork: every public address\n<\/environment>$/s,
    );
    const without = ["browse_task", "run_command", "skill", "web_search"];
    expect(request?.tools?.toSorted()).toEqual(
      ["plan", ...toolNames].filter((tool) => !without.includes(tool)).toSorted(),
    );
    const { authorization, "x-api-key": key } = request?.headers ?? {};
    expect(api === "anthropic" ? key : authorization).toBe(
      api === "anthropic" ? "sk-scripted" : "Bearer sk-scripted",
    );
  });

  test("remembers earlier messages, and passes the project's instruction as an instruction", async () => {
    const { body } = await rig.ann.v2("project.create", { name: "Rhymes", instruction: "Answer in rhymes." });
    server.play([{ text: "First" }, { text: "Second" }]);
    const id = await rig.runToEnd("One", { project_id: body["project"]["id"] });
    await rig.send(id, "Two");
    await rig.reach(id, "stopped");
    const [, request] = requests();
    expect(request?.messages.slice(1).map(({ role, text }) => [role, text.split("\n")[0]])).toEqual([
      ["user", "One"],
      ["assistant", "First"],
      ["user", "Two"],
    ]);
    expect(request?.messages[0]?.text).toContain("Answer in rhymes.");
  });

  test("reports thoughts as explanations, plans as plans, text before tool calls as progress, and reminds once of an open plan", async () => {
    const steps = (first: string, second: string) => ({
      steps: [
        { title: "Look", status: first },
        { title: "Tell", status: second },
      ],
    });
    server.play([
      {
        reasoning: "Two things to do.",
        text: "I make a plan.",
        calls: [{ name: "plan", input: steps("doing", "todo") }],
      },
      { calls: [{ name: "plan", input: steps("done", "doing") }] },
      { text: "I looked." },
      { text: "Done." },
    ]);
    const events = await rig.events(await rig.runToEnd("Look and tell"));
    expect(types(events)).toEqual([
      ...[
        "user_message",
        "status_update",
        "explanation",
        "assistant_message",
        "plan_update",
        "new_plan_step",
      ],
      ...["plan_update", "new_plan_step", "assistant_message"],
      ...["plan_update", "assistant_message", "status_update"],
    ]);
    expect(payloads(events, "explanation")).toEqual([{ content: "Two things to do." }]);
    expect(payloads(events, "assistant_message")).toMatchObject([
      { content: "I make a plan.", delivery_kind: "progress" },
      { content: "I looked.", delivery_kind: "progress" },
      { content: "Done.", delivery_kind: "result" },
    ]);
    const plans = payloads(events, "plan_update").map(({ steps: all }) =>
      all.map((step: V2Body) => step["status"]),
    );
    expect(plans, "the current step ends with its turn").toEqual([
      ["doing", "todo"],
      ["done", "doing"],
      ["done", "failed"],
    ]);
    expect(requests().map(({ messages }) => messages.at(-1)?.text === planReminder)).toEqual([
      ...[false, false, false, true],
    ]);
  });

  test("streams a long answer in sentences, and sends the complete answer once", async () => {
    const sentence = "This sentence has some sixty letters, as many as it needs here. ";
    server.play([{ text: Array.from({ length: 40 }, () => sentence) }]);
    const events = await rig.events(await rig.runToEnd("Write at length"));
    const explanations = payloads(events, "explanation").map(({ content }) => content);
    expect(explanations.length).toBeGreaterThan(2);
    expect(explanations.length).toBeLessThan(10);
    for (const piece of explanations) expect(piece).toMatch(/here\.$/);
    expect(payloads(events, "assistant_message")).toEqual([
      expect.objectContaining({ content: sentence.repeat(40).trim(), delivery_kind: "result" }),
    ]);
  });

  test("that is stopped closes the model's connection at once", async () => {
    server.play([{ text: "I begin", after: "hang" }]);
    const id = await rig.create("Write for ever");
    const { nth } = await server.received(modelCalls + 1);
    await rig.ann.v2("task.stop", { task_id: id });
    await server.closed(nth);
    await rig.reach(id, "stopped");
    expect(types(await rig.events(id)).slice(-2)).toEqual(["user_stop", "status_update"]);
  });

  test("returns the value for a schema, corrected once, outside the conversation", async () => {
    server.play([
      { text: "It is seven." },
      { text: '{"total": "seven"}' },
      { text: '```json\n{"total": 7}\n```' },
    ]);
    const id = await rig.runToEnd("How many?", { structured_output_schema: schema });
    const events = await rig.events(id);
    expect(types(events).slice(-3)).toEqual([
      "assistant_message",
      "status_update",
      "structured_output_result",
    ]);
    expect(events.at(-1)).toMatchObject({
      structured_output_result: { success: true, value: { total: 7 }, error: null },
    });
    const [, extraction, repair] = requests();
    expect(extraction?.messages.map(({ role }) => role)).toEqual(["system", "user", "assistant", "user"]);
    expect(repair?.messages.at(-2)?.text).toContain('"seven"');
    expect(repair?.messages.at(-1)?.text).toContain("does not conform");
  });

  test.each([
    { why: "invalid JSON twice", values: ["seven", "{"], error: "Failed to extract structured output" },
    {
      why: "a nonconforming value twice",
      values: ['{"total": 0.5}', "[]"],
      error: "Extracted value does not conform to the provided schema",
    },
  ])("answers even when the model returns $why for a schema", async ({ values, error }) => {
    server.play([{ text: "It is seven." }, ...values.map((text) => ({ text }))]);
    const events = await rig.events(await rig.runToEnd("How many?", { structured_output_schema: schema }));
    expect(events.at(-1)).toMatchObject({
      structured_output_result: { success: false, value: { total: 0 }, error },
    });
    expect(payloads(events, "assistant_message")).toMatchObject([{ content: "It is seven." }]);
    expect(requests()).toHaveLength(3);
  });

  test("ends with a plain message after the steps that a run may take", async () => {
    const plan = {
      calls: [{ name: "plan", input: { steps: [{ title: "Again", status: "doing" }] } }],
    };
    server.play(() => plan);
    const id = await rig.create("Plan for ever");
    await rig.reach(id, "error");
    const events = await rig.events(id);
    expect(payloads(events, "error_message")).toMatchObject([{ error_type: "step_limit" }]);
    expect(payloads(events, "plan_update").at(-1)).toMatchObject({ steps: [{ status: "failed" }] });
    expect(requests()).toHaveLength(5);
  });

  test.each([
    { status: 401, type: "model_refused" },
    { status: 403, type: "model_refused" },
    { status: 404, type: "model_refused" },
    { status: 400, type: "model_refused" },
  ])("ends at once when the model answers $status, with our own error text", async ({ status, type }) => {
    server.play([{ status }]);
    const id = await rig.create("Hello");
    await rig.reach(id, "error");
    const events = await rig.events(id);
    expect(payloads(events, "error_message")).toMatchObject([
      { error_type: type, content: expect.stringContaining(`HTTP ${status}`) },
    ]);
    expect(requests()).toHaveLength(1);
    const outside = `${JSON.stringify(events)} ${JSON.stringify(rig.service.logged)}`;
    expect(outside).not.toContain(refusalText);
    expect(outside).not.toContain("sk-scripted");
  });

  test("finishes a call of the model that its process waits for while it stops, and requests no answer twice", async () => {
    const answer = Promise.withResolvers<void>();
    server.play([
      {
        text: "I plan.",
        calls: [{ name: "plan", input: { steps: [{ title: "A", status: "done" }] } }],
        wait: answer.promise,
      },
      { status: 418 },
    ]);
    await using db = await openTestStore("sqlite");
    await using first = await openService({ over: db, env: { ...file.env, DRAIN_SECONDS: "30" } });
    const { body } = await (await first.person()).v2("task.create", { message: { content: "Go" } });
    const id = String(body["task_id"]);
    await server.received(modelCalls + 1);
    const drained = first.drain();
    await untilTrue(() => first.logged.some(({ text }) => text === "runs finish their calls of a model"));
    answer.resolve();
    await drained;
    expect(requests(), "the next call is for another process").toHaveLength(1);
    expect(await db.store.tasks.byId(id)).toMatchObject({ status: "running", nodeId: null });
    server.play([{ text: "Done." }]);
    await using _second = await openService({ over: db, env: file.env });
    await untilStatus(db.store, id, "stopped");
    const events = await db.store.events.list(id, { order: "asc", limit: 100, verbose: true });
    expect(
      events.filter(({ type }) => type === "assistant_message").map(({ payload }) => payload),
    ).toMatchObject([{ content: "I plan." }, { content: "Done." }]);
    expect(requests()).toHaveLength(2);
  });

  test("continues in another process after its own has stopped: the model is called again, and no event is repeated", async () => {
    server.play([
      {
        text: "I plan.",
        calls: [{ name: "plan", input: { steps: [{ title: "A", status: "done" }] } }],
      },
      { text: "Half", after: "hang" },
    ]);
    await using db = await openTestStore("sqlite");
    await using first = await openService({ over: db, env: file.env });
    const { body } = await (await first.person()).v2("task.create", { message: { content: "Go" } });
    const id = String(body["task_id"]);
    const { nth } = await server.received(modelCalls + 2);
    await first.drain();
    await server.closed(nth);
    server.play([{ text: "Done." }]);
    await using _second = await openService({ over: db, env: file.env });
    await untilStatus(db.store, id, "stopped");
    const events = await db.store.events.list(id, { order: "asc", limit: 100, verbose: true });
    expect(events.map(({ type }) => type)).toEqual([
      ...["user_message", "status_update", "assistant_message", "plan_update"],
      ...["assistant_message", "status_update"],
    ]);
    const [, before, after] = requests();
    expect(unmarked(after)).toEqual(unmarked(before));
  });
});
