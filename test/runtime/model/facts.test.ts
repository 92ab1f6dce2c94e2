import { expect, test } from "vitest";
import { summaryRequest } from "../../../src/runtime/agents/model/request.ts";
import type { Tool } from "../../../src/runtime/agents/model/tool.ts";
import { transcriptFiles } from "../../../src/runtime/agents/model/transcript-files.ts";
import type { ModelRequest, Reply } from "../../support/model/script.ts";
import { openModelServer } from "../../support/model/server.ts";
import { configOf, echo, runModel } from "./model-run.ts";

const steps = 400;
/** Each 13th step plants one: 30 of them. */
const facts = Array.from({ length: 30 }, (_, nth) => `The key of room ${nth} is K-${nth * 7919}.`);

/** A tool whose result at some steps has a fact in its middle. */
const look: Tool = {
  ...echo(),
  name: "look",
  inputSchema: { type: "object" },
  async use({ input }) {
    const step = Number(input["step"]);
    const fact = step % 13 === 0 ? (facts[step / 13] ?? "") : "";
    const filler = `Nothing of note at ${step}. `.repeat(30);
    return { kind: "result", value: `${filler}${fact}${filler}` };
  },
};

test("30 facts planted in a task of 400 steps are in the last request, or in a file that it names", async () => {
  let step = 0;
  const answer = ({ messages, body }: ModelRequest): Reply => {
    const usage = { input: Math.ceil(JSON.stringify(body).length / 4), output: 10 };
    // The summary keeps no fact: only what the platform keeps counts.
    if (messages.at(-1)?.text.endsWith(summaryRequest))
      return { usage, text: "## Goal\nLook.\n## Next step\nGo on." };
    return step < steps
      ? { usage, calls: [{ name: "look", input: { step: step++ } }] }
      : { usage, text: "I have looked at all." };
  };
  await using server = await openModelServer("openai", answer);
  const limits = { steps: 500, minutes: 60, tokens: 1e9, credits: null };
  const { rows, outcome } = await runModel({
    config: configOf("openai", server, { contextTokens: 32_000, limits }),
    tools: [look],
  });
  expect(outcome).toMatchObject({ kind: "finish", content: "I have looked at all." });
  const compactions = rows.filter(({ role }) => role === "compaction");
  expect(compactions.length).toBeGreaterThan(5);
  const last = JSON.stringify(server.requests.at(-1)?.body["messages"]);
  const files = transcriptFiles(rows.map((row, position) => ({ ...row, position })));
  // A cleared result names its file; a summary names all of .history.
  const readable = files.filter(({ path }) => path.startsWith(".history/") || last.includes(`in ${path}.`));
  const texts = [last, ...readable.map((file) => file.text())];
  expect(facts.filter((fact) => !last.includes(fact)).length).toBeGreaterThan(20);
  expect(facts.filter((fact) => texts.some((text) => text.includes(fact)))).toEqual(facts);
});
