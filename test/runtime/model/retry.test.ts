import { setImmediate as turn } from "node:timers/promises";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { Failure } from "../../../src/core/failure.ts";
import { noUsage, type Usage } from "../../../src/core/usage/price.ts";
import { retryDelay } from "../../../src/runtime/agents/model/fault.ts";
import type { Tool } from "../../../src/runtime/agents/model/tool.ts";
import { type Reply, refusalText } from "../../support/model/script.ts";
import { modelApis, openModelServer } from "../../support/model/server.ts";
import { patientClock } from "../../support/patient-clock.ts";
import { configOf, deploy, echo, runModel, type Stored } from "./model-run.ts";

const endpoints = await Promise.all(
  modelApis.map(async (api) => ({ api, server: await openModelServer(api) })),
);
afterAll(async () => {
  for (const { server } of endpoints) await server[Symbol.asyncDispose]();
});

describe("the wait after a failed call", () => {
  const fault = { isRetryable: true, retryAfterMs: null };

  test("doubles from a second to half a minute, minus a random part of up to a half, and ends after six attempts", () => {
    expect([1, 2, 3, 4, 5, 6].map((attempt) => retryDelay(attempt, fault, 0))).toEqual([
      1_000,
      2_000,
      4_000,
      8_000,
      16_000,
      null,
    ]);
    expect([1, 5].map((attempt) => retryDelay(attempt, fault, 1))).toEqual([500, 8_000]);
  });

  test("is as long as the endpoint requests, up to five minutes; a longer request ends the retries", () => {
    expect(retryDelay(1, { ...fault, retryAfterMs: 300_000 }, 0.5)).toBe(300_000);
    expect(retryDelay(1, { ...fault, retryAfterMs: 0 }, 0.5)).toBe(0);
    expect(retryDelay(1, { ...fault, retryAfterMs: 300_001 }, 0.5)).toBeNull();
  });

  test("is absent for errors that would occur again", () => {
    expect(retryDelay(1, { isRetryable: false, retryAfterMs: 1 }, 0)).toBeNull();
  });
});

describe.each(endpoints)("a call of a model behind $api", ({ api, server }) => {
  const config = configOf(api, server);
  const done: Reply = { text: "Done." };
  let modelCalls = 0;
  beforeEach(() => {
    modelCalls = server.requests.length;
  });
  const calls = () => server.requests.length - modelCalls;

  test.each<[string, Reply]>([
    ["408", { status: 408 }],
    ["409", { status: 409 }],
    ["429", { status: 429 }],
    ["500", { status: 500 }],
    ["503", { status: 503 }],
    ["529", { status: 529 }],
    ["a connection that is cut before it answers", { refuse: true }],
    ["an answer that is cut in the middle", { text: "Half of", after: "cut" }],
    ["an answer that is cut before its first text", { after: "cut" }],
    ["an answer that just ends", { text: "Half of", after: "end" }],
    ["an empty response", { after: "end" }],
    ["an answer with invalid JSON", { text: "Half of", after: "garbage" }],
    ["an answer without content", {}],
  ])("is repeated after %s, and the turn ends as without the fault", async (_, fault) => {
    server.play([fault, fault, done]);
    const clock = patientClock();
    const { outcome, events } = await runModel({ config, turn: { clock } });
    expect(outcome).toEqual({ kind: "finish", content: "Done." });
    expect(events).toEqual([]);
    expect(calls()).toBe(3);
    expect(clock.pauses).toHaveLength(2);
  });

  test.each<[string, Readonly<Record<string, string>>, number]>([
    ["seconds", { "retry-after": "7" }, 7_000],
    ["a date", { "retry-after": new Date(1_790_000_012_000).toUTCString() }, 12_000],
    ["milliseconds", { "retry-after-ms": "250", "retry-after": "9" }, 250],
  ])("waits for the time of Retry-After in %s", async (_, headers, ms) => {
    server.play([{ status: 429, headers }, done]);
    const clock = patientClock();
    await runModel({ config, turn: { clock } });
    expect(clock.pauses).toEqual([ms]);
  });

  test("ends after six attempts, with our own error text", async () => {
    server.play(() => ({ status: 503 }));
    const { outcome, logged } = await runModel({ config });
    expect(outcome).toEqual({
      kind: "fail",
      errorType: "model_unavailable",
      content: expect.stringContaining("HTTP 503"),
    });
    expect(calls()).toBe(6);
    expect(JSON.stringify([outcome, logged])).not.toContain(refusalText);
    expect(logged.at(-1)).toMatchObject({
      level: "warn",
      fields: { attempt: 6, fault: "down", status: 503 },
    });
  });

  test("ends at once when it would have to wait for an hour", async () => {
    server.play(() => ({ status: 429, headers: { "retry-after": "3600" } }));
    const { outcome } = await runModel({ config });
    expect(outcome).toMatchObject({ kind: "fail", errorType: "model_unavailable" });
    expect(calls()).toBe(1);
  });

  test.each([400, 401, 403, 404, 422])("is not repeated after %d", async (status) => {
    server.play(() => ({ status }));
    const { outcome } = await runModel({ config });
    expect(outcome).toMatchObject({ kind: "fail", errorType: "model_refused" });
    expect(calls()).toBe(1);
  });

  test.each<[string, Reply]>([
    ["does not begin", { silence: true }],
    ["stops in the middle", { text: "Half of", after: "hang" }],
  ])("is closed when its answer %s, and repeated", async (_, reply) => {
    server.play(({ nth }) => (nth === modelCalls + 1 ? reply : done));
    const clock = patientClock();
    const patient = { ...config, limits: { ...config.limits, minutes: 1_440 } };
    const run = runModel({ config: patient, turn: { clock } });
    const { nth } = await server.received(modelCalls + 1);
    let open = true;
    void server.closed(nth).then(() => {
      open = false;
    });
    // Bytes in transit at the timeout arrive after it, and the wait starts over.
    while (open) {
      await clock.waiting();
      clock.pass(120_000);
      await turn();
    }
    expect((await run).outcome).toEqual({ kind: "finish", content: "Done." });
  });

  test("reports an interrupted text only once: the next attempt sends only its own result", async () => {
    const long = Array.from(
      { length: 20 },
      (_, i) => `This is sentence number ${i}, and there are some more of its kind. `,
    ).join("");
    server.play([
      { reasoning: "I think.", text: long, after: "cut" },
      { reasoning: "I think.", text: long },
    ]);
    const { events, outcome } = await runModel({ config });
    const explanations = events.flatMap((event) =>
      event.type === "explanation" ? [event.payload.content] : [],
    );
    expect(explanations.length).toBeGreaterThan(1);
    expect(new Set(explanations).size, "no explanation is repeated").toBe(explanations.length);
    expect(outcome).toEqual({ kind: "finish", content: long.trim() });
  });

  test("ends with timeout when the run's time is over, also during an answer", async () => {
    server.play([{ text: "Half of", after: "hang" }]);
    const clock = patientClock();
    const run = runModel({
      config: { ...config, idleSeconds: 3_600, limits: { ...config.limits, minutes: 2 } },
      turn: { clock },
    });
    await server.received(modelCalls + 1);
    await clock.waiting();
    clock.pass(120_000);
    expect((await run).outcome).toMatchObject({ kind: "fail", errorType: "timeout" });
  });

  test("whose answer has no end is closed, and not repeated", async () => {
    server.play([{ flood: 100_000 }]);
    const { outcome } = await runModel({ config: { ...config, maxOutputTokens: 1_000 } });
    expect(outcome).toMatchObject({ kind: "fail", errorType: "model_failed" });
    expect(calls()).toBe(1);
  });

  test("whose answer is cut at its maximum tokens continues", async () => {
    server.play([
      { text: "One, two, ", finish: "length" },
      { text: "three, fo", finish: "length" },
      { text: "ur." },
    ]);
    const { outcome } = await runModel({ config });
    expect(outcome).toEqual({ kind: "finish", content: "One, two, three, four." });
    expect(server.requests.at(-1)?.messages.slice(-2)).toMatchObject([
      { role: "assistant", text: "three, fo" },
      { role: "user", text: expect.stringContaining("Continue") },
    ]);
  });

  test("whose answer the endpoint's filter blocks ends with a plain message", async () => {
    server.play([{ finish: "filtered" }]);
    expect((await runModel({ config })).outcome).toMatchObject({ kind: "fail", errorType: "model_refused" });
  });

  describe("is charged:", () => {
    /** 5,000 tokens of input cost 10 credits, and none from the cache. */
    const price = { inputToken: 2_000, cachedInputToken: 0, outputToken: 0, toolCall: 0, turn: 0 };

    /** Budgets with room for this many calls; they record the reserved amounts. */
    function budget(callsMax: number, credits = 10) {
      const reserved: Usage[] = [];
      const reserve = async (atMost: Usage) => {
        if (reserved.length >= callsMax) throw new Failure("resource_exhausted", "no credits");
        reserved.push(atMost);
        return { id: `h${reserved.length}`, credits, price };
      };
      return { reserved, reserve };
    }

    test("each call is reserved first, and settled with the next events by its usage", async () => {
      server.play([
        {
          text: "Look.",
          calls: [{ name: "echo", input: { text: "a" } }],
          usage: { input: 300, cached: 200, written: 60, output: 20 },
        },
        { text: "Done.", usage: { input: 400, output: 5 } },
      ]);
      const { reserved, reserve } = budget(9);
      const { yields } = await runModel({ config, tools: [echo()], turn: { reserve } });
      expect(reserved).toEqual([
        { inputTokens: expect.any(Number), outputTokens: 1_000, toolCalls: 0 },
        { inputTokens: 0, outputTokens: 0, toolCalls: 1 },
        { inputTokens: expect.any(Number), outputTokens: 1_000, toolCalls: 0 },
      ]);
      const costs = yields.map(({ usage, settles }) => ({ usage, settles: settles?.map(({ id }) => id) }));
      expect(costs).toEqual([
        {
          usage: {
            ...noUsage,
            inputTokens: 300,
            cachedInputTokens: 200,
            cacheWriteTokens: api === "anthropic" ? 60 : 0,
            outputTokens: 20,
          },
          settles: ["h1"],
        },
        { usage: { ...noUsage, toolCalls: 1 }, settles: ["h2"] },
        { usage: { ...noUsage, inputTokens: 400, outputTokens: 5 }, settles: ["h3"] },
      ]);
    });

    test("an unused hold serves the next attempt; an interrupted answer is charged by its length", async () => {
      server.play([
        { status: 500 },
        { text: "Half of it", after: "cut" },
        { text: "Done.", usage: { input: 50, output: 5 } },
      ]);
      const { reserve } = budget(9);
      const { yields } = await runModel({ config, turn: { reserve } });
      expect(yields.flatMap(({ settles = [] }) => settles.map(({ id }) => id))).toEqual(["h1", "h2"]);
      const [{ usage } = {}] = yields;
      expect(usage?.outputTokens).toBe(5 + Math.ceil("Half of it".length / 4));
      expect(usage?.inputTokens).toBeGreaterThan(50);
    });

    test.each<[string, Reply, object]>([
      ["the endpoint fails", { status: 503 }, {}],
      ["the endpoint refuses", { status: 401 }, {}],
      ["the run has used its credits", { text: "Done." }, { credits: 9 }],
    ])("every hold ends with the turn when %s", async (_, reply, limits) => {
      server.play(() => reply);
      const { reserve, reserved } = budget(9);
      const { yields, outcome } = await runModel({
        config: { ...config, limits: { ...config.limits, ...limits } },
        turn: { reserve },
      });
      expect(outcome).toMatchObject({ kind: "fail" });
      expect(yields.flatMap(({ settles = [] }) => settles)).toHaveLength(reserved.length);
      expect(yields.map(({ usage }) => usage)).toEqual([noUsage]);
    });

    test("without room in a budget the turn ends with quota_limit and no model call", async () => {
      const { reserve } = budget(0);
      expect((await runModel({ config, turn: { reserve } })).outcome).toMatchObject({
        kind: "fail",
        errorType: "quota_limit",
        content: expect.stringContaining("other runs hold them"),
      });
      expect(calls()).toBe(0);
    });

    test("an approval begins no limit of the turn again, and waiting for it takes no time", async () => {
      const limited = { ...config, limits: { ...config.limits, minutes: 3 } };
      const clock = patientClock();
      const slow: Tool = {
        ...deploy(),
        async use(using) {
          clock.pass(using.decisions.length * 100_000);
          return deploy().use(using);
        },
      };
      server.play(() => ({
        calls: [{ name: "deploy_site", input: { site: "a" } }],
        usage: { input: 5_000, output: 1_000 },
      }));
      const decided = Array.from(
        { length: 3 },
        () => ({ kind: "deployAction", input: {}, accepted: true }) as const,
      );
      const ends: string[] = [];
      let stored: Stored = { events: [], rows: [] };
      for (const approvals of [0, 1, 2]) {
        const last = await runModel({
          config: limited,
          tools: [slow],
          turn: { clock, decisions: decided.slice(0, approvals) },
          stored,
        });
        ends.push(last.outcome.kind === "fail" ? last.outcome.errorType : last.outcome.kind);
        stored = last;
        clock.pass(3_600_000);
      }
      expect(ends).toEqual(["confirm", "confirm", "timeout"]);
    });

    test("a model that repeats a call is reminded after the third equal result, and ends with no_progress after the fifth", async () => {
      server.play(() => ({ calls: [{ name: "echo", input: { text: "a" } }] }));
      const before = server.requests.length;
      const { outcome } = await runModel({ config, tools: [echo()] });
      expect(outcome).toMatchObject({ kind: "fail", errorType: "no_progress" });
      const reminded = server.requests
        .slice(before)
        .map(({ messages }) => messages.at(-1)?.text.includes("several times") ?? false);
      expect(reminded).toEqual([false, false, false, true, true]);
      server.play(({ nth }) =>
        nth > before + 20 ? { text: "Done." } : { calls: [{ name: "echo", input: { text: String(nth) } }] },
      );
      expect((await runModel({ config, tools: [echo()] })).outcome, "others are no repetition").toMatchObject(
        { kind: "finish" },
      );
    });

    test.each([
      { why: "credits", limits: { credits: 15 } },
      { why: "tokens", limits: { tokens: 1_000 } },
    ] as const)("a run ends with quota_limit when its $why are used up", async ({ limits }) => {
      server.play(() => ({
        text: "Again.",
        calls: [{ name: "echo", input: { text: "a" } }],
        usage: { input: 5_000, output: 1_000 },
      }));
      const { reserve } = budget(99);
      const { outcome } = await runModel({
        config: { ...config, limits: { ...config.limits, ...limits } },
        tools: [echo()],
        turn: { reserve },
      });
      expect(outcome).toMatchObject({ kind: "fail", errorType: "quota_limit" });
      expect(calls()).toBe(1);
    });

    test("the credits of a turn count what the cache had at its price, and tools too", async () => {
      server.play(({ nth }) => ({
        calls: [{ name: "echo", input: { text: String(nth) } }],
        usage: { input: 5_000, cached: 4_500, output: 1_000 },
      }));
      // A call costs 1 credit and its tool 1; each may cost 10, which have to be left.
      const toolPrice = { ...price, toolCall: 1_000_000 };
      const reserve = async () => ({ id: "h", credits: 10, price: toolPrice });
      const limited = { ...config, limits: { ...config.limits, credits: 33 } };
      const { outcome, rows } = await runModel({ config: limited, tools: [echo()], turn: { reserve } });
      expect(outcome).toMatchObject({ errorType: "quota_limit" });
      expect(rows.filter(({ role }) => role === "assistant")).toHaveLength(12);
      expect(rows.at(-1)?.credits).toBe(24);
    });
  });
});
