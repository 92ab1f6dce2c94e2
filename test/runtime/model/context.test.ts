import { describe, expect, test } from "vitest";
import { modelApis, openModelServer } from "../../support/model/server.ts";
import { configOf, echo, runModel } from "./model-run.ts";

describe.each(modelApis)("a turn with a small context, on %s", (api) => {
  const calls = (text: string) => [{ name: "echo", input: { text } }];
  const big = (letter: string) => letter.repeat(3_000);

  test("clears the oldest results at once when the context is full, and keeps the newest, all calls and the complete message", async () => {
    const letters = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];
    await using server = await openModelServer(api, [
      ...letters.map((letter, nth) => ({
        calls: calls(big(letter)),
        usage: { input: 1_200 + 2_050 * nth, output: 1_000 },
      })),
      { text: "Done." },
    ]);
    const config = configOf(api, server, { contextTokens: 21_000 });
    const { outcome, events, rows } = await runModel({
      config,
      tools: [echo()],
      turn: { messages: [`Echo. ${"m".repeat(600)}`] },
    });
    expect(outcome).toEqual({ kind: "finish", content: "Done." });
    expect(rows.filter(({ role }) => role === "compaction")).toHaveLength(1);
    const { messages = [] } = server.requests.at(-1) ?? {};
    expect(messages[1]?.text).toContain(`Echo. ${"m".repeat(600)}`);
    const results = messages.filter(({ role }) => role === "tool").map(({ text }) => text);
    expect(results.map((text) => text.startsWith("Cleared"))).toEqual(letters.map((_, index) => index < 4));
    expect(messages.flatMap((message) => message.calls)).toHaveLength(9);
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
    const events = [1, 2, 3, 4].map((nth) => ({
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
    const { outcome } = await runModel({ config, tools: [echo()], stored: { events } });
    expect(outcome).toEqual({ kind: "finish", content: "Done." });
    expect(server.requests.length).toBe(2);
  });
});
