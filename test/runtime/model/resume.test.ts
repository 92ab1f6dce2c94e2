import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { defined } from "../../../src/core/defined.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { evaluate } from "../../../src/core/permissions/evaluate.ts";
import { readRules } from "../../../src/core/permissions/rule.ts";
import type { NewEvent } from "../../../src/core/tasks/event.ts";
import type { Turn } from "../../../src/runtime/agent.ts";
import { connectorTools } from "../../../src/runtime/agents/model/connector-tool.ts";
import type { ToolUse } from "../../../src/runtime/agents/model/tool.ts";
import { sample } from "../../support/depth.ts";
import type { Answering, ModelRequest, Reply } from "../../support/model/script.ts";
import { modelApis, openModelServer } from "../../support/model/server.ts";
import { configOf, deploy, echo, runModel, type Stored } from "./model-run.ts";

const nothing: Stored = { events: [], rows: [] };
const endpoints = await Promise.all(
  modelApis.map(async (api) => ({ api, server: await openModelServer(api) })),
);
afterAll(async () => {
  for (const { server } of endpoints) await server[Symbol.asyncDispose]();
});

/** A model that depends only on its input: the number of its answers determines its step. */
const deterministic =
  (replies: readonly Answering[]) =>
  ({ messages }: ModelRequest): Reply =>
    replies[messages.filter(({ role }) => role === "assistant").length] ?? { text: "Enough." };

const long = "A sentence that is long enough to be told after some others like it. ".repeat(12);
const arbitraryCall = fc.oneof(
  fc.record({
    name: fc.constant("echo"),
    input: fc.record({ text: fc.constantFrom("a", "b", "漢字", "x".repeat(5_000)) }),
  }),
  fc.record({ name: fc.constantFrom("echo", "no_such_tool"), input: fc.constant({ wrong: true }) }),
  fc.record({
    name: fc.constant("plan"),
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

/** All events but thoughts. */
const comparable = (events: readonly NewEvent[]) => events.filter(({ type }) => type !== "explanation");
const thoughts = (events: readonly NewEvent[]) =>
  events.flatMap((event) => (event.type === "explanation" ? [event.payload.content] : []));

describe.each(endpoints)("a turn that is cut at any event, with a model behind $api", ({ api, server }) => {
  const config = configOf(api, server);

  /** A run from what another has stored, with the model's input and the used tools. */
  async function runFrom(script: readonly Answering[], stored: Stored) {
    server.play(deterministic(script));
    const before = server.requests.length;
    const uses: ToolUse[] = [];
    const run = await runModel({ config, tools: [echo(uses)], stored });
    return {
      ...run,
      told: server.requests.slice(before).map(({ body }) => body),
      uses: uses.map(({ input }) => input),
    };
  }

  test("continues as if uncut: same requests, byte for byte, no event repeated, no written use made again", async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryScript, fc.nat(), async (script, index) => {
        const whole = await runFrom(script, nothing);
        expect(whole.outcome).toMatchObject({ kind: "finish" });
        // The last step of a plan ends with the turn, in the same change.
        const cuts = [
          nothing,
          ...whole.states.slice(0, whole.events.at(-1)?.type === "plan_update" ? -2 : -1),
        ];
        const cut = cuts[index % cuts.length] ?? nothing;
        const resumed = await runFrom(script, cut);
        expect(resumed.events.slice(0, cut.events.length), "stored events are yielded unchanged").toEqual(
          cut.events,
        );
        expect(comparable(resumed.events)).toEqual(comparable(whole.events));
        expect(resumed.outcome).toEqual(whole.outcome);
        const answers = cut.rows.filter(({ role }) => role === "assistant").length;
        expect(resumed.told.map((body) => JSON.stringify(body))).toEqual(
          whole.told.slice(answers).map((body) => JSON.stringify(body)),
        );
        const told = thoughts(resumed.events);
        expect(thoughts(whole.events), "thoughts are sent at most once").toEqual(
          expect.arrayContaining(told),
        );
        expect(told.length).toBeLessThanOrEqual(thoughts(whole.events).length);
        const done = cut.events.filter(
          (event) => event.type === "tool_used" && event.payload.status === "success",
        ).length;
        expect(resumed.uses).toEqual(whole.uses.slice(done));
      }),
      { numRuns: sample(200, 20) },
    );
  });

  test.each([
    { accepted: true },
    { accepted: false },
  ])("waits for an approval while the other calls of the step run, and continues with $accepted without a model call", async (decision) => {
    const done: string[] = [];
    const calls = [
      { name: "deploy_site", input: { site: "shop" } },
      { name: "echo", input: { text: "a" } },
      { name: "deploy_site", input: { site: "blog" } },
    ];
    server.play([{ text: "I deploy.", calls }, { text: "Done." }]);
    const before = server.requests.length;
    const tools = [echo(), deploy(done)];
    const first = await runModel({ config, tools });
    expect(first.outcome).toMatchObject({
      kind: "confirm",
      action: "deployAction",
      params: { site: "shop" },
    });
    expect(first.events.slice(1)).toMatchObject([
      { type: "tool_used", payload: { tool: "echo", status: "success" } },
      {
        type: "tool_used",
        payload: { tool: "deploy_site", status: "pending_confirmation", params: { site: "shop" } },
      },
    ]);
    expect(server.requests.length - before).toBe(1);

    const again = await runModel({ config, tools, stored: first });
    expect(again.outcome, "a run that was lost while it waited asks again").toEqual(first.outcome);
    expect([again.events, again.rows]).toEqual([first.events, first.rows]);

    const decided = { kind: "deployAction", input: {}, ...decision } as const;
    const second = await runModel({ config, tools, stored: first, turn: { decisions: [decided] } });
    expect(done).toEqual(decision.accepted ? ["shop"] : []);
    expect(second.outcome).toMatchObject({ kind: "finish", content: "Done." });
    expect(second.events.slice(first.events.length)).toMatchObject([
      { type: "tool_used", payload: { status: decision.accepted ? "success" : "error" } },
    ]);
    const { messages } = server.requests.at(-1) ?? { messages: [] };
    expect(messages.slice(2).map(({ role, calls: made }) => [role, made.map(({ name }) => name)])).toEqual([
      ["assistant", ["deploy_site", "echo", "deploy_site"]],
      ["tool", []],
      ["tool", []],
      ["tool", []],
    ]);
    expect(messages.filter(({ role }) => role === "tool").map(({ text }) => text)).toEqual([
      expect.stringContaining("echoed"),
      expect.stringContaining("Not run: another call"),
      expect.stringContaining(decision.accepted ? "Deployed." : "The user refused this use."),
    ]);
  });

  test("does not end for uses that a rule allows, and names the rule in their events", async () => {
    const done: string[] = [];
    const calls = ["shop", "blog"].map((site) => ({ name: "deploy_site", input: { site } }));
    server.play([{ calls }, { text: "Done." }]);
    const rules = readRules([{ tool: "deploy_*", pattern: "?*o*", decision: "allow" }], "");
    const permit: Turn["permit"] = async (use) => evaluate([{ source: "task", rules }], use);
    const { outcome, events, rows } = await runModel({ config, tools: [deploy(done)], turn: { permit } });
    expect(outcome).toMatchObject({ kind: "finish", content: "Done." });
    expect(done).toEqual(["shop", "blog"]);
    expect(events).toMatchObject(
      done.map(() => ({ payload: { status: "success", allowedBy: "task: deploy_* ?*o*" } })),
    );
    expect(rows.flatMap(({ role, parts }) => (role === "state" ? [parts[0]?.type] : []))).toEqual([
      "begun",
      "begun",
    ]);
  });

  test.each([
    undefined,
    true,
  ] as const)("repeats a call of a connector that was lost only if its tool is idempotent: %s", async (isIdempotent) => {
    const input: JsonObject = { bed: "roses" };
    const tool = {
      name: "water",
      description: "",
      inputSchema: { type: "object" },
      policy: "allow",
    } as const;
    const connectors = [{ uid: "u", name: "Garden", tools: [{ ...tool, ...defined({ isIdempotent }) }] }];
    let calls = 0;
    const garden = connectorTools({
      async call() {
        calls += 1;
        return { kind: "answer", answer: { value: "Watered.", isError: false } };
      },
    });
    const tools = garden({ connectors } as unknown as Turn);
    server.play([{ calls: [{ name: "garden_water", input }] }, { text: "Done." }]);
    const whole = await runModel({ config, tools });
    const lost = whole.states.findLast(({ rows }) => !rows.some(({ role }) => role === "tool"));
    server.play([{ text: "I see." }]);
    await runModel({ config, tools, ...defined({ stored: lost }) });
    expect(calls).toBe(isIdempotent ? 2 : 1);
    const text = server.requests.at(-1)?.messages.at(-1)?.text;
    expect(text).toContain(isIdempotent ? "Watered." : "it may have taken effect");
  });

  test("does not repeat an effect that had begun when its run was lost, and says so to the model", async () => {
    const done: string[] = [];
    server.play([{ calls: [{ name: "deploy_site", input: { site: "shop" } }] }, { text: "Done." }]);
    const tools = [deploy(done)];
    const first = await runModel({ config, tools });
    const turn = { decisions: [{ kind: "deployAction", input: {}, accepted: true } as const] };
    const second = await runModel({ config, tools, stored: first, turn });
    expect(done).toEqual(["shop"]);
    const begun = second.states.find(({ rows }) => rows.at(-1)?.parts[0]?.type === "begun");
    expect(
      second.yields[begun ? second.states.indexOf(begun) : -1]?.isAwaited,
      "it is written before the effect",
    ).toBe(true);

    server.play([{ text: "I see." }]);
    const third = await runModel({ config, tools, turn, ...(begun && { stored: begun }) });
    expect(done, "no second effect").toEqual(["shop"]);
    expect(server.requests.at(-1)?.messages.at(-1)?.text).toContain(
      "it may have taken effect: check before you repeat it",
    );
    expect(third.events.at(-1)).toMatchObject({
      type: "tool_used",
      payload: { tool: "deploy_site", status: "error" },
    });
  });
});
