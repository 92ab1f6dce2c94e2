import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { taskRig } from "../support/task-rig.ts";
import { tokenOf } from "../support/token.ts";
import { type Editor, type EditorOptions, newSession, say, told, withEditor } from "./editor.ts";

const rig = taskRig();
const home = mkdtempSync(join(tmpdir(), "acp-"));
const edit = (work: (editor: Editor) => Promise<void>, options: Pick<EditorOptions, "args" | "choice">) =>
  withEditor({ url: rig.service.url, key: rig.ann.key, home, ...options }, work);

test("a task has the profile of the command and the resources of the prompt; a rejected action does not run, and failures are errors", async () => {
  await edit(
    async (editor) => {
      const sessionId = await newSession(editor);
      const prompt = [
        {
          type: "text" as const,
          text: "[[plan Look | Write]] [[step]] [[think Short]] [[confirm terminalExecute]] [[say Found]]",
        },
        { type: "resource" as const, resource: { uri: "file:///work/a.ts", text: "const a = 1;" } },
        {
          type: "image" as const,
          data: Buffer.from("not a picture").toString("base64"),
          mimeType: "image/png",
        },
      ];
      expect(await editor.agent.request("session/prompt", { sessionId, prompt })).toEqual({
        stopReason: "end_turn",
      });
      expect(told(editor.updates)).toEqual(
        expect.arrayContaining(["plan", "agent_thought Short", "tool_call"]),
      );
      expect(told(editor.updates).at(-1)).toBe(
        "agent_message The action does not run. Your next message drops it.",
      );
      // A refusal decides nothing about a command, and cancels a mail.
      await say(editor, sessionId, "[[confirm gmailSendAction]]");
      const refusals = editor.asked.map(
        ({ options }) => options.find(({ optionId }) => optionId === "reject")?.name,
      );
      expect(refusals).toEqual(["Say what to do instead", "Reject"]);
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
      const earlier = await rig.runToEnd("[[say First]]");
      await editor.agent.request("session/load", { sessionId: earlier, cwd: "/work", mcpServers: [] });
      expect(await say(editor, earlier, "[[say Again]]")).toEqual({ stopReason: "end_turn" });
      expect(told(editor.updates).at(-1)).toBe("agent_message Again");
      const audio = [{ type: "audio" as const, data: "", mimeType: "audio/wav" }];
      await expect(
        editor.agent.request("session/prompt", { sessionId, prompt: audio }),
      ).rejects.toMatchObject({ code: -32602 });
      const both = await Promise.allSettled([
        say(editor, sessionId, "[[sleep 1]]"),
        say(editor, sessionId, "[[say Second]]"),
      ]);
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
  writeFileSync(join(home, ".config/atp/profiles.json"), JSON.stringify({ profiles: [profile] }), {
    mode: 0o600,
  });
  await edit(
    async (editor) => {
      expect(await say(editor, await newSession(editor), "[[confirm terminalExecute]]")).toEqual({
        stopReason: "end_turn",
      });
      expect(editor.asked).toEqual([]);
      expect(told(editor.updates).at(-1)).toMatch(/^agent_message An action waits for a decision: https?:/);
    },
    { args: ["--profile", "app"] },
  );
});
