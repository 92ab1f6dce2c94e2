import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  conversationTokens,
  countTokens,
  fitConversation,
} from "../../../src/runtime/agents/model/context.ts";
import type { EarlierPart } from "../../../src/runtime/agents/model/conversation.ts";
import { TurnError } from "../../../src/runtime/agents/model/fault.ts";
import type { Conversation } from "../../../src/runtime/agents/model/prompt.ts";
import { modelApis, openModelServer } from "../../support/model/server.ts";
import { configOf, echo, runModel } from "./model-run.ts";

const use = (result: string) => ({ tool: "read", input: { path: "a" }, result, isError: false });
const conversation: Conversation = {
  system: "The instruction.",
  earlier: [
    { role: "user", content: "u".repeat(900) },
    { role: "assistant", content: "a".repeat(900) },
  ],
  recalled: [],
  request: "m".repeat(900),
  steps: [
    { text: "t".repeat(900), uses: [use("1".repeat(900)), use("2".repeat(900))] },
    { text: "", uses: [use("3".repeat(900))] },
  ],
  tail: [],
};
const results = ({ steps }: Conversation) =>
  steps.flatMap(({ uses }) =>
    uses.map(({ result }) => (typeof result === "string" ? result.slice(0, 1) : "cut")),
  );

const lengthOf = (part?: EarlierPart) =>
  part === undefined || part.role === "tool" ? 0 : part.content.length;
const textOf = fc.string({ unit: "binary", maxLength: 2_000 });
const anyUse = fc.record({
  tool: fc.constant("read"),
  input: fc.record({ path: textOf }),
  result: textOf,
  isError: fc.boolean(),
});
const anyPart: fc.Arbitrary<EarlierPart> = fc.oneof(
  fc.record({ role: fc.constantFrom("user" as const, "assistant" as const), content: textOf }),
  anyUse.map((used) => ({ role: "tool" as const, ...used })),
);

describe("a conversation that is too long", () => {
  const whole = conversationTokens(conversation);

  test("stays as it is while it fits", () => {
    expect(fitConversation(conversation, whole)).toBe(conversation);
  });

  test("loses the oldest results first, then the agent's texts, and the last result at the very end", () => {
    const reduced = [1, 300, 550, 700, 900].map((less) => {
      const fits = fitConversation(conversation, whole - less);
      return [...results(fits), fits.steps[0]?.text.length, lengthOf(fits.earlier[1])];
    });
    expect(reduced).toEqual([
      ["cut", "2", "3", 900, 900],
      ["cut", "cut", "3", 900, 900],
      ["cut", "cut", "3", 202, 900],
      ["cut", "cut", "3", 202, 202],
      ["cut", "cut", "cut", 202, 202],
    ]);
  });

  test("loses the uses of tools in earlier turns before anything else, the oldest first, and then the agent's earlier texts", () => {
    const [asked, answered] = conversation.earlier;
    if (!asked || !answered) throw new Error("the conversation has two earlier messages");
    const earlierUse = (result: string) => ({ role: "tool" as const, ...use(result) });
    const all = { ...conversation, earlier: [asked, earlierUse("4"), answered, earlierUse("5")] };
    const kinds = (less: number) =>
      fitConversation(all, conversationTokens(all) - less).earlier.map((part) =>
        part.role === "tool" ? part.result : part.role,
      );
    expect([0, 1, 30, 80].map(kinds)).toEqual([
      ["user", "4", "assistant", "5"],
      ["user", "assistant", "5"],
      ["user", "assistant", "5"],
      ["user", "assistant"],
    ]);
    const least = fitConversation(all, conversationTokens(all) - 1_000);
    expect(least.earlier.map(lengthOf)).toEqual([900, 202]);
  });

  test("keeps the instruction and users' messages in every conversation and context size, or is refused", () => {
    const anyConversation = fc.record({
      system: textOf,
      earlier: fc.array(anyPart, { maxLength: 6 }),
      recalled: fc.array(anyUse, { maxLength: 2 }),
      request: textOf,
      steps: fc.array(fc.record({ text: textOf, uses: fc.array(anyUse, { minLength: 1, maxLength: 3 }) }), {
        maxLength: 4,
      }),
      tail: fc.constant([]),
    });
    const users = ({ system, request, earlier }: Conversation) => [
      system,
      request,
      ...earlier.filter(({ role }) => role === "user"),
    ];
    fc.assert(
      fc.property(anyConversation, fc.nat({ max: 6_000 }), (all, limit) => {
        try {
          const fits = fitConversation(all, limit);
          expect(conversationTokens(fits)).toBeLessThanOrEqual(limit);
          expect(users(fits)).toEqual(users(all));
          expect(fits.steps.map(({ uses }) => uses.length)).toEqual(all.steps.map(({ uses }) => uses.length));
        } catch (thrown) {
          if (!(thrown instanceof TurnError)) throw thrown;
          expect(thrown.errorType).toBe("context_limit");
        }
      }),
    );
  });

  test("is estimated with at least as many tokens as any text has", () => {
    expect(countTokens("abcdef")).toBe(2);
    expect(countTokens("漢字")).toBe(2);
  });
});

describe.each(modelApis)("a turn with a small context, on %s", (api) => {
  const calls = (text: string) => [{ name: "echo", input: { text } }];
  const big = (letter: string) => letter.repeat(3_000);

  test("continues with outlines instead of old results, and with the complete message", async () => {
    await using server = await openModelServer(api, [
      { calls: calls(big("a")) },
      { calls: calls(big("b")) },
      { calls: calls(big("c")) },
      { text: "Done." },
    ]);
    const config = configOf(api, server, { contextTokens: 6_000 });
    const { outcome, events } = await runModel({
      config,
      tools: [echo()],
      turn: { messages: [`Echo. ${"m".repeat(600)}`] },
    });
    expect(outcome).toEqual({ kind: "finish", content: "Done." });
    const { messages = [] } = server.requests.at(-1) ?? {};
    expect(messages[1]?.text).toBe(`Echo. ${"m".repeat(600)}`);
    const toolResults = messages.filter(({ role }) => role === "tool").map(({ text }) => text);
    expect(toolResults[0]).toContain("Left out to save space");
    expect(toolResults[2]).toContain(big("c"));
    expect(JSON.stringify(events[0]), "the event keeps the full result").toContain(big("a"));
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

  test("gets less when the endpoint's context is smaller than configured: a refused long prompt is halved, twice at most", async () => {
    await using server = await openModelServer(api, ({ body }) =>
      JSON.stringify(body).length > 24_000 ? { status: 400 } : { text: "Done." },
    );
    const written = [1, 2, 3, 4].map((nth) => ({
      type: "tool_used" as const,
      payload: {
        tool: "echo",
        actionId: `x_${nth}_1`,
        status: "success" as const,
        brief: "",
        params: {},
        result: `${nth}`.repeat(9_000),
      },
    }));
    const config = configOf(api, server, { contextTokens: 16_000 });
    const { outcome } = await runModel({ config, tools: [echo()], turn: { written } });
    expect(outcome).toEqual({ kind: "finish", content: "Done." });
    expect(server.requests.length).toBe(2);
  });
});
