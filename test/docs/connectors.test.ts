import { beforeAll, expect, test } from "vitest";
import { loadConfig } from "../../src/config/config.ts";
import { openMcpServer } from "../support/mcp-server.ts";
import { openService, type Service } from "../support/service.ts";
import { blocksIn, readPage, shell } from "./page.ts";

const page = readPage("docs/guides/connectors.md");
const blocks = blocksIn(page, "sh");
let service: Service;
beforeAll(async () => {
  service = await openService({ idle: true, env: { CONNECTOR_ALLOW: "loopback" } });
  return () => service[Symbol.asyncDispose]();
});

/** The used part of the answers to the page's calls. */
interface Installed {
  readonly connector: { readonly id: string; readonly tools: readonly unknown[] };
}

test("the examples install a connector, and set the policy of its tools", async () => {
  await using server = await openMcpServer();
  const ann = await service.person();
  const { headers } = await ann.session();
  const variables = { ATP_URL: service.url, SESSION: headers.cookie, CONSENT_URL: headers.origin };
  const call = async (block: string): Promise<Installed> => JSON.parse(await shell(block, variables));
  const [install = "", policy = ""] = blocks.filter((block) => block.startsWith("curl"));
  const made = await call(install.replace("https://mcp.example.com/mcp", server.url));
  expect(made).toMatchObject({ connector: { name: "GitHub", state: "ready", isDefault: true } });
  const set = await call(policy.replace("THE-ID", made.connector.id).replace("search", "water"));
  expect(set.connector.tools[0]).toMatchObject({ name: "water", policy: "allow" });
});

test("the operator's command is valid as printed", () => {
  const [, value = ""] = /CONNECTOR_COMMANDS='([^']+)'/.exec(page) ?? [];
  expect(loadConfig({ CONNECTOR_COMMANDS: value }).connectorCommands).toEqual({
    files: ["/usr/local/bin/mcp-files", "--root", "/srv/shared"],
  });
});
