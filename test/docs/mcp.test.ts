import { expect } from "vitest";
import { selectTools } from "../../src/protocols/mcp/tools/selection.ts";
import { sampledTest } from "../support/sampled.ts";
import { openService } from "../support/service.ts";
import { blocksIn, readPage, shell } from "./page.ts";

const test = sampledTest(3);

const page = readPage("docs/guides/mcp.md");

test("docs/guides/mcp.md: its command lists the tools, and its settings are JSON", async () => {
  await using service = await openService();
  const { key } = await service.person();
  const [command = ""] = blocksIn(page, "sh");
  expect(await shell(command, { ATP_URL: service.url, ATP_KEY: key })).toContain('"name":"task_create"');
  const settings = blocksIn(page, "json");
  expect(settings).toHaveLength(3);
  for (const text of settings) expect(() => JSON.parse(text)).not.toThrow();
});

test("docs/guides/mcp.md lists the tools of the default set", () => {
  const tools = selectTools(null, {
    credential: { kind: "key", keyKind: "general", scopes: null },
    role: "owner",
  });
  const [, table = ""] = page.split("## Tools");
  const listed = [...(table.split("\n- ")[0] ?? "").matchAll(/`(\w+_\w+)`/g)].map(([, name]) => name);
  expect(listed.toSorted()).toEqual(tools.map(({ name }) => name).toSorted());
});
