import { setImmediate as turn } from "node:timers/promises";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { Failure } from "../../../src/core/failure.ts";
import type { Usage } from "../../../src/runtime/agent.ts";
import { waitAfter } from "../../../src/runtime/agents/model/retry.ts";
import { type Reply, strangersText } from "../../support/model/script.ts";
import { modelApis, openModelServer } from "../../support/model/server.ts";
import { patientClock } from "../../support/patient-clock.ts";
import { configOf, echo, runModel } from "./model-run.ts";

const endpoints = await Promise.all(modelApis.map(async (api) => ({ api, server: await openModelServer(api) })));
afterAll(async () => {
  for (const { server } of endpoints) await server[Symbol.asyncDispose]();
});

describe("the wait after a failed call", () => {
  const fault = { passes: true, retryAfterMs: null };

  test("doubles from a second to half a minute, less up to a half by chance, and ends after six attempts", () => {
    expect([1, 2, 3, 4, 5, 6].map((attempt) => waitAfter(attempt, fault, 0))).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, null]);
    expect([1, 5].map((attempt) => waitAfter(attempt, fault, 1))).toEqual([500, 8_000]);
  });

  test("is as long as the endpoint asks, up to five minutes; who asks for more is not waited for", () => {
    expect(waitAfter(1, { ...fault, retryAfterMs: 300_000 }, 0.5)).toBe(300_000);
    expect(waitAfter(1, { ...fault, retryAfterMs: 0 }, 0.5)).toBe(0);
    expect(waitAfter(1, { ...fault, retryAfterMs: 300_001 }, 0.5)).toBeNull();
  });

  test("is none for what would fail again", () => {
    expect(waitAfter(1, { passes: false, retryAfterMs: 1 }, 0)).toBeNull();
  });
});

describe.each(endpoints)("a call of a model behind $api", ({ api, server }) => {
  const config = configOf(api, server);
  const done: Reply = { text: "Done." };
  let asked = 0;
  beforeEach(() => {
    asked = server.requests.length;
  });
  const calls = () => server.requests.length - asked;

  test.each<[string, Reply]>([
    ["408", { status: 408 }],
    ["409", { status: 409 }],
    ["429", { status: 429 }],
    ["500", { status: 500 }],
    ["503", { status: 503 }],
    ["529", { status: 529 }],
    ["a connection that is cut before it answers", { refuse: true }],
    ["an answer that is cut in the middle", { text: "Half of", after: "cut" }],
    ["an answer that is cut before it says anything", { after: "cut" }],
    ["an answer that just ends", { text: "Half of", after: "end" }],
    ["an answer of nothing at all", { after: "end" }],
    ["an answer in which something is no JSON", { text: "Half of", after: "garbage" }],
    ["an answer that says nothing", {}],
  ])("is made again after %s, and the end is as if nothing had been", async (_, fault) => {
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
  ])("waits for as long as Retry-After says in %s", async (_, headers, ms) => {
    server.play([{ status: 429, headers }, done]);
    const clock = patientClock();
    await runModel({ config, turn: { clock } });
    expect(clock.pauses).toEqual([ms]);
  });

  test("is given up after six attempts, in words of our own", async () => {
    server.play(() => ({ status: 503 }));
    const { outcome, logged } = await runModel({ config });
    expect(outcome).toEqual({ kind: "fail", errorType: "model_unavailable", content: expect.stringContaining("HTTP 503") });
    expect(calls()).toBe(6);
    expect(JSON.stringify([outcome, logged])).not.toContain(strangersText);
    expect(logged.at(-1)).toMatchObject({ level: "warn", fields: { attempt: 6, fault: "down", status: 503 } });
  });

  test("is given up at once when it would have to wait for an hour", async () => {
    server.play(() => ({ status: 429, headers: { "retry-after": "3600" } }));
    const { outcome } = await runModel({ config });
    expect(outcome).toMatchObject({ kind: "fail", errorType: "model_unavailable" });
    expect(calls()).toBe(1);
  });

  test.each([400, 401, 403, 404, 422])("is not made again after %d", async (status) => {
    server.play(() => ({ status }));
    const { outcome } = await runModel({ config });
    expect(outcome).toMatchObject({ kind: "fail", errorType: "model_refused" });
    expect(calls()).toBe(1);
  });

  test.each<[string, Reply]>([
    ["does not begin", { silence: true }],
    ["stops in the middle", { text: "Half of", after: "hang" }],
  ])("is hung up when its answer %s, and made again", async (_, reply) => {
    server.play(({ nth }) => (nth === asked + 1 ? reply : done));
    const clock = patientClock();
    const patient = { ...config, limits: { ...config.limits, minutes: 1_440 } };
    const run = runModel({ config: patient, turn: { clock } });
    const { nth } = await server.received(asked + 1);
    let open = true;
    void server.closed(nth).then(() => {
      open = false;
    });
    // What is still on its way when the time is over was heard after it: then the wait begins anew.
    while (open) {
      await clock.waiting();
      clock.pass(120_000);
      await turn();
    }
    expect((await run).outcome).toEqual({ kind: "finish", content: "Done." });
  });

  test("tells what broke off only once: the next attempt tells only what it comes to", async () => {
    const long = Array.from({ length: 20 }, (_, i) => `This is sentence number ${i}, and there are some more of its kind. `).join("");
    server.play([
      { reasoning: "I think.", text: long, after: "cut" },
      { reasoning: "I think.", text: long },
    ]);
    const { events, outcome } = await runModel({ config });
    const told = events.flatMap((event) => (event.type === "explanation" ? [event.payload.content] : []));
    expect(told.length).toBeGreaterThan(1);
    expect(new Set(told).size, "nothing is told twice").toBe(told.length);
    expect(outcome).toEqual({ kind: "finish", content: long.trim() });
  });

  test("ends with timeout when the run may take no longer, also in the middle of an answer", async () => {
    server.play([{ text: "Half of", after: "hang" }]);
    const clock = patientClock();
    const run = runModel({ config: { ...config, idleSeconds: 3_600, limits: { ...config.limits, minutes: 2 } }, turn: { clock } });
    await server.received(asked + 1);
    await clock.waiting();
    clock.pass(120_000);
    expect((await run).outcome).toMatchObject({ kind: "fail", errorType: "timeout" });
  });

  test("whose answer has no end is hung up, and not made again", async () => {
    server.play([{ flood: 100_000 }]);
    const { outcome } = await runModel({ config: { ...config, maxOutputTokens: 1_000 } });
    expect(outcome).toMatchObject({ kind: "fail", errorType: "model_failed" });
    expect(calls()).toBe(1);
  });

  test("whose answer is cut at its most tokens is gone on with", async () => {
    server.play([{ text: "One, two, ", finish: "length" }, { text: "three, fo", finish: "length" }, { text: "ur." }]);
    const { outcome } = await runModel({ config });
    expect(outcome).toEqual({ kind: "finish", content: "One, two, three, four." });
    expect(server.requests.at(-1)?.messages.slice(-2)).toMatchObject([
      { role: "assistant", text: "One, two, three, fo" },
      { role: "user", text: expect.stringContaining("Go on") },
    ]);
  });

  test("whose answer the endpoint's filter holds back ends honestly", async () => {
    server.play([{ finish: "filtered" }]);
    expect((await runModel({ config })).outcome).toMatchObject({ kind: "fail", errorType: "model_refused" });
  });

  describe("is paid for:", () => {
    /** Budgets with room for so many calls; answers what was reserved. */
    function budget(callsMax: number, credits = 10) {
      const reserved: Usage[] = [];
      const reserve = async (atMost: Usage) => {
        if (reserved.length >= callsMax) throw new Failure("exhausted", "no credits");
        reserved.push(atMost);
        return { id: `h${reserved.length}`, credits };
      };
      return { reserved, reserve };
    }

    test("each call is reserved before, and settled with the events that come next, with what it used", async () => {
      server.play([
        { text: "Look.", calls: [{ name: "echo", input: { text: "a" } }], usage: { input: 300, output: 20 } },
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
        { usage: { inputTokens: 300, outputTokens: 20, toolCalls: 0 }, settles: ["h1"] },
        { usage: { inputTokens: 0, outputTokens: 0, toolCalls: 1 }, settles: ["h2"] },
        { usage: { inputTokens: 400, outputTokens: 5, toolCalls: 0 }, settles: ["h3"] },
      ]);
    });

    test("a hold that nothing was paid from is good for the next attempt; what broke off is paid by its length", async () => {
      server.play([{ status: 500 }, { text: "Half of it", after: "cut" }, { text: "Done.", usage: { input: 50, output: 5 } }]);
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
      ["the run has had its credits", { text: "Done." }, { credits: 9 }],
    ])("every hold ends with the turn when %s", async (_, reply, limits) => {
      server.play(() => reply);
      const { reserve, reserved } = budget(9);
      const { yields, outcome } = await runModel({ config: { ...config, limits: { ...config.limits, ...limits } }, turn: { reserve } });
      expect(outcome).toMatchObject({ kind: "fail" });
      expect(yields.flatMap(({ settles = [] }) => settles)).toHaveLength(reserved.length);
      expect(yields.map(({ usage }) => usage)).toEqual([{ inputTokens: 0, outputTokens: 0, toolCalls: 0 }]);
    });

    test("without room in a budget the turn ends with quota_limit, and the model is not called", async () => {
      const { reserve } = budget(0);
      expect((await runModel({ config, turn: { reserve } })).outcome).toMatchObject({ kind: "fail", errorType: "quota_limit" });
      expect(calls()).toBe(0);
    });

    test.each([
      { why: "credits", limits: { credits: 15 } },
      { why: "tokens", limits: { tokens: 1_000 } },
    ])("a run ends with quota_limit when its $why are used up", async ({ limits }) => {
      server.play(() => ({ text: "Again.", calls: [{ name: "echo", input: { text: "a" } }], usage: { input: 5_000, output: 1_000 } }));
      const { reserve } = budget(99);
      const { outcome } = await runModel({
        config: { ...config, limits: { ...config.limits, ...limits } },
        tools: [echo()],
        turn: { reserve },
      });
      expect(outcome).toMatchObject({ kind: "fail", errorType: "quota_limit" });
      expect(calls()).toBe(1);
    });
  });
});
