import { spawn } from "node:child_process";
import { once } from "node:events";
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
import { expect } from "vitest";
import { root } from "../support/server-process.ts";

/** An editor that is connected with `atp acp`. */
export interface Editor {
  readonly agent: ClientContext;
  readonly updates: SessionUpdate[];
  readonly asked: RequestPermissionRequest[];
}

export interface EditorOptions {
  readonly url: string;
  readonly key: string;
  readonly home: string;
  readonly args?: readonly string[];
  /** The option that the person chooses when the agent asks for a permission. */
  readonly choice?: string;
}

/** Starts `atp acp` as an editor does, with the client of the protocol's package, until the work is done. */
export async function withEditor(
  { url, key, home, args = [], choice = "allow" }: EditorOptions,
  work: (editor: Editor) => Promise<void>,
): Promise<void> {
  const child = spawn(process.execPath, [join(root, "cli/main.ts"), "acp", ...args], {
    env: { ATP_URL: url, ATP_KEY: key, HOME: home, PATH: "/usr/bin" },
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
  const stream = ndJsonStream(
    Writable.toWeb(child.stdin),
    Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>,
  );
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

export const newSession = async ({ agent }: Editor) =>
  (await agent.request("session/new", { cwd: "/work", mcpServers: [] })).sessionId;

export const say = ({ agent }: Editor, sessionId: string, text: string) =>
  agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] });

/** The kinds of the updates, with the texts of each message in one. */
export function told(updates: readonly SessionUpdate[]): string[] {
  const lines: { id: unknown; line: string }[] = [];
  for (const update of updates) {
    const { sessionUpdate: kind } = update;
    const content = "content" in update && update.content && "type" in update.content ? update.content : null;
    const text =
      content?.type === "text" ? content.text : content?.type === "resource_link" ? content.name : "";
    const id = "messageId" in update ? update.messageId : null;
    const last = lines.at(-1);
    if (id !== null && last?.id === id && content?.type === "text") last.line += text;
    else lines.push({ id, line: `${kind.replace("_chunk", "")} ${text}`.trim() });
  }
  return lines.map(({ line }) => line);
}
