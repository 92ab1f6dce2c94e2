import { join } from "node:path";
import { Client, type ElicitRequestFormParams, type ElicitResult } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect, test } from "vitest";
import { freePort } from "../support/free-port.ts";
import { root } from "../support/server-process.ts";
import { recordedStory, storyMessage, storyWords, tellByV2 } from "../support/story.ts";
import { taskRig } from "../support/task-rig.ts";
import { untilStatus } from "../support/until.ts";
import { jsonOf, mcpClient, newClient } from "./client.ts";

// Addresses of files lead to the server.
const port = await freePort();
const rig = taskRig({ env: { PORT: String(port), BASE_URL: `http://127.0.0.1:${port}` } });

/** Answers the question with blue, and accepts the action. */
const answer = ({ message: text }: Pick<ElicitRequestFormParams, "message">): ElicitResult => ({
  action: "accept",
  content: text === "Which colour?" ? { choice: "blue" } : { accept: true },
});

type CallTool = (name: string, input: Record<string, unknown>, onprogress?: (text: string) => void) => Promise<{ content: object[] }>;

const callsOf =
  (client: Client): CallTool =>
  async (name, input, report) =>
    client.callTool({ name, arguments: input }, { timeout: 60_000, onprogress: ({ message: text = "" }) => report?.(text) });

/** The story by tools: create with deltas, a question, an approval and a file; then a turn that is stopped. */
async function tellByTools(call: CallTool): Promise<string> {
  const progress: string[] = [];
  const created = jsonOf(await call("task_create", { message: storyMessage }, (text) => progress.push(text)));
  expect(created).toMatchObject({ status: "stopped", outcome: "finished" });
  expect(progress).toEqual(expect.arrayContaining([storyWords, "Done"]));
  // Deltas are hints: a slow machine misses some of them (spec/api.md 8.72).
  expect(progress.some((text) => text !== storyWords && storyWords.startsWith(text))).toBe(true);
  const id = String(created["task_id"]);
  const { data } = jsonOf(await call("file_list", { task_id: id }));
  expect((await call("file_read", { file_id: data[0]?.id, task_id: id })).content).toEqual([{ type: "text", text: "tea,12" }]);
  await call("task_send_message", { task_id: id, message: "[[forever]]", wait_seconds: 0 });
  await call("task_stop", { task_id: id });
  await untilStatus(rig.service.store, id, "stopped");
  return id;
}

const stdio = (key: string) => ({
  command: process.execPath,
  args: [join(root, "cli/main.ts"), "mcp"],
  env: { ATP_URL: rig.service.url, ATP_KEY: key, HOME: "/nonexistent", PATH: "/usr/bin" },
});

test("one story has the same events by v2, over /mcp and over atp mcp, with clients of two revisions (spec/api.md 8.103)", async () => {
  const { ann, service } = rig;
  const expected = await recordedStory(rig, await tellByV2(rig));

  const web = await mcpClient(service.url, { headers: ann.headers, answer });
  expect(await recordedStory(rig, await tellByTools(callsOf(web)))).toEqual(expected);
  await web.close();

  const local = newClient({ answer });
  await local.connect(new StdioClientTransport(stdio(ann.key)));
  expect(await recordedStory(rig, await tellByTools(callsOf(local)))).toEqual(expected);
  await local.close();

  // Without negotiation, the library is a client of 2025-11-25: it begins with `initialize`.
  const earlier = new Client({ name: "earlier", version: "1" }, { capabilities: { elicitation: {} } });
  earlier.setRequestHandler("elicitation/create", async ({ params }) => answer(params as ElicitRequestFormParams));
  await earlier.connect(new StdioClientTransport(stdio(ann.key)));
  expect(earlier.getNegotiatedProtocolVersion()).toBe("2025-11-25");
  expect(await recordedStory(rig, await tellByTools(callsOf(earlier)))).toEqual(expected);
  await earlier.close();
});
