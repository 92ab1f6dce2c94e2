import { join } from "node:path";
import { Client, type ElicitRequestFormParams, type ElicitResult } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect } from "vitest";
import { jsonOf, mcpClient, newClient } from "../mcp/client.ts";
import { root } from "../support/server-process.ts";
import { untilStatus } from "../support/until.ts";
import { isPart, type RunStory, type StoryRun, storyMessage, storyWords } from "./story.ts";

/** Answers the question with blue, and accepts the action. */
const answerFor =
  (did: StoryRun["did"]) =>
  ({ message: text }: Pick<ElicitRequestFormParams, "message">): ElicitResult => {
    const isQuestion = text === "Which colour?";
    did(...(isQuestion ? (["question", "answer"] as const) : (["approval"] as const)));
    return { action: "accept", content: isQuestion ? { choice: "blue" } : { accept: true } };
  };

/** Runs the story by tools. */
async function storyByTools(client: Client, { service, did }: StoryRun): Promise<string> {
  const progress: string[] = [];
  const call = (name: string, input: Record<string, unknown>) =>
    client.callTool(
      { name, arguments: input },
      {
        timeout: 60_000,
        onprogress: ({ message: text = "" }) => void (name === "task_create" && progress.push(text)),
      },
    );
  const created = jsonOf(await call("task_create", { message: storyMessage }));
  expect(created).toMatchObject({ status: "stopped", outcome: "finished" });
  did("create");
  expect(progress).toEqual(expect.arrayContaining([storyWords, "Done"]));
  expect(progress.some(isPart)).toBe(true);
  did("delta");
  const id = String(created["task_id"]);
  const { data } = jsonOf(await call("file_list", { task_id: id }));
  expect((await call("file_read", { file_id: data[0]?.id, task_id: id })).content).toEqual([
    { type: "text", text: "tea,12" },
  ]);
  did("file");
  await call("task_send_message", { task_id: id, message: "[[forever]]", wait_seconds: 0 });
  await call("task_stop", { task_id: id });
  await untilStatus(service.store, id, "stopped");
  did("stop");
  await client.close();
  return id;
}

/** Runs the story at /mcp. */
export const storyByMcp: RunStory = async (run) => {
  const { service, person, did } = run;
  return storyByTools(await mcpClient(service.url, { headers: person.headers, answer: answerFor(did) }), run);
};

const stdio = ({ service, person }: StoryRun) =>
  new StdioClientTransport({
    command: process.execPath,
    args: [join(root, "cli/main.ts"), "mcp"],
    env: { ATP_URL: service.url, ATP_KEY: person.key, HOME: "/nonexistent", PATH: "/usr/bin" },
  });

/** Runs the story by `atp mcp`. */
export const storyByStdio: RunStory = async (run) => {
  const client = newClient({ answer: answerFor(run.did) });
  await client.connect(stdio(run));
  return storyByTools(client, run);
};

/** Runs the story by `atp mcp` with a client of 2025-11-25, which begins with `initialize`. */
export const storyByEarlierClient: RunStory = async (run) => {
  // Without negotiation, the library is such a client.
  const client = new Client({ name: "earlier", version: "1" }, { capabilities: { elicitation: {} } });
  const answer = answerFor(run.did);
  client.setRequestHandler("elicitation/create", async ({ params }) =>
    answer(params as ElicitRequestFormParams),
  );
  await client.connect(stdio(run));
  expect(client.getNegotiatedProtocolVersion()).toBe("2025-11-25");
  return storyByTools(client, run);
};
