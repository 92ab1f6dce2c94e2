import { expect, test } from "vitest";
import { blocksIn, readPage } from "./page.ts";

test("docs/guides/acp.md: its settings are JSON, and start atp acp", () => {
  const [settings = ""] = blocksIn(readPage("docs/guides/acp.md"), "json");
  expect(JSON.parse(settings)).toMatchObject({
    agent_servers: { Tasks: { command: "atp", args: expect.arrayContaining(["acp"]) } },
  });
});
