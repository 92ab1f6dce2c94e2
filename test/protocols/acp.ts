import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { newSession, say, told, withEditor } from "../acp/editor.ts";
import { isPart, type RunStory, storyMessage, storyWords } from "./story.ts";

/**
 * Runs the story in an editor by `atp acp`, and loads it in another program, as after a restart of the
 * editor.
 */
export const storyByEditor: RunStory = async ({ service, person, did }) => {
  const options = { url: service.url, key: person.key, home: mkdtempSync(join(tmpdir(), "acp-")) };
  let sessionId = "";
  await withEditor(options, async (editor) => {
    sessionId = await newSession(editor);
    expect(await say(editor, sessionId, storyMessage)).toEqual({ stopReason: "end_turn" });
    did("create");
    expect(told(editor.updates)).toEqual([`agent_message ${storyWords}`, "agent_message Which colour?"]);
    did("question");
    expect(editor.updates.some((update) => "content" in update && isPart(Object(update.content).text))).toBe(
      true,
    );
    did("delta");
    expect(await say(editor, sessionId, "blue")).toEqual({ stopReason: "end_turn" });
    did("answer");
    expect(editor.asked).toMatchObject([
      {
        sessionId,
        options: [{ kind: "allow_once" }, { kind: "allow_always" }, { kind: "reject_once" }],
        toolCall: {
          kind: "execute",
          content: [{ content: { text: expect.stringContaining("terminalExecute") } }],
        },
      },
    ]);
    did("approval");
    expect(told(editor.updates)).toEqual(
      expect.arrayContaining([
        "tool_call",
        "tool_call_update",
        "agent_message sums.csv",
        "agent_message Done",
      ]),
    );
    did("file");
    const stopped = say(editor, sessionId, "[[forever]]");
    const running = async () => (await person.v2("task.list", { status: "running" })).body["data"].length;
    await expect.poll(running, { timeout: 10_000 }).toBe(1);
    await editor.agent.notify("session/cancel", { sessionId });
    expect(await stopped).toEqual({ stopReason: "cancelled" });
    did("stop");
  });
  const [{ id }] = (await person.v2("task.list", { limit: 1 })).body["data"];

  await withEditor(options, async (editor) => {
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
    const unknown = { sessionId: crypto.randomUUID(), cwd: "/work", mcpServers: [] };
    await expect(editor.agent.request("session/load", unknown)).rejects.toMatchObject({ code: -32_002 });
  });
  return id;
};
