import { expect, test } from "vitest";
import { startServer } from "../support/server-process.ts";
import { blocksIn, readPage, shell } from "./page.ts";

test("docs/conventions.md: a call with a misspelt member is refused under strict handling with what stands behind it", async () => {
  await using server = await startServer();
  const [block = ""] = blocksIn(readPage("docs/conventions.md"), "sh").filter((text) => text.includes("handling=strict"));
  const [command = "", answer = ""] = block.trim().split("\n");
  expect(await shell(command, { KEY: server.key, BASE: server.url })).toContain(answer.replace(/^# /, ""));
});
