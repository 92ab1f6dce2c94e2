import { beforeAll, expect, test } from "vitest";
import { loadConfig } from "../../src/config.ts";
import { openMcpServer } from "../support/mcp-server.ts";
import { openService, type Service } from "../support/service.ts";
import { blocksIn, readPage } from "./page.ts";

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

/** The call of an example as curl would make it. */
function callIn(block: string) {
  const [, rpc = ""] = /"\$BASE_URL\/([^"]+)"/.exec(block) ?? [];
  const [, body = ""] = /-d '([\s\S]*)'/.exec(block) ?? [];
  return { rpc, body };
}

test("the examples install a connector, and set the policy of its tools", async () => {
  await using server = await openMcpServer();
  const ann = await service.person();
  const { headers } = await ann.session();
  const call = async ({ rpc, body }: ReturnType<typeof callIn>) => {
    const reply = await fetch(`${service.url}/${rpc}`, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body,
    });
    return { status: reply.status, body: (await reply.json()) as Installed };
  };
  const [install, policy] = blocks.filter((block) => block.includes("curl")).map(callIn);
  if (!install || !policy) throw new Error("the page has no examples");
  const made = await call({ ...install, body: install.body.replace("https://mcp.example.com/mcp", server.url) });
  expect(made).toMatchObject({ status: 200, body: { connector: { name: "GitHub", state: "ready", isDefault: true } } });
  const set = await call({ ...policy, body: policy.body.replace("THE-ID", made.body.connector.id).replace("search", "water") });
  expect(set.body.connector.tools[0]).toMatchObject({ name: "water", policy: "allow" });
});

test("the operator's command is valid as printed", () => {
  const [, value = ""] = /CONNECTOR_COMMANDS='([^']+)'/.exec(page) ?? [];
  expect(loadConfig({ CONNECTOR_COMMANDS: value }).connectorCommands).toEqual({
    files: ["/usr/local/bin/mcp-files", "--root", "/srv/shared"],
  });
});
