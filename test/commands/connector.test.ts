import { join } from "node:path";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { rowsIn } from "../support/database.ts";
import { type McpTestServer, openMcpServer } from "../support/mcp-server.ts";
import { sampledTest } from "../support/sampled.ts";
import { type Checkout, explained, install, sharedCheckout } from "./checkout.ts";

const test = sampledTest(3);

let checkout: Checkout;
let server: McpTestServer;
beforeAll(async () => {
  checkout = sharedCheckout();
  await install(checkout, "data");
  server = await openMcpServer();
  server.guard = (authorization) => authorization === "Bearer s3cret";
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  checkout[Symbol.dispose]();
});

/** `atp server-connector`, as in docs/guides/connectors.md. */
function connector(words: readonly string[], input = "") {
  const command = checkout.atp("server-connector", words, { DATA_DIR: "data", CONNECTOR_ALLOW: "loopback" });
  command.child.stdin?.end(input);
  return command.ended;
}

describe("atp server-connector", () => {
  test.each([
    ["nothing", []],
    ["two servers", ["install", "--name", "x", "--url", "https://a.example", "--command", "b"]],
    ["a credential without a server", ["install", "--name", "x", "--credential"]],
    ["an option of another word", ["list", "--default"]],
  ])("explains itself with exit code 2 for %s", async (_, words) => {
    const { code, out, err } = await connector(words);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toMatch(explained);
  });

  test("installs with a credential from standard input, lists, tests and removes, each change with a row in the audit log", async () => {
    const words = [
      "install",
      "--name",
      "Garden",
      "--url",
      server.url,
      "--credential",
      "--for-space",
      "--default",
    ];
    const refused = await connector(words, "Bearer wrong\n");
    expect({ code: refused.code, out: refused.out }).toEqual({ code: 1, out: "" });
    const made = await connector(words, "Bearer s3cret\n");
    expect(made.out).toMatch(/^\S+ {2}[0-9a-f-]{36} {2}space {2}ready {2}2 tools {2}"Garden"\n$/);
    const [id = ""] = made.out.split("  ");
    expect((await connector(["list"])).out).toBe(made.out);
    expect((await connector(["test", id])).out).toMatch(/^2 tools {2}\d+ ms\n$/);
    server.guard = () => false;
    const failed = await connector(["test", id]);
    expect(failed).toMatchObject({
      code: 6,
      out: "",
      err: expect.stringContaining("cannot be used: refused"),
    });
    expect(await connector(["remove", id])).toMatchObject({ code: 0, out: "" });
    expect((await connector(["remove", id])).err).toContain("connector not found");
    const audit = await rowsIn(
      `file:${join(checkout.path("data"), "platform.db")}`,
      "SELECT operation, credential, subject FROM audit_event WHERE operation LIKE 'settings.v1.ConnectorService/%' ORDER BY at",
    );
    const rpcs = ["InstallConnector", "TestConnector", "TestConnector", "RemoveConnector"];
    expect(audit).toEqual(
      rpcs.map((rpc) => ({
        operation: `settings.v1.ConnectorService/${rpc}`,
        credential: "command",
        subject: id,
      })),
    );
  });
});
