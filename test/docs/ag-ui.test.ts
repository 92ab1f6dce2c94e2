import { expect, test } from "vitest";
import { openService } from "../support/service.ts";
import { blocksIn, readPage, shell } from "./page.ts";

test("docs/guides/ag-ui.md: its command runs a task, and its answer has the events that it names", async () => {
  await using service = await openService();
  const { key } = await service.person();
  const [command = ""] = blocksIn(readPage("docs/guides/ag-ui.md"), "sh");
  const answer = await shell(command, { BASE: service.url, KEY: key });
  for (const [, part] of command.matchAll(/^# (.+)$/gm)) expect(answer).toContain(part);
});
