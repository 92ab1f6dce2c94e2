import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import type { NewEvent } from "../../../src/core/tasks/event.ts";
import type { ToolUse } from "../../../src/runtime/agents/model/tool.ts";
import { sample } from "../../support/depth.ts";
import type { Answering, ModelRequest, Reply } from "../../support/model/script.ts";
import { modelApis, openModelServer } from "../../support/model/server.ts";
import { configOf, deploy, echo, runModel } from "./model-run.ts";

const endpoints = await Promise.all(
  modelApis.map(async (api) => ({ api, server: await openModelServer(api) })),
);
afterAll(async () => {
  for (const { server } of endpoints) await server[Symbol.asyncDispose]();
});

/**
 * A model that depends only on its input: the uses with results determine its step. It continues a step of
 * which some uses are done, without text.
 */
const deterministic =
  (replies: readonly Answering[]) =>
  ({ messages }: ModelRequest): Reply => {
    let done = messages
      .slice(messages.findLastIndex(({ role }) => role === "user"))
      .filter(({ role }) => role === "tool").length;
    for (const reply of replies) {
      const { calls = [] } = reply;
      if (done === 0) return reply;
      if (done < calls.length) return { calls: calls.slice(done) };
      done -= calls.length;
    }
    return { text: "Enough." };
  };

const long = "A sentence that is long enough to be told after some others like it. ".repeat(12);
const arbitraryCall = fc.oneof(
  fc.record({
    name: fc.constant("echo"),
    input: fc.record({ text: fc.constantFrom("a", "b", "漢字", "x".repeat(5_000)) }),
  }),
  fc.record({ name: fc.constantFrom("echo", "no_such_tool"), input: fc.constant({ wrong: true }) }),
  fc.record({
    name: fc.constant("update_plan"),
    input: fc.record({
      steps: fc.array(
        fc.record({
          title: fc.constantFrom("Look", "Tell"),
          status: fc.constantFrom("todo", "doing", "done"),
        }),
        {
          minLength: 1,
          maxLength: 3,
        },
      ),
    }),
  }),
);
const arbitraryStep = fc.record(
  {
    reasoning: fc.constantFrom("I think.", long),
    text: fc.constantFrom("I begin.", "Now this.", long),
    calls: fc.array(arbitraryCall, { minLength: 1, maxLength: 3 }),
  },
  { requiredKeys: ["calls"] },
);
const arbitraryScript = fc
  .tuple(fc.array(arbitraryStep, { maxLength: 4 }), fc.constantFrom("Done.", long))
  .map(([steps, text]) => [...steps, { text }]);

/** All events but thoughts, without the ids that distinguish steps. */
const comparable = (events: readonly NewEvent[]) =>
  events
    .filter(({ type }) => type !== "explanation")
    .map((event) =>
      event.type === "tool_used" ? { ...event, payload: { ...event.payload, actionId: "" } } : event,
    );
const thoughts = (events: readonly NewEvent[]) =>
  events.flatMap((event) => (event.type === "explanation" ? [event.payload.content] : []));

describe.each(endpoints)("a turn that is cut at any event, with a model behind $api", ({ api, server }) => {
  const config = configOf(api, server);

  /** A run from the cut of another, with the model's input and the used tools. */
  async function runFrom(script: readonly Answering[], written: readonly NewEvent[]) {
    server.play(deterministic(script));
    const before = server.requests.length;
    const uses: ToolUse[] = [];
    const run = await runModel({ config, tools: [echo(uses)], turn: { written } });
    return {
      ...run,
      told: server.requests.slice(before).map(({ messages }) => messages),
      uses: uses.map(({ input }) => input),
    };
  }

  test("continues as if uncut: same input for the model, no event repeated, no written use made again", async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryScript, fc.nat(), async (script, index) => {
        const whole = await runFrom(script, []);
        expect(whole.outcome).toMatchObject({ kind: "finish" });
        // Events that are yielded together are written together, and the last step of a plan ends with the
        // turn.
        const last = whole.events.at(-1)?.type === "plan_update" ? -1 : undefined;
        const cuts = [
          0,
          ...whole.yields
            .slice(0, last)
            .map((_, i) => whole.yields.slice(0, i + 1).flatMap(({ events }) => events).length),
        ];
        const cut = cuts[index % cuts.length] ?? 0;
        const written = whole.events.slice(0, cut);
        const resumed = await runFrom(script, written);
        expect(resumed.events.slice(0, cut), "stored events are yielded unchanged").toEqual(written);
        expect(comparable(resumed.events)).toEqual(comparable(whole.events));
        expect(resumed.outcome).toEqual(whole.outcome);
        const told = thoughts(resumed.events);
        expect(thoughts(whole.events), "thoughts are sent at most once").toEqual(
          expect.arrayContaining(told),
        );
        expect(told.length).toBeLessThanOrEqual(thoughts(whole.events).length);
        const done = written.filter(
          (event) => event.type === "tool_used" && event.payload.status === "success",
        ).length;
        expect(resumed.uses).toEqual(whole.uses.slice(done));
      }),
      { numRuns: sample(200, 20) },
    );
  });

  test("sends the same conversation step by step", async () => {
    const script: Answering[] = [
      { text: "First.", calls: [{ name: "echo", input: { text: "a" } }] },
      { reasoning: "Hm.", text: "Second.", calls: [{ name: "echo", input: { text: "b" } }] },
      { text: "Done." },
    ];
    const whole = await runFrom(script, []);
    expect(whole.events.map(({ type }) => type)).toEqual([
      "assistant_message",
      "tool_used",
      "explanation",
      "assistant_message",
      "tool_used",
    ]);
    const stepsDone = [0, 0, 1, 1, 1, 2];
    for (const [cut, steps] of stepsDone.entries()) {
      const { told } = await runFrom(script, whole.events.slice(0, cut));
      expect(told, `cut after ${cut} events`).toEqual(whole.told.slice(steps));
    }
  });

  test.each([
    { accepted: true },
    { accepted: false },
  ])("waits for an approval, and continues with $accepted: the use is made with it, without a model call", async (decision) => {
    const done: string[] = [];
    const calls = [
      { name: "echo", input: { text: "a" } },
      { name: "deploy_site", input: { site: "shop" } },
      { name: "echo", input: { text: "never" } },
    ];
    server.play([{ text: "I deploy.", calls }, { text: "Done." }]);
    const before = server.requests.length;
    const first = await runModel({ config, tools: [echo(), deploy(done)] });
    expect(first.outcome).toMatchObject({
      kind: "confirm",
      action: "deployAction",
      params: { site: "shop" },
    });
    expect(first.events.at(-1)).toMatchObject({
      type: "tool_used",
      payload: { tool: "deploy_site", status: "pending_confirmation", params: { site: "shop" } },
    });
    expect(server.requests.length - before).toBe(1);

    const again = await runModel({ config, tools: [echo(), deploy(done)], turn: { written: first.events } });
    expect(again.outcome, "a run that was lost while it waited asks again").toEqual(first.outcome);
    expect(again.events).toEqual(first.events);

    const decided = { kind: "deployAction", input: {}, ...decision } as const;
    const second = await runModel({
      config,
      tools: [echo(), deploy(done)],
      turn: { written: first.events, decisions: [decided] },
    });
    expect(done).toEqual(decision.accepted ? ["shop"] : []);
    expect(second.outcome).toMatchObject({ kind: "finish", content: "Done." });
    expect(second.events.slice(first.events.length)).toMatchObject([
      { type: "tool_used", payload: { status: decision.accepted ? "success" : "error" } },
    ]);
    const { messages } = server.requests.at(-1) ?? { messages: [] };
    expect(messages.slice(2).map(({ role, calls: made }) => [role, made.map(({ name }) => name)])).toEqual([
      ["assistant", ["echo", "deploy_site"]],
      ["tool", []],
      ["tool", []],
    ]);
  });
});
