import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { freePort } from "../support/free-port.ts";
import { sampledTest } from "../support/sampled.ts";
import { openService } from "../support/service.ts";
import { until } from "../support/until.ts";
import { blocksIn, readPage, shell } from "./page.ts";

const test = sampledTest(3);

const page = readPage("docs/guides/skills.md");

test("the commands of docs/guides/skills.md upload a skill, show it, and force it on a task", async () => {
  const port = await freePort();
  const address = `http://127.0.0.1:${port}`;
  await using service = await openService({ env: { PORT: `${port}`, BASE_URL: address } });
  const { key } = await service.person();
  const folder = mkdtempSync(join(tmpdir(), "docs-"));
  const said: string[] = [];
  for (const block of blocksIn(page, "sh"))
    said.push(await shell(`cd ${folder}; ${block}`, { ATP_URL: address, ATP_KEY: key }));
  rmSync(folder, { recursive: true });
  const [brought = "", begun = ""] = said;
  const [made, listed] = brought.split(/(?<=\}\})(?=\{)/).map((json) => JSON.parse(json));
  expect(made.skill).toMatchObject({ name: "Minutes", description: "Writes minutes.", enabled: true });
  expect(listed.data).toMatchObject([{ id: made.skill.id, name: "Minutes", owner_type: "personal" }]);
  const { task_id: id } = JSON.parse(begun);
  await until(service.store, id, ({ status }) => status === "stopped");
  const events = await service.store.events.list(id, { order: "asc", limit: 100, verbose: true });
  expect(events.filter(({ type }) => type === "tool_used")).toMatchObject([
    { payload: { tool: "use_skill", status: "success", params: { skill: made.skill.id } } },
  ]);
});

test("docs/guides/skills.md has the command's words as in its usage", async () => {
  const [lines = ""] = blocksIn(page, "text");
  expect(
    lines
      .trim()
      .split("\n")
      .every((line) => line.startsWith("./atp server-skill ")),
  ).toBe(true);
});
