import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { TranscriptPart } from "../../../src/core/tasks/transcript.ts";
import { summaryRequest } from "../../../src/runtime/agents/model/request.ts";
import type { Tool } from "../../../src/runtime/agents/model/tool.ts";
import { read, write } from "../../../src/runtime/agents/model/tools/workspace.ts";
import { sample } from "../../support/depth.ts";
import type { Answering, ModelRequest, Reply } from "../../support/model/script.ts";
import { openModelServer } from "../../support/model/server.ts";
import { configOf, echo, type ModelRun, type RunOptions, runModel, type Stored } from "./model-run.ts";

const summary = "## Goal\nOwls.\n## Next step\nGo on.";
const asksForSummary = ({ messages }: ModelRequest) =>
  messages.at(-1)?.text.endsWith(summaryRequest) ?? false;
/** The tokens that a service would count. */
const counted = ({ body }: ModelRequest) => ({
  input: Math.ceil(JSON.stringify(body).length / 4),
  output: 10,
});

/** A model that gives its answers in order, and a summary when one is requested. */
function modelWith(answers: readonly Answering[], give: () => Reply = () => ({ text: summary })) {
  let next = 0;
  return (request: ModelRequest): Reply => {
    const reply = asksForSummary(request) ? give() : (answers[next++] ?? { text: "Enough." });
    return "status" in reply ? reply : { usage: counted(request), ...reply };
  };
}

const call = (name: string, input: object) => ({ calls: [{ name, input: { ...input } }] });
/** A step whose call has these characters, which no clearing removes. */
const say = (text: string): Answering => call("echo", { text });
/** A tool with a result of this size. */
const look: Tool = {
  ...echo(),
  name: "look",
  inputSchema: { type: "object" },
  use: async ({ input }) => ({
    kind: "result",
    value: String(input["letter"]).repeat(Number(input["size"])),
  }),
};
const tools = [echo(), look, read, write];

const compactions = ({ rows }: Pick<ModelRun, "rows">) =>
  rows.flatMap(({ role, parts }): readonly TranscriptPart[] => (role === "compaction" ? parts : []));
const explanations = ({ events }: Pick<ModelRun, "events">) =>
  events.flatMap((event) => (event.type === "explanation" ? [event.payload.content] : []));

/**
 * The rules of strict services: the user's and the model's messages alternate, each call has one result, in the
 * message or messages after it, and no text is blank.
 */
function expectStrict({ body }: ModelRequest): void {
  const messages = body["messages"] as {
    role: string;
    content: unknown;
    tool_calls?: { id: string }[];
    tool_call_id?: string;
  }[];
  let open: string[] = [];
  let before = "system";
  for (const { role, content, tool_calls = [], tool_call_id } of messages) {
    const blocks = (Array.isArray(content) ? content : []) as {
      type: string;
      id: string;
      tool_use_id: string;
      text: string;
    }[];
    const results = [
      ...blocks.flatMap((block) => (block.type === "tool_result" ? [block.tool_use_id] : [])),
      ...(tool_call_id ? [tool_call_id] : []),
    ];
    expect(results.filter((id) => !open.includes(id))).toEqual([]);
    open = open.filter((id) => !results.includes(id));
    if (role !== "tool") expect([role, open]).toEqual([role, []]);
    if (role === "user" || role === "assistant") expect(role).not.toBe(before);
    for (const block of blocks) if (block.type === "text") expect(block.text.trim()).not.toBe("");
    open.push(
      ...tool_calls.map(({ id }) => id),
      ...blocks.flatMap((block) => (block.type === "tool_use" ? [block.id] : [])),
    );
    before = role;
  }
  expect(open).toEqual([]);
}

describe.each(["openai", "anthropic"] as const)("a turn with a small context, on %s", (api) => {
  /** The context has 19,000 tokens for a request. */
  const small = (server: Parameters<typeof configOf>[1]) => configOf(api, server, { contextTokens: 21_000 });
  const filling = Array.from({ length: 30 }, (_, nth) => say(`${nth} ${"w".repeat(3_000)}`));

  test("clears the oldest results above 60 %, at least 20 % at once, and keeps the newest five, all calls and the message", async () => {
    const answers = [
      ...Array.from({ length: 18 }, (_, nth) =>
        call("look", { letter: "abcdefghijklmnopqr"[nth], size: 3_000 }),
      ),
      { text: "Done." },
    ];
    await using server = await openModelServer(api, modelWith(answers));
    const run = await runModel({
      config: small(server),
      tools,
      turn: { messages: [`Look. ${"m".repeat(600)}`] },
    });
    expect(run.outcome).toEqual({ kind: "finish", content: "Done." });
    const [cleared] = compactions(run);
    if (cleared?.type !== "cleared") throw new Error("nothing is cleared");
    const { tokens: { before = 0, after = 0 } = {} } = cleared;
    expect(before).toBeGreaterThan(19_000 * 0.6);
    expect(before - after).toBeGreaterThan(19_000 * 0.18);
    expect(explanations(run)).toEqual([
      expect.stringContaining(`about ${before} tokens before, ${after} after`),
    ]);
    const { messages = [] } = server.requests.at(-1) ?? {};
    expect(messages[1]?.text).toContain(`Look. ${"m".repeat(600)}`);
    const results = messages.filter(({ role }) => role === "tool").map(({ text }) => text);
    const isCleared = results.map((text) => /^Cleared to save space: it is in \.results\/\d+\./.test(text));
    expect(isCleared).toEqual(results.map((_, index) => index < cleared.toolCallIds.length));
    expect(messages.flatMap((message) => message.calls)).toHaveLength(18);
    expect(JSON.stringify(run.events.find(({ type }) => type === "tool_used"))).toContain("a".repeat(3_000));
  });

  test("continues from a summary of the model above 80 %, several times, with every message whole", async () => {
    await using server = await openModelServer(
      api,
      modelWith([...filling, { text: "Done." }, { text: "Yes." }]),
    );
    const first = await runModel({ config: small(server), tools, turn: { messages: ["Echo the owls."] } });
    expect(first.outcome).toEqual({ kind: "finish", content: "Done." });
    const parts = compactions(first);
    expect(parts.length).toBeGreaterThanOrEqual(2);
    expect(parts).toEqual(parts.map(() => expect.objectContaining({ type: "summary", text: summary })));
    expect(explanations(first)).toHaveLength(parts.length);
    for (const [index, request] of server.requests.entries()) {
      expectStrict(request);
      expect(counted(request).input).toBeLessThan(19_000);
      const before = server.requests[index - 1];
      if (asksForSummary(request))
        expect(JSON.stringify(request.body["tools"])).toBe(JSON.stringify(before?.body["tools"]));
      if (!before || !asksForSummary(before)) continue;
      const [, user, answer, next, newest] = request.messages;
      expect(user?.text).toMatch(
        /^Echo the owls\.\n\n<environment>[\s\S]*<\/environment>\n\nYour context is almost full/,
      );
      expect(answer).toMatchObject({ role: "assistant", text: summary });
      expect(next?.text).toMatch(/^Your summary replaces what was before it\. Read \.history\/1/);
      expect(newest?.calls).toHaveLength(1);
    }
    const rows = first.rows.filter(({ role }) => role === "compaction");
    expect(
      rows.map(({ inputTokens }) => inputTokens),
      "its tokens count",
    ).not.toContain(null);
    const second = await runModel({
      config: small(server),
      tools,
      stored: { rows: first.rows },
      turn: { number: 200, messages: ["Sure?"] },
    });
    expect(second.outcome).toEqual({ kind: "finish", content: "Yes." });
    const last = server.requests.at(-1);
    expect(last?.messages[1]?.text).toContain("Echo the owls.");
    expect(last?.messages.at(-1)?.text).toContain("Sure?");
  });

  test.each([
    ["an error", { status: 400 }],
    ["an empty text", { text: "" }],
    ["a cut text", { text: "## Goal", finish: "length" }],
    ["calls", call("echo", { text: "a" })],
  ] as const)("does not lose the turn when the summary is %s: it asks again, and at the end continues without", async (_, reply) => {
    await using server = await openModelServer(
      api,
      modelWith([...filling, { text: "Done." }], () => reply),
    );
    const run = await runModel({ config: small(server), tools });
    expect(run.outcome).toEqual({ kind: "finish", content: "Done." });
    for (const request of server.requests) expectStrict(request);
    expect(compactions(run)).toContainEqual(expect.objectContaining({ type: "summary", text: null }));
    expect(server.requests.at(-1)?.messages[1]?.text).toMatch(
      /there is no summary of them\. Read \.history\/1/,
    );
  });

  test("cuts the oldest messages of the user when they take more than half, and says where they are", async () => {
    await using server = await openModelServer(api, modelWith([]));
    const config = small(server);
    let run: Partial<Stored> = {};
    for (const nth of [1, 2, 3, 4])
      run = await runModel({
        config,
        tools,
        stored: { rows: run.rows ?? [] },
        turn: { number: 100 * nth, messages: [`${nth}th ${String(nth).repeat(18_000)}`] },
      });
    const { messages = [] } = server.requests.at(-1) ?? {};
    const text = messages.map(({ text }) => text).join();
    expect(messages[1]?.text).toMatch(
      /^Older messages of the user are left out here\. They are in the files of \.history\/\.\n\n/,
    );
    expect([1, 2, 3, 4].map((nth) => text.includes(String(nth).repeat(18_000)))).toEqual([
      false,
      false,
      true,
      true,
    ]);
  });

  test("keeps what it left out: the results and rows are files that the agent reads, and cannot write", async () => {
    const path = ".history/1";
    await using server = await openModelServer(
      api,
      modelWith([
        call("look", { letter: "x", size: 30_000 }),
        ...filling.slice(0, 14),
        call("read", { path }),
        call("read", { path: ".results/1", from: 2 }),
        call("write", { path, content: "Nothing" }),
        { text: "Done." },
      ]),
    );
    const run = await runModel({ config: small(server), tools });
    const results = run.rows.flatMap(({ parts }) => parts.filter((part) => part.type === "tool-result"));
    expect(results[0]?.output.value).toMatch(
      /^<data-m4rk5678>\nx{2000}\n\[27000 of 30000 characters are left out here: all are in \.results\/1\]\nx{1000}\n<\/data-m4rk5678>$/,
    );
    const [history, rest, written] = results.slice(-3).map(({ output }) => output.value);
    expect(history).toContain("# 1 user ");
    expect(history).toContain("call c00000002 echo");
    expect(rest).toContain("x".repeat(10_000));
    expect(written).toContain("must not be in .history/ or .results/");
  });

  test("is continued after a kill at any write, also during a compaction, with every result once", async () => {
    await using server = await openModelServer(api);
    const config = small(server);
    const answers = [...filling.slice(0, 12), { text: "Done." }];
    const whole = await play({});
    async function play(options: Partial<RunOptions>): Promise<ModelRun> {
      const done = options.stored?.rows?.filter(({ role }) => role === "assistant").length ?? 0;
      server.play(modelWith(answers.slice(done)));
      return runModel({ config, tools, ...options });
    }
    expect(compactions(whole)).toHaveLength(1);
    const at = whole.states.findIndex(({ rows }) => rows.at(-1)?.role === "compaction");
    for (const stored of [...whole.states.slice(at - 2, at + 3)]) {
      const resumed = await play({ stored });
      expect(JSON.stringify(resumed.rows)).toBe(JSON.stringify(whole.rows));
      expect(resumed.outcome).toEqual(whole.outcome);
    }
  });

  test("loses no word of the user, and keeps to the rules of strict services, in any session", async () => {
    await using server = await openModelServer(api);
    const config = small(server);
    const step = fc.oneof(
      fc.integer({ min: 2_000, max: 6_000 }).map((size) => say("s".repeat(size))),
      fc
        .record({ letter: fc.constantFrom("a", "b"), size: fc.nat(20_000) })
        .map((input) => call("look", input)),
    );
    const turns = fc.array(
      fc.record({ message: fc.nat(1_500), answers: fc.array(step, { minLength: 8, maxLength: 14 }) }),
      { minLength: 2, maxLength: 3 },
    );
    await fc.assert(
      fc.asyncProperty(turns, async (session) => {
        let rows: Stored["rows"] = [];
        for (const [nth, { message, answers }] of session.entries()) {
          const before = server.requests.length;
          server.play(modelWith([...answers, { text: "Done." }]));
          const number = 100 * (nth + 1);
          const run = await runModel({
            config,
            tools,
            stored: { rows },
            turn: { number, messages: [`${nth}: ${"m".repeat(message)}!`] },
          });
          ({ rows } = run);
          expect(run.outcome).toMatchObject({ kind: "finish" });
          for (const request of server.requests.slice(before)) {
            expectStrict(request);
            const text = request.messages.map((each) => each.text).join("\n");
            for (const [told, { message: size }] of session.slice(0, nth + 1).entries())
              expect(text).toContain(`${told}: ${"m".repeat(size)}!`);
          }
        }
      }),
      { numRuns: sample(60, 6) },
    );
  });

  test("ends with context_limit when the message alone is too long", async () => {
    await using server = await openModelServer(api);
    const { outcome } = await runModel({
      config: configOf(api, server, { contextTokens: 3_000 }),
      turn: { messages: ["m".repeat(20_000)] },
    });
    expect(outcome).toMatchObject({ kind: "fail", errorType: "context_limit" });
    expect(server.requests).toHaveLength(0);
  });

  test("gets less when the endpoint's context is smaller than configured: a refused long prompt is halved, and a summary makes it so short", async () => {
    await using server = await openModelServer(api, ({ body }) =>
      JSON.stringify(body).length > 24_000 ? { status: 400 } : { text: "Done." },
    );
    const events = [1, 2, 3, 4].map((nth) => ({
      type: "tool_used" as const,
      payload: {
        tool: "echo",
        actionId: `x_${nth}_1`,
        status: "success" as const,
        brief: "",
        params: {},
        result: `${nth}`.repeat(7_900),
      },
    }));
    const config = configOf(api, server, { contextTokens: 16_000 });
    const { outcome } = await runModel({ config, tools: [echo()], stored: { events } });
    expect(outcome).toEqual({ kind: "finish", content: "Done." });
    expect(server.requests.map(asksForSummary)).toEqual([true, false, false]);
  });
});
