import { afterAll, describe, expect, test } from "vitest";
import { modelApis, openModelServer } from "../../support/model/server.ts";
import { configOf, echo, runModel } from "./model-run.ts";

const endpoints = await Promise.all(
  modelApis.map(async (api) => ({ api, server: await openModelServer(api) })),
);
afterAll(async () => {
  for (const { server } of endpoints) await server[Symbol.asyncDispose]();
});

/** Records the texts that an agent shows; each is written again from its beginning after `begin`. */
function recorder() {
  const texts: string[] = [];
  const live = {
    begin(type: string) {
      texts.push(`${type}: `);
    },
    write(text: string) {
      texts.push(`${texts.pop() ?? "before begin"}${text}`);
    },
  };
  return { texts, live };
}

describe.each(endpoints)("the text of an answer behind $api while it arrives", ({ api, server }) => {
  const config = configOf(api, server);

  test("is shown as it is in the message", async () => {
    server.play([{ text: "\n One two three." }]);
    const { texts, live } = recorder();
    const { outcome } = await runModel({ config, turn: { live } });
    expect(texts).toEqual(["assistant_message: One two three."]);
    expect(outcome).toMatchObject({ kind: "finish", content: "One two three." });
  });

  test("begins again when the call is repeated", async () => {
    server.play([{ text: "Half of", after: "cut" }, { text: "The whole." }]);
    const { texts, live } = recorder();
    await runModel({ config, turn: { live } });
    expect(texts).toEqual(["assistant_message: Half of", "assistant_message: The whole."]);
  });

  test("is shown before tools and after them, each as a separate text", async () => {
    server.play([
      { text: "First I look.", calls: [{ name: "echo", input: { text: "a" } }] },
      { text: "Done." },
    ]);
    const { texts, live } = recorder();
    await runModel({ config, tools: [echo()], turn: { live } });
    expect(texts).toEqual(["assistant_message: First I look.", "assistant_message: Done."]);
  });

  test("is not shown when it is the value of a structured output", async () => {
    server.play([{ text: "Four." }, { text: '{"n": 4}' }]);
    const { texts, live } = recorder();
    const outputSchema = {
      type: "object",
      properties: { n: { type: "number" } },
      required: ["n"],
      additionalProperties: false,
    };
    await runModel({ config, turn: { live, outputSchema } });
    expect(texts).toEqual(["assistant_message: Four."]);
  });
});
