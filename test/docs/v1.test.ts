import { expect } from "vitest";
import { v1Table } from "../../src/http/v1/routes.ts";
import { sampledTest } from "../support/sampled.ts";
import { blocksIn, readPage, shell } from "./page.ts";
import { sharedServer } from "./shared-server.ts";

const test = sampledTest(3);

const page = readPage("docs/guides/v1.md");
const [, calls = ""] = (blocksIn(page, "sh")[0] ?? "").split("\n\n");

/** Each command with the comment after it. */
const steps = calls.split(/\n(?=curl)/).map((step) => {
  const lines = step.trim().split("\n");
  return {
    command: lines.filter((line) => !line.startsWith("#")).join("\n"),
    answer: lines.at(-1)?.replace(/^# /, "") ?? "",
  };
});

test("docs/guides/v1.md runs a task to its end by its commands, and each answers as its comment says", async () => {
  const server = await sharedServer();
  const known: Record<string, string> = {
    ATP_KEY: server.key,
    ATP_URL: `http://${server.url.replace(/^http:\/\//, "")}`,
  };
  expect(steps).toHaveLength(5);
  for (const { command, answer } of steps) {
    const body = JSON.parse(await shell(command, known));
    known["TASK"] ??= body.task_id;
    expect(JSON.stringify(body, null, 1)).toContain(answer.replace(/\s*…"?$/, ""));
  }
});

test("docs/guides/v1.md has every address", () => {
  for (const { verb, path } of v1Table) expect(page).toContain(`\`${verb} ${path}\``);
});
