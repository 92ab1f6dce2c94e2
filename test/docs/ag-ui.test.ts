import { expect } from "vitest";
import { sampledTest } from "../support/sampled.ts";
import { openService } from "../support/service.ts";
import { blocksIn, readPage, shell } from "./page.ts";

const test = sampledTest(3);

test("docs/guides/ag-ui.md: its command runs a task, and its answer has the events that it names", async () => {
  await using service = await openService();
  const { key } = await service.person();
  const [command = ""] = blocksIn(readPage("docs/guides/ag-ui.md"), "sh");
  const answer = await shell(command, { ATP_URL: service.url, ATP_KEY: key });
  for (const [, part] of command.matchAll(/^# (.+)$/gm)) expect(answer).toContain(part);
});
