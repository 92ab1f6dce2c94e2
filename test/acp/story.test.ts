import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import {
  type ClientContext,
  client,
  methods,
  ndJsonStream,
  type RequestPermissionRequest,
  type SessionUpdate,
} from "@agentclientprotocol/sdk";
import { expect, test } from "vitest";
import { root } from "../support/server-process.ts";
import { recordedStory, storyMessage, storyWords, tellByV2 } from "../support/story.ts";
import { taskRig } from "../support/task-rig.ts";
import { tokenOf } from "../support/token.ts";

const rig = taskRig();
const home = mkdtempSync(join(tmpdir(), "acp-"));

type Editor = { agent: ClientContext; updates: SessionUpdate[]; asked: RequestPermissionRequest[] };

/** Starts `atp acp` as an editor does, with the client of the protocol's package, until the work is done. */
async function withEditor(work: (editor: Editor) => Promise<void>, options: { args?: string[]; choice?: string } = {}): Promise<void> {
  const { args = [], choice = "allow" } = options;
  const child = spawn(process.execPath, [join(root, "cli/main.ts"), "acp", ...args], {
    env: { ATP_URL: rig.service.url, ATP_KEY: rig.ann.key, HOME: home, PATH: "/usr/bin" },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const updates: SessionUpdate[] = [];
  const asked: RequestPermissionRequest[] = [];
  const app = client({ name: "editor" })
    .onNotification(methods.client.session.update, ({ params }) => void updates.push(params.update))
    .onRequest(methods.client.session.requestPermission, ({ params }) => {
      asked.push(params);
      return { outcome: { outcome: "selected", optionId: choice } };
    });
  const stream = ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>);
  await app.connectWith(stream, async (agent) => {
    expect(await agent.request("initialize", { protocolVersion: 1, clientCapabilities: {} })).toMatchObject({
      protocolVersion: 1,
      agentCapabilities: { loadSession: true },
    });
    await work({ agent, updates, asked });
  });
  child.stdin.end();
  expect(await once(child, "exit")).toEqual([0, null]);
}

const newSession = async ({ agent }: Editor) => (await agent.request("session/new", { cwd: "/work", mcpServers: [] })).sessionId;

const say = ({ agent }: Editor, sessionId: string, text: string) =>
  agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] });

/** The kinds of the updates, with the texts of each message in one. */
function told(updates: readonly SessionUpdate[]): string[] {
  const lines: { id: unknown; line: string }[] = [];
  for (const update of updates) {
    const { sessionUpdate: kind } = update;
    const content = "content" in update && update.content && "type" in update.content ? update.content : null;
    const text = content?.type === "text" ? content.text : content?.type === "resource_link" ? content.name : "";
    const id = "messageId" in update ? update.messageId : null;
    const last = lines.at(-1);
    if (id !== null && last?.id === id && content?.type === "text") last.line += text;
    else lines.push({ id, line: `${kind.replace("_chunk", "")} ${text}`.trim() });
  }
  return lines.map(({ line }) => line);
}

test("an editor runs the story of v2 by atp acp, and loads it later; the recorded events are equal (spec/api.md 8.111)", async () => {
  const expected = await recordedStory(rig, await tellByV2(rig));
  let sessionId = "";
  await withEditor(async (editor) => {
    sessionId = await newSession(editor);
    expect(await say(editor, sessionId, storyMessage)).toEqual({ stopReason: "end_turn" });
    expect(told(editor.updates)).toEqual([`agent_message ${storyWords}`, "agent_message Which colour?"]);
    // Deltas are hints: a slow machine misses some of them (spec/api.md 8.72).
    expect(editor.updates.length).toBeGreaterThan(3);
    expect(await say(editor, sessionId, "blue")).toEqual({ stopReason: "end_turn" });
    expect(editor.asked).toMatchObject([
      {
        sessionId,
        options: [{ kind: "allow_once" }, { kind: "allow_always" }, { kind: "reject_once" }],
        toolCall: { kind: "execute", content: [{ content: { text: expect.stringContaining("terminalExecute") } }] },
      },
    ]);
    expect(told(editor.updates)).toEqual(
      expect.arrayContaining(["tool_call", "tool_call_update", "agent_message sums.csv", "agent_message Done"]),
    );
    const stopped = say(editor, sessionId, "[[forever]]");
    const running = async () => (await rig.ann.v2("task.list", { status: "running" })).body["data"].length;
    await expect.poll(running).toBe(1);
    await editor.agent.notify("session/cancel", { sessionId });
    expect(await stopped).toEqual({ stopReason: "cancelled" });
  });
  const [{ id }] = (await rig.ann.v2("task.list", { limit: 1 })).body["data"];
  expect(await recordedStory(rig, id)).toEqual(expected);

  // Another program, as after a restart of the editor.
  await withEditor(async (editor) => {
    for (const known of [sessionId, id]) {
      editor.updates.length = 0;
      await editor.agent.request("session/load", { sessionId: known, cwd: "/work", mcpServers: [] });
      expect(told(editor.updates)).toEqual([
        `user_message ${storyMessage}`,
        `agent_message ${storyWords}`,
        "agent_message Which colour?",
        "user_message blue",
        ...["tool_call", "tool_call_update"],
        ...told(editor.updates).slice(6),
      ]);
    }
    expect(await say(editor, sessionId, "[[say Again]]")).toEqual({ stopReason: "end_turn" });
    expect(told(editor.updates).at(-1)).toBe("agent_message Again");
    const unknown = { sessionId: crypto.randomUUID(), cwd: "/work", mcpServers: [] };
    await expect(editor.agent.request("session/load", unknown)).rejects.toMatchObject({ code: -32_002 });
  });
});

test("a task has the profile of the command and the resources of the prompt; a rejected action does not run, and failures are errors", async () => {
  await withEditor(
    async (editor) => {
      const sessionId = await newSession(editor);
      const prompt = [
        { type: "text" as const, text: "[[plan Look | Write]] [[step]] [[think Short]] [[confirm terminalExecute]] [[say Found]]" },
        { type: "resource" as const, resource: { uri: "file:///work/a.ts", text: "const a = 1;" } },
        { type: "image" as const, data: Buffer.from("not a picture").toString("base64"), mimeType: "image/png" },
      ];
      expect(await editor.agent.request("session/prompt", { sessionId, prompt })).toEqual({ stopReason: "end_turn" });
      expect(told(editor.updates)).toEqual(expect.arrayContaining(["plan", "agent_thought Short", "tool_call"]));
      expect(told(editor.updates).at(-1)).toBe("agent_message The action does not run. Your next message drops it.");
      const [task] = (await rig.ann.v2("task.list", { limit: 1 })).body["data"];
      expect(task.agent_profile).toContain("lite");
      const [message] = await rig.events(task.id);
      expect(message?.["user_message"]).toMatchObject({
        content: expect.stringContaining("const a = 1;"),
        attachments: [{ content_type: "image/png" }],
      });
      await expect(say(editor, sessionId, "[[fail quota_limit | No credits]]")).rejects.toMatchObject({
        message: expect.stringContaining("No credits"),
      });
      const audio = [{ type: "audio" as const, data: "", mimeType: "audio/wav" }];
      await expect(editor.agent.request("session/prompt", { sessionId, prompt: audio })).rejects.toMatchObject({ code: -32602 });
      const both = await Promise.allSettled([say(editor, sessionId, "[[sleep 1]]"), say(editor, sessionId, "[[say Second]]")]);
      expect(both.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
    },
    { args: ["--agent-profile", "lite"], choice: "reject" },
  );
});

test("an action is left to the console when the credential may not decide it", async () => {
  const { headers, clientId, refreshToken } = await tokenOf(rig.service, rig.ann);
  const accessToken = String(headers["authorization"]).replace("Bearer ", "");
  const profile = {
    name: "app",
    origin: rig.service.url,
    oauth: { clientId, tokens: { accessToken, refreshToken, expiresAt: Date.now() + 600_000 } },
  };
  mkdirSync(join(home, ".config/atp"), { recursive: true });
  writeFileSync(join(home, ".config/atp/profiles.json"), JSON.stringify({ profiles: [profile] }), { mode: 0o600 });
  await withEditor(
    async (editor) => {
      expect(await say(editor, await newSession(editor), "[[confirm terminalExecute]]")).toEqual({ stopReason: "end_turn" });
      expect(editor.asked).toEqual([]);
      expect(told(editor.updates).at(-1)).toMatch(/^agent_message An action waits for a decision: https?:/);
    },
    { args: ["--profile", "app"] },
  );
});
