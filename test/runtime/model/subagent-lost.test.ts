import { afterAll, expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/json.ts";
import { profilesOf } from "../../../src/core/tasks/profile.ts";
import { deleteWorkspace } from "../../../src/core/workspaces/workspace.ts";
import type { ToolsFor } from "../../../src/runtime/agents/model/tool.ts";
import { deliver } from "../../../src/runtime/agents/model/tools/deliver.ts";
import { subtaskTools } from "../../../src/runtime/agents/model/tools/subtasks.ts";
import { deleteFile, write } from "../../../src/runtime/agents/model/tools/workspace.ts";
import { describeOnEach } from "../../support/database.ts";
import { openModelServer } from "../../support/model/server.ts";
import { losingAgent, storedTasks } from "./stored-task.ts";

const server = await openModelServer("anthropic");
afterAll(() => server[Symbol.asyncDispose]());
const call = (name: string, input: JsonObject) => ({ calls: [{ name, input }] });

describeOnEach("a model whose runs are lost", (kind) => {
  const stored = storedTasks(kind);
  const { clock, put, taskRow, send, run } = stored;

  test("begins a subtask once, with the file as it was, and gets its file once, when each of its runs is lost after a write", async () => {
    const profiles = profilesOf([]);
    const tools: ToolsFor = (turn) => [write, deleteFile, deliver, ...subtaskTools(profiles)(turn)];
    const plays = (...calls: readonly (readonly [string, JsonObject])[]) => {
      const before = 2 * calls.length;
      server.play(({ messages }) => {
        const last = messages.findLastIndex(({ role, text }) => role === "user" && text.startsWith("Go"));
        const made = messages.slice(last).filter(({ role }) => role === "assistant").length;
        const next = calls[made];
        return next && made < before ? call(...next) : { text: "Done." };
      });
    };
    const paths = async (id: string) => (await stored.db.store.workspace.list(id)).map(({ path }) => path);
    // The pauses of a write to the storage move the clock.
    const limits = { steps: 100, minutes: 1e9, tokens: 5_000_000, credits: null };
    const settle = async (id: string, abandons: number) => {
      for (let runs = 0; runs < 20 && (await taskRow(id)).status === "running"; runs += 1)
        await run(id, {
          ...{ api: "anthropic", server, tools, config: { limits } },
          agentOf: (model) => losingAgent(model, runs < 15 ? abandons : Number.POSITIVE_INFINITY),
        });
      expect(await taskRow(id)).toMatchObject({ status: "stopped" });
    };
    for (const abandons of [1, 2]) {
      const id = await put();
      plays(
        ["write", { path: "a.txt", content: "as it was" }],
        ["subagent", { prompt: "Go on", files: ["a.txt"] }],
        ["delete", { path: "a.txt" }],
      );
      await settle(id, abandons);
      const [subtask, ...more] = await stored.db.store.tasks.listLiving(id, 1_000, 10);
      expect([subtask === undefined, more]).toEqual([false, []]);
      const child = subtask ?? "";
      const [given] = await stored.db.store.workspace.list(child);
      expect(given).toMatchObject({ path: "inputs/a.txt", bytes: 9 });
      expect(await paths(id)).toEqual([]);
      plays(["deliver", { files: [{ path: "inputs/a.txt", name: "b.txt" }] }]);
      await settle(child, 100);
      await send(id, "Go and look");
      plays(["wait", { task_ids: [child] }]);
      await settle(id, abandons);
      expect(await paths(id)).toEqual([`subtasks/${child}/b.txt`]);
      for (const task of [child, id]) await stored.db.store.change((tx) => deleteWorkspace(tx, task));
      const dropped = await stored.db.store.change((tx) => tx.blobs.claimDeletable(0, clock.now(), 10));
      expect(dropped, "the file of the subtask is its artifact").toEqual([given?.blobId]);
    }
  });
});
