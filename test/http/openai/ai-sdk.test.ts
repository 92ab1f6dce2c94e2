import { createOpenAI } from "@ai-sdk/openai";
import { generateText, jsonSchema, Output, streamText } from "ai";
import { describe, expect, test } from "vitest";
import { taskRig } from "../../support/task-rig.ts";

/** It validates every answer and event by its own schemas, which it does not export. */
describe("AI SDK, with its key as Bearer", () => {
  const rig = taskRig();
  const model = () =>
    createOpenAI({ baseURL: `${rig.service.url}/v1`, apiKey: rig.ann.key }).responses("gpt-5");
  const output = Output.object({
    schema: jsonSchema<{ n: number }>({
      type: "object",
      properties: { n: { type: "number" } },
      required: ["n"],
      additionalProperties: false,
    }),
  });

  test.each([
    ["a text", "[[progress Half]] [[say Hello]]", "HalfHello", []],
    ["a question", "[[ask Which one?]]", "Which one?", []],
    [
      "a file",
      "[[say Here]] [[file a.txt | Some text]]",
      expect.stringContaining("Here"),
      ["a.txt", "a.txt"],
    ],
  ])("reads an answer and a stream with %s", async (_what, prompt, text, files) => {
    const answer = await generateText({ model: model(), prompt, maxRetries: 0 });
    expect(answer.text).toEqual(text);
    const streamed = streamText({
      model: model(),
      prompt,
      maxRetries: 0,
      onError: ({ error }) => expect.fail(String(error)),
    });
    expect(await streamed.text).toEqual(text);
    const titles = [answer.sources, await streamed.sources].map((sources) =>
      sources.map((source) => source.title),
    );
    expect(titles).toEqual([files, files]);
  });

  test("reads a value, also from a stream", async () => {
    const prompt = '[[progress Half way]] [[value {"n": 48}]]';
    expect((await generateText({ model: model(), prompt, output, maxRetries: 0 })).output).toEqual({ n: 48 });
    expect(await streamText({ model: model(), prompt, output, maxRetries: 0 }).output).toEqual({ n: 48 });
  });

  test("shows why a task failed, also from a stream", async () => {
    const prompt = "[[fail timeout | Boom]]";
    await expect(generateText({ model: model(), prompt, maxRetries: 0 })).rejects.toThrow("Boom");
    const errors: unknown[] = [];
    await streamText({
      model: model(),
      prompt,
      maxRetries: 0,
      onError: ({ error }) => void errors.push(error),
    }).consumeStream();
    expect(JSON.stringify(errors)).toContain("Boom");
  });

  test("sends its instructions and its conversation, in which earlier answers are items", async () => {
    const user = (content: string) => ({ role: "user" as const, content });
    const first = await generateText({
      model: model(),
      instructions: "Be brief",
      prompt: "[[say Forty-two]]",
      maxRetries: 0,
    });
    const messages = [user("What?"), ...first.response.messages, user("Hello")];
    const next = await generateText({ model: model(), messages, maxRetries: 0 });
    expect(next.text).toContain("You wrote: ");
    expect(next.text).toContain("Assistant: Forty-two");
  });
});
