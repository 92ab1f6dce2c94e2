import { expect, test } from "vitest";
import { v1Table } from "../../src/http/v1/routes.ts";
import { startServer } from "../support/server-process.ts";
import { blocksIn, readPage, shell } from "./page.ts";

const page = readPage("docs/v1.md");
const [, calls = ""] = (blocksIn(page, "sh")[0] ?? "").split("\n\n");

/** Each command with the comment behind it. */
const steps = calls.split(/\n(?=curl)/).map((step) => {
  const lines = step.trim().split("\n");
  return { command: lines.filter((line) => !line.startsWith("#")).join("\n"), answer: lines.at(-1)?.replace(/^# /, "") ?? "" };
});

test("docs/v1.md leads from a task to its end by its own commands, and each answers what stands behind it", async () => {
  await using server = await startServer();
  const known: Record<string, string> = { KEY: server.key, BASE: `http://${server.url.replace(/^http:\/\//, "")}` };
  expect(steps).toHaveLength(5);
  for (const { command, answer } of steps) {
    const body = JSON.parse(await shell(command, known));
    known["TASK"] ??= body.task_id;
    expect(JSON.stringify(body, null, 1)).toContain(answer.replace(/\s*…"?$/, ""));
  }
});

test("docs/v1.md has every address", () => {
  for (const { verb, path } of v1Table) expect(page).toContain(`\`${verb} ${path}\``);
});
