import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { TranscriptPart } from "../../../src/core/tasks/transcript.ts";
import type { Tool, ToolUse } from "../../../src/runtime/agents/model/tool.ts";
import { sample } from "../../support/depth.ts";
import type { Answering, ModelRequest } from "../../support/model/script.ts";
import { modelApis, openModelServer } from "../../support/model/server.ts";
import {
  askUser,
  configOf,
  deploy,
  echo,
  type ModelRun,
  type RunOptions,
  runModel,
  type Stored,
} from "./model-run.ts";

const nothing: Stored = { events: [], rows: [] };
const call = (name: string, input: object) => ({ name, input: { ...input } });
const say = (text: string) => call("echo", { text });

/**
 * The conversation of a request without what may follow it: a later request begins with this
 * (spec/decisions.md 160).
 */
function prefixOf({ body }: ModelRequest): string {
  const { tools, system, messages } = JSON.parse(
    JSON.stringify(body, (key, value) => (key === "cache_control" ? undefined : value)),
  );
  return JSON.stringify([tools ?? null, system ?? null, messages]).replace(/["}\]]+$/, "");
}

function expectPrefixes(requests: readonly ModelRequest[]): void {
  for (const [index, request] of requests.slice(1).entries()) {
    const before = requests[index];
    if (before)
      expect(
        prefixOf(request).startsWith(prefixOf(before)),
        `request ${index + 2} begins with request ${index + 1}`,
      ).toBe(true);
  }
}

const partsOf = ({ rows }: Pick<ModelRun, "rows">) =>
  rows.flatMap(({ parts }): readonly TranscriptPart[] => parts);

/** Each call has exactly one result, after it and before the next answer. */
function expectResults({ rows }: Pick<ModelRun, "rows">): void {
  let open: string[] = [];
  for (const { role, parts } of rows) {
    if (role === "assistant" || role === "user") expect(open).toEqual([]);
    for (const part of parts) {
      if (part.type === "tool-call") open.push(part.toolCallId);
      if (part.type === "tool-result") {
        expect(open).toContain(part.toolCallId);
        open = open.filter((id) => id !== part.toolCallId);
      }
    }
  }
  expect(open).toEqual([]);
}

/** The model's texts in the rows, and those that it has sent. */
const textsOf = ({ rows }: Pick<ModelRun, "rows">) =>
  rows.flatMap(({ role, parts }) =>
    role === "assistant" ? parts.flatMap((part) => (part.type === "text" ? [part.text] : [])) : [],
  );

const anyCall = fc.oneof(
  fc.constantFrom("a", "漢字", "x".repeat(5_000)).map(say),
  fc.constantFrom(
    call("deploy_site", { site: "shop" }),
    call("ask_user", { question: "Which?" }),
    call("none", {}),
    call("echo", { no: 1 }),
  ),
  fc.constant(call("plan", { steps: [{ title: "Look", status: "doing" }] })),
);
const anyStep = fc.record(
  {
    text: fc.constantFrom("I begin.", "Now this."),
    calls: fc.array(anyCall, { minLength: 1, maxLength: 4 }),
  },
  { requiredKeys: ["calls"] },
);
/** Answers of the model, and what the user does when a turn ends: decides, or writes another message. */
const anySession = fc.record({
  answers: fc.array(fc.oneof(anyStep, fc.constant({ text: "Done." })), { maxLength: 7 }),
  user: fc.array(fc.constantFrom("accepts", "refuses", "writes"), { minLength: 6, maxLength: 6 }),
});

test("has the thoughts that a service has signed, and sends them to the same model only", async () => {
  await using server = await openModelServer("anthropic", [
    { reasoning: "I think.", signature: "signed-4711", text: "I look.", calls: [say("a")] },
    { text: "Done." },
    { text: "Again." },
  ]);
  const config = configOf("anthropic", server);
  const first = await runModel({ config, tools: [echo()] });
  await runModel({
    config: { ...config, model: "another" },
    tools: [echo()],
    stored: { rows: first.rows },
    turn: { number: 200 },
  });
  const thoughts = server.requests.map(
    ({ body }) => JSON.stringify(body).match(/"thinking":"I think.","signature":"signed-4711"/g)?.length ?? 0,
  );
  expect(thoughts).toEqual([0, 1, 0]);
});

describe.each(modelApis)("the transcript of a model behind %s", (api) => {
  const tools = [echo(), deploy(), askUser];

  /** Plays a session of at most seven runs. A run that is not cut continues the task as its end demands. */
  async function play(
    run: (options: Partial<RunOptions>) => Promise<ModelRun>,
    user: readonly string[],
  ): Promise<ModelRun> {
    let last = await run({});
    let [number, decisions]: [number, { kind: "deployAction"; input: object; accepted: boolean }[]] = [
      100,
      [],
    ];
    for (const does of user) {
      if (last.outcome.kind === "confirm" && does !== "writes")
        decisions = [...decisions, { kind: "deployAction", input: {}, accepted: does === "accepts" }];
      else [number, decisions, last] = [number + 100, [], { ...last, events: [] }];
      const turn = {
        number,
        decisions: decisions.map((each) => ({ ...each, input: {} })),
        messages: [`Message ${number}`],
      };
      last = await run({ turn, stored: last });
    }
    return last;
  }

  test("continues after a call that the output limit cut: it is not run, and the model is asked to call again", async () => {
    await using server = await openModelServer(api, [
      {
        text: "I speak.",
        calls: [say("one"), { name: "echo", input: '{"text": "It was a dark and sto' }],
        finish: "length",
      },
      { calls: [{ name: "echo", input: { wrong: true } }, say("two")], finish: "length" },
      { text: "Done." },
    ]);
    const uses: ToolUse[] = [];
    const run = await runModel({ config: configOf(api, server), tools: [echo(uses)] });
    expect(run.outcome).toMatchObject({ kind: "finish", content: "Done." });
    expect(uses.map(({ input }) => input["text"])).toEqual(["one", "two"]);
    const results = partsOf(run).flatMap((part) => (part.type === "tool-result" ? [part.end] : []));
    expect(results, "a complete call runs, and another one is wrong as always").toEqual([
      ...["done", "not_run", "failed", "done"],
    ]);
    expect(JSON.stringify(server.requests[1]?.messages.at(-1))).toContain("output limit within this call");
    expectPrefixes(server.requests);
  });

  test("ends with the answer before a reminder of the plan when the model does not answer the reminder", async () => {
    const plan = { steps: [{ title: "Look", status: "doing" }] };
    await using server = await openModelServer(api, [
      { calls: [call("plan", plan)] },
      { text: "I looked." },
      { status: 400 },
    ]);
    const run = await runModel({ config: configOf(api, server) });
    expect(run.outcome).toEqual({ kind: "finish", content: "I looked." });
    expect(run.events.at(-1)).toMatchObject({ payload: { steps: [{ status: "failed" }] } });
    expect(server.requests).toHaveLength(3);
  });

  test("lets each request begin with the one before it, has one result for each call, and no text that the model has not sent", async () => {
    await using server = await openModelServer(api);
    const config = configOf(api, server, { contextTokens: 500_000 });
    await fc.assert(
      fc.asyncProperty(anySession, async ({ answers, user }) => {
        server.play([...answers, ...Array.from({ length: 20 }, () => ({ text: "Enough." }))]);
        const before = server.requests.length;
        const run = await play((options) => runModel({ config, tools, ...options }), [...user, "writes"]);
        expectPrefixes(server.requests.slice(before));
        expectResults(run);
        const sent = new Set([...answers.map(({ text }) => text), "Enough."]);
        expect(textsOf(run).filter((text) => !sent.has(text))).toEqual([]);
        const calls = partsOf(run).filter(({ type }) => type === "tool-call").length;
        const asked = answers.slice(0, server.requests.length - before) as readonly Answering[];
        expect(calls, "no call is dropped").toBe(
          asked.reduce((sum, each) => sum + (each.calls?.length ?? 0), 0),
        );
      }),
      { numRuns: sample(100, 15) },
    );
  });

  test("is the same, with every effect once, for a run that is killed after any write", async () => {
    await using server = await openModelServer(api);
    const config = configOf(api, server);
    const answers: readonly Answering[] = [
      { text: "I begin.", calls: [say("a"), call("deploy_site", { site: "shop" }), say("b")] },
      { calls: [call("plan", { steps: [{ title: "Look", status: "doing" }] }), say("c")] },
      { text: "Done." },
    ];
    const decided = { turn: { decisions: [{ kind: "deployAction", input: {}, accepted: true } as const] } };
    async function session(cut?: number) {
      const effects: string[] = [];
      const runs = (options: Partial<RunOptions>) =>
        runModel({ config, tools: [echo(), deploy(effects)], ...options });
      const answer = ({ messages }: ModelRequest) =>
        answers[messages.filter(({ role }) => role === "assistant").length] ?? { text: "Enough." };
      server.play(answer);
      const first = await runs({});
      const second = await runs({ ...decided, stored: first });
      const states = [nothing, ...first.states, ...second.states];
      if (cut === undefined) return { last: second, effects, states };
      const stored = states[cut] ?? nothing;
      const isDecided = cut > first.states.length;
      const lost = cut > first.states.length && effects.length > 0 ? [] : effects;
      effects.length = 0;
      const resumed = await runs({ ...(isDecided ? decided : {}), stored });
      return {
        last: isDecided ? resumed : await runs({ ...decided, stored: resumed }),
        effects,
        states,
        lost,
      };
    }
    const whole = await session();
    expectResults(whole.last);
    const begun = whole.states.findIndex(({ rows }) => rows.at(-1)?.parts[0]?.type === "begun");
    for (const cut of whole.states.slice(0, -2).keys()) {
      const { last, effects } = await session(cut);
      expectResults(last);
      expect(effects, `the effects after state ${cut}`).toEqual(cut < begun ? ["shop"] : []);
      if (cut !== begun)
        expect(JSON.stringify(last.rows), `the rows after state ${cut}`).toBe(
          JSON.stringify(whole.last.rows),
        );
    }
  });

  test("has the results of uses that only read in the order of their calls, though they ran at the same time, at most eight", async () => {
    await using server = await openModelServer(api, [
      { calls: Array.from({ length: 10 }, (_, nth) => say(String(nth))) },
      { text: "Done." },
    ]);
    const started: (() => void)[] = [];
    const ended: string[] = [];
    const slow: Tool = {
      ...echo(),
      reads: () => true,
      async use(using) {
        const { promise, resolve } = Promise.withResolvers<void>();
        started.push(resolve);
        // The uses of a group end when all of it have started, the last one first.
        if (started.length === 8 || started.length === 10) for (const end of started.toReversed()) end();
        await promise;
        ended.push(String(using.input["text"]));
        return echo().use(using);
      },
    };
    const { events, rows } = await runModel({ config: configOf(api, server), tools: [slow] });
    const all = Array.from({ length: 10 }, (_, nth) => String(nth));
    expect(ended).not.toEqual(all);
    expect(
      events.flatMap((event) => (event.type === "tool_used" ? [event.payload.params?.["text"]] : [])),
    ).toEqual(all);
    expectResults({ rows });
  });

  test("has the complete input of a call and what the user did not see of it, in the next request and in the next turn", async () => {
    await using server = await openModelServer(api, [
      { calls: [say("w".repeat(20_000))] },
      { text: "Done." },
      { text: "Done." },
    ]);
    const config = configOf(api, server, { contextTokens: 100_000 });
    const first = await runModel({ config, tools });
    await runModel({ config, tools, stored: { ...first, events: [] }, turn: { number: 200 } });
    const [, second, third] = server.requests;
    for (const request of [second, third])
      expect(request?.messages[2]?.calls[0]?.input).toEqual({ text: "w".repeat(20_000) });
    expectPrefixes(server.requests);
  });

  test("begins another prefix when tools or the project's instruction change at the start of a turn, and counts it", async () => {
    await using server = await openModelServer(api, [{ text: "One." }, { text: "Two." }, { text: "Three." }]);
    const config = configOf(api, server);
    const first = await runModel({ config, tools });
    const second = await runModel({ config, tools, stored: { rows: first.rows }, turn: { number: 200 } });
    const third = await runModel({
      config,
      tools: [echo()],
      stored: { rows: second.rows },
      turn: { number: 300 },
    });
    expect([first, second, third].map(({ prefixChanges }) => prefixChanges)).toEqual([0, 0, 1]);
    expect(third.rows.filter(({ role }) => role === "system").map(({ position }) => position)).toEqual([
      0, 6,
    ]);
    expect(server.requests[2]?.messages.slice(1, -1)).toEqual(
      server.requests[1]?.messages.slice(1).concat(server.requests[2]?.messages.at(-2) ?? []),
    );
  });

  test("says a fact again only when it has changed, or holds no more", async () => {
    await using server = await openModelServer(api, [{ text: "One." }, { text: "Two." }, { text: "Three." }]);
    const config = configOf(api, server);
    const texts: (string | undefined)[] = [];
    let rows: Stored["rows"] = [];
    for (const [number, ownInstruction] of [
      [100, "Be quick."],
      [200, "Be quick."],
      [300, ""],
    ] as const) {
      ({ rows } = await runModel({ config, turn: { number, ownInstruction }, stored: { rows } }));
      texts.push(server.requests.at(-1)?.messages.at(-1)?.text);
    }
    expect(texts).toEqual([
      expect.stringContaining("for this turn: Be quick."),
      "Go",
      expect.stringMatching(/^Go\n\n<environment>\n[^\n]*for this turn: none\n<\/environment>$/),
    ]);
  });
});
