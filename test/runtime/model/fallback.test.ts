import { expect, test } from "vitest";
import { openModelServer } from "../../support/model/server.ts";
import { configOf, echo, runModel } from "./model-run.ts";

const signed = {
  reasoning: "Think.",
  signature: "signed by the first",
  calls: [{ name: "echo", input: {} }],
};

test("the turn continues with the next fallback that exists, which gets no thoughts of the first model", async () => {
  await using away = await openModelServer("anthropic", ({ nth }) => (nth === 1 ? signed : { status: 503 }));
  await using there = await openModelServer("anthropic", [{ text: "From the fallback." }]);
  const config = configOf("anthropic", away, { fallback: ["unknown", "spare"] });
  const others = { spare: configOf("anthropic", there, { model: "spare" }) };
  const { outcome, events, states } = await runModel({ config, tools: [echo()], others });
  expect(outcome).toMatchObject({ kind: "finish", content: "From the fallback." });
  expect(JSON.stringify(events)).toContain("The agent continues with the model spare.");
  expect(away.requests).toHaveLength(7);
  expect(JSON.stringify(away.requests.at(-1)?.body)).toContain("signed by the first");
  expect(JSON.stringify(there.requests[0]?.body)).not.toContain("signed by the first");
  const rows = states.at(-1)?.rows.filter(({ role }) => role === "system") ?? [];
  expect(rows.map(({ model }) => model)).toEqual(["scripted", "spare"]);

  // A run that continues the turn keeps the fallback.
  there.play([{ text: "Again." }]);
  const stored = { events: [], rows: states.at(-1)?.rows.filter(({ role }) => role !== "assistant") ?? [] };
  expect((await runModel({ config, tools: [echo()], others, stored })).outcome).toMatchObject({
    content: "Again.",
  });
});

test("a refused key ends the turn without a fallback", async () => {
  await using refusing = await openModelServer("openai", [{ status: 401 }]);
  await using there = await openModelServer("openai", [{ text: "Never asked." }]);
  const config = configOf("openai", refusing, { fallback: ["spare"] });
  const { outcome } = await runModel({ config, others: { spare: configOf("openai", there) } });
  expect(outcome).toMatchObject({ kind: "fail", errorType: "model_refused" });
  expect(there.requests).toHaveLength(0);
});

test("effort and thinking tokens are in each request, in the form of the API", async () => {
  await using openai = await openModelServer("openai", [{ text: "Done." }]);
  await using anthropic = await openModelServer("anthropic", [{ text: "Done." }]);
  await runModel({ config: configOf("openai", openai, { effort: "high" }) });
  await runModel({ config: configOf("anthropic", anthropic, { thinkingTokens: 2_000 }) });
  expect(openai.requests[0]?.body).toMatchObject({ reasoning_effort: "high" });
  expect(anthropic.requests[0]?.body).toMatchObject({ thinking: { type: "enabled", budget_tokens: 2_000 } });
});
