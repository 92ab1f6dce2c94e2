/**
 * Clients of the Responses API that validate its answers. Each check runs against the server of ATP_URL with
 * ATP_KEY, and prints `ok NAME` or `failed NAME: why`.
 */
import { createOpenAI } from "@ai-sdk/openai";
import { Agent, OpenAIResponsesModel, run, setTracingDisabled } from "@openai/agents";
import { generateText, Output, streamText } from "ai";
import OpenAI from "openai";
import { z } from "zod";

const { ATP_URL, ATP_KEY } = process.env;
const client = new OpenAI({ baseURL: `${ATP_URL}/v1`, apiKey: ATP_KEY, maxRetries: 0 });
const model = createOpenAI({ baseURL: `${ATP_URL}/v1`, apiKey: ATP_KEY }).responses("gpt-5");
setTracingDisabled(true);
const schema = z.object({ n: z.number() });
const value = '[[progress Half way]] [[value {"n": 48}]]';
const agentWith = (more = {}) =>
  new Agent({
    name: "a",
    instructions: "Be brief",
    model: new OpenAIResponsesModel(client, "gpt-5"),
    ...more,
  });

function expectEqual(found, wanted) {
  if (JSON.stringify(found) !== JSON.stringify(wanted))
    throw new Error(`${JSON.stringify(found)} is not ${JSON.stringify(wanted)}`);
}

async function expectFailure(work, text) {
  const failure = await work().then(() => null, String);
  if (!failure?.includes(text)) throw new Error(`${failure} has no ${text}`);
}

async function agentStream(prompt) {
  const stream = await run(agentWith(), prompt, { stream: true });
  for await (const _ of stream);
  return stream.finalOutput;
}

const user = (content) => ({ role: "user", content });

const checks = {
  "ai: a text": async () => expectEqual((await generateText({ model, prompt: "[[say pong]]" })).text, "pong"),
  "ai: a stream": async () => expectEqual(await streamText({ model, prompt: "[[say pong]]" }).text, "pong"),
  "ai: a value": async () =>
    expectEqual((await generateText({ model, prompt: value, output: Output.object({ schema }) })).output, {
      n: 48,
    }),
  "ai: a stream with a value": async () =>
    expectEqual(await streamText({ model, prompt: value, output: Output.object({ schema }) }).output, {
      n: 48,
    }),
  "ai: a failure": () =>
    expectFailure(() => generateText({ model, prompt: "[[fail timeout | Boom]]", maxRetries: 0 }), "Boom"),
  "ai: a conversation": async () => {
    const first = await generateText({ model, prompt: "[[say One]]" });
    const { text } = await generateText({
      model,
      messages: [user("Hi"), ...first.response.messages, user("[[say Two]]")],
    });
    if (!text.includes("Assistant: One")) throw new Error(text);
  },
  "agents: a text": async () => expectEqual((await run(agentWith(), "[[say pong]]")).finalOutput, "pong"),
  "agents: a stream": async () => expectEqual(await agentStream("[[say pong]]"), "pong"),
  "agents: a value": async () =>
    expectEqual((await run(agentWith({ outputType: schema }), value)).finalOutput, { n: 48 }),
  "agents: a conversation": async () => {
    const first = await run(agentWith(), "[[say One]]");
    const { finalOutput } = await run(agentWith(), [...first.history, user("[[say Two]]")]);
    if (!finalOutput?.includes("Assistant: One")) throw new Error(finalOutput);
  },
  "agents: a later turn by previousResponseId": async () => {
    const { lastResponseId } = await run(agentWith(), "[[say One]]");
    expectEqual(
      (await run(agentWith(), "[[say Two]]", { previousResponseId: lastResponseId })).finalOutput,
      "Two",
    );
  },
  "openai: a text": async () =>
    expectEqual((await client.responses.create({ model: "x", input: "[[say pong]]" })).output_text, "pong"),
  "openai: a stream": async () =>
    expectEqual(
      (await client.responses.stream({ model: "x", input: "[[say pong]]" }).finalResponse()).output_text,
      "pong",
    ),
  "openai: a response in the background, cancelled": async () => {
    const { id, status } = await client.responses.create({
      model: "x",
      input: "[[forever]]",
      background: true,
    });
    expectEqual([status, (await client.responses.cancel(id)).status], ["in_progress", "cancelled"]);
  },
  "openai: a tool that must be used is refused": () =>
    expectFailure(
      () => client.responses.create({ model: "x", input: "Hi", tool_choice: "required" }),
      "tool_choice",
    ),
};

for (const [name, check] of Object.entries(checks)) {
  const why = await check().then(() => null, String);
  console.info(why === null ? `ok ${name}` : `failed ${name}: ${why.slice(0, 500)}`);
}
