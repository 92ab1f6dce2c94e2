import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { expect } from "vitest";
import { say, told, withEditor } from "../acp/editor.ts";
import { envOf, runOnTerminal } from "../cli/rig.ts";
import { root } from "../support/server-process.ts";
import type { OpenSurface, View } from "./surface.ts";

const newHome = () => mkdtempSync(join(tmpdir(), "acts-"));

/** What a person reads: without the sequences by which `atp` itself draws and readline edits. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control sequences are the subject
const readOf = (raw: string): string => raw.replaceAll(/\u001b\[[\d;?]*[A-Za-z]/g, "").replaceAll("\r", "");
const asks = (raw: string): boolean => readOf(raw).trimEnd().endsWith(":");
const viewOf = (raw: string): View => ({ text: readOf(raw), offersDecision: asks(raw) });

/** `atp task watch` in this process, on a terminal of 80 columns. */
export const terminal: OpenSurface = async ({ service, person }) => {
  const home = newHome();
  return {
    async show(taskId, wait) {
      const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => undefined });
      const session = runOnTerminal(
        home,
        service,
        envOf(service, person),
        ["task", "watch", taskId],
        undefined,
        { stdin },
      );
      let hasEnded = false;
      void session.code.then(() => {
        hasEnded = true;
      });
      await wait();
      await expect.poll(() => hasEnded || asks(session.screen.raw()), { timeout: 10_000 }).toBe(true);
      const view = viewOf(session.screen.raw());
      stdin.end();
      await session.code;
      return view;
    },
    close: async () => rmSync(home, { recursive: true }),
  };
};

/** `atp task watch` as a program on a real pseudo-terminal. */
export const pseudoTerminal: OpenSurface = async ({ service, person }) => {
  const home = newHome();
  return {
    async show(taskId, wait) {
      await wait();
      const command = `${process.execPath} ${join(root, "cli/main.ts")} task watch ${taskId}`;
      const env = { ...envOf(service, person), HOME: home, PATH: process.env["PATH"] ?? "", TERM: "xterm" };
      const child = spawn("script", ["-qefc", command, "/dev/null"], {
        env,
        stdio: ["pipe", "pipe", "inherit"],
      });
      let raw = "";
      let hasEnded = false;
      child.stdout.on("data", (chunk) => {
        raw += String(chunk);
      });
      const end = once(child, "exit").then(() => {
        hasEnded = true;
      });
      await expect.poll(() => hasEnded || asks(raw), { timeout: 30_000 }).toBe(true);
      const view = viewOf(raw);
      child.kill();
      await end;
      return view;
    },
    close: async () => rmSync(home, { recursive: true }),
  };
};

/** An editor with `atp acp`: its person answers permission requests. */
export const acp: OpenSurface = async ({ service, person }) => {
  const home = newHome();
  const opened = Promise.withResolvers<Parameters<Parameters<typeof withEditor>[1]>[0]>();
  const done = Promise.withResolvers<void>();
  const ended = withEditor({ url: service.url, key: person.key, home, choice: "none" }, (editor) => {
    opened.resolve(editor);
    return done.promise;
  });
  const editor = await Promise.race([
    opened.promise,
    ended.then(() => Promise.reject(new Error("the editor has ended"))),
  ]);
  return {
    async show(taskId, wait) {
      const seqOf = async () => (await person.v2("task.detail", { task_id: taskId })).body["task"].last_seq;
      const before = await seqOf();
      await editor.agent.request("session/load", { sessionId: taskId, cwd: "/work", mcpServers: [] });
      editor.asked.length = 0;
      editor.updates.length = 0;
      const answer = say(editor, taskId, "Go");
      await expect.poll(seqOf, { timeout: 10_000 }).toBeGreaterThan(before);
      await wait();
      await answer;
      const [asked] = editor.asked;
      const [block] = asked?.toolCall.content ?? [];
      const content = block?.type === "content" && block.content.type === "text" ? block.content.text : "";
      const isCode = /^(`{3,})\n[\s\S]*\n\1$/.test(content);
      const text =
        asked && isCode ? content.split("\n").slice(1, -1).join("\n") : told(editor.updates).join("\n");
      return { text, offersDecision: asked !== undefined };
    },
    async close() {
      done.resolve();
      await ended;
      rmSync(home, { recursive: true });
    },
  };
};
