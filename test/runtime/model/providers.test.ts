import { expect, test } from "vitest";
import { MissingPackage } from "../../../src/async/optional-packages.ts";
import { toModelFault, toTurnError } from "../../../src/runtime/agents/model/fault.ts";
import { openModelServer } from "../../support/model/server.ts";
import { configOf, echo, runModel } from "./model-run.ts";

const call = (text: string) => ({ name: "echo", input: { text } });

test("the Responses API keeps nothing: thoughts come encrypted, and go back as they were", async () => {
  await using server = await openModelServer("openai-responses", [
    { reasoning: "I think of owls.", signature: "sealed", text: "I look.", calls: [call("a"), call("b")] },
    { text: "Done." },
  ]);
  const config = configOf("openai-responses", server, { effort: "high" });
  const { outcome } = await runModel({ config, tools: [echo()] });
  expect(outcome).toMatchObject({ kind: "finish", content: "Done." });
  const [first, second] = server.requests.map(({ body }) => body);
  expect(first).toMatchObject({
    store: false,
    include: ["reasoning.encrypted_content"],
    reasoning: { effort: "high" },
    prompt_cache_key: expect.stringMatching(/^[\w-]{43}$/),
  });
  expect(second?.["prompt_cache_key"]).toBe(first?.["prompt_cache_key"]);
  const summary = [{ type: "summary_text", text: "I think of owls." }];
  expect((second?.["input"] as unknown[]).slice(2)).toMatchObject([
    { type: "reasoning", encrypted_content: "sealed", summary },
    { role: "assistant", content: "I look." },
    ...["a", "b"].map((text) => ({
      type: "function_call",
      name: "echo",
      arguments: JSON.stringify({ text }),
    })),
    { type: "function_call_output" },
    { type: "function_call_output" },
  ]);
});

test("a fallback to another API gets the texts and calls of the first model, and no thoughts", async () => {
  await using away = await openModelServer("openai-responses", ({ nth }) =>
    nth === 1
      ? { reasoning: "I think.", signature: "sealed", text: "I look.", calls: [call("a")] }
      : { status: 503 },
  );
  await using there = await openModelServer("anthropic", [{ text: "From the fallback." }]);
  const config = configOf("openai-responses", away, { effort: "low", fallback: ["spare"] });
  const others = { spare: configOf("anthropic", there, { model: "spare" }) };
  const { outcome } = await runModel({ config, tools: [echo()], others });
  expect(outcome).toMatchObject({ kind: "finish", content: "From the fallback." });
  expect(there.requests[0]?.messages.slice(2)).toMatchObject([
    { role: "assistant", text: "I look.", calls: [call("a")] },
    { role: "tool" },
  ]);
  expect(JSON.stringify(there.requests[0]?.body)).not.toMatch(/sealed|I think|rs_0/);
});

test("each chat completion has the cache's key of its task where `extra_body` asks for it", async () => {
  await using server = await openModelServer("openai", () => ({ text: "Done." }));
  const asking = configOf("openai", server, { extraBody: { prompt_cache_key: "{task}", top_k: 40 } });
  await runModel({ config: asking });
  await runModel({ config: asking, turn: { taskId: "other" } });
  await runModel({ config: configOf("openai", server) });
  const keys = server.requests.map(({ body }) => body["prompt_cache_key"]);
  expect(keys).toEqual([
    expect.stringMatching(/^[\w-]{43}$/),
    expect.stringMatching(/^[\w-]{43}$/),
    undefined,
  ]);
  expect(keys[0]).not.toBe(keys[1]);
  expect(server.requests[0]?.body).toMatchObject({ top_k: 40 });
});

test.each([
  "openai-responses",
  "anthropic",
] as const)("%s has the request before in its cache, also after a step of 30 calls", async (api) => {
  const calls = Array.from({ length: 30 }, (_, nth) => call(`${nth} ${"owl ".repeat(40)}`));
  await using server = await openModelServer(api, [
    { text: "I look.", calls, usage: "counted" },
    { text: "Again.", calls, usage: "counted" },
    { text: "Done.", usage: "counted" },
  ]);
  const config = configOf(api, server, { contextTokens: 200_000 });
  const messages = ["owl ".repeat(4_000)];
  const { outcome, rows } = await runModel({ config, tools: [echo()], turn: { messages } });
  expect(outcome).toMatchObject({ kind: "finish", content: "Done." });
  const counted = server.requests.map(({ counted: each }) => each);
  // OpenAI's service counts in steps of 128 tokens.
  for (const [nth, { cached }] of counted.slice(1).entries())
    expect(cached, `request ${nth + 2}`).toBeGreaterThan((counted[nth]?.input ?? 0) - 130);
  const reported = rows.flatMap(({ cachedTokens }) => cachedTokens ?? []);
  expect(reported).toEqual(counted.map(({ cached }) => cached));
});

test("a model whose package is missing names the command that installs it, and a fallback can answer", () => {
  const fault = toModelFault(new MissingPackage("@ai-sdk/openai"), 0);
  expect(fault.isRetryable).toBe(false);
  expect(toTurnError(fault)).toMatchObject({
    errorType: "model_unavailable",
    content: expect.stringContaining("atp packages add @ai-sdk/openai"),
  });
});
