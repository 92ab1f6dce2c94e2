import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { mcpServers } from "../../src/adapters/connectors/servers.ts";
import { LookUpFailed } from "../../src/adapters/egress/look-up.ts";
import type { Resolve } from "../../src/adapters/egress/resolve.ts";
import { systemClock } from "../../src/core/clock.ts";
import type { ServerAddress } from "../../src/core/connectors/server.ts";
import { freePort } from "../support/free-port.ts";
import { injection, openLocal, openMcpServer, photograph } from "../support/mcp-server.ts";
import { noNames, patient } from "../support/names.ts";
import { patientClock } from "../support/patient-clock.ts";
import { openHostileServer } from "./hostile.ts";

const loopback = [{ kind: "loopback" }] as const;
const at = (url: string, headers: Record<string, string> = {}): ServerAddress => ({
  transport: "http",
  url,
  headers,
});
const server = await openMcpServer();
const hostile = await openHostileServer();
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await hostile[Symbol.asyncDispose]();
});
const servers = mcpServers({ clock: systemClock, resolve: noNames, allowed: loopback, commands: {} });

describe("a server over streamable HTTP", () => {
  test("lists the tools that only read, or that declare to be idempotent, as such", async () => {
    server.more.push("add_water", "set_water", "get_water");
    const tools = await servers.listTools(at(server.url), patient);
    server.more.splice(0);
    expect(tools.flatMap(({ name, isIdempotent }) => (isIdempotent ? [name] : []))).toEqual([
      "set_water",
      "get_water",
    ]);
  });

  test("lists its tools with their schemas", async () => {
    expect(await servers.listTools(at(server.url), patient)).toEqual([
      {
        name: "water",
        description: "Waters a bed.",
        inputSchema: { type: "object", properties: { bed: { type: "string" } }, required: ["bed"] },
      },
      { name: "fail", description: injection, inputSchema: { type: "object", properties: {} } },
    ]);
  });

  test("is called with the credential, and its answer is data", async () => {
    const answer = await servers.callTool(
      at(server.url, { authorization: "Bearer s3cret" }),
      { tool: "water", input: { bed: "roses" } },
      patient,
    );
    expect(answer).toEqual({ value: "Watered roses.", isError: false });
    expect(server.calls.at(-1)).toEqual({
      tool: "water",
      input: { bed: "roses" },
      authorization: "Bearer s3cret",
    });
  });

  test("may answer with pictures", async () => {
    server.more.push("photograph");
    const answer = await servers.callTool(at(server.url), { tool: "photograph", input: {} }, patient);
    server.more.pop();
    expect(answer).toEqual({
      value: ["photograph", { type: "image", mimeType: "image/png" }],
      isError: false,
      images: [photograph],
    });
  });

  test("may report that a use failed", async () => {
    expect(await servers.callTool(at(server.url), { tool: "fail", input: {} }, patient)).toEqual({
      value: "No water.",
      isError: true,
    });
  });

  test("that refuses the credential differs from a broken one", async () => {
    server.guard = () => false;
    await expect(servers.listTools(at(server.url), patient)).rejects.toMatchObject({
      name: "ServerFault",
      kind: "refused",
    });
    server.guard = undefined;
  });
});

describe("forbidden addresses of servers", () => {
  const guarded = mcpServers({
    clock: systemClock,
    allowed: [],
    commands: {},
    resolve: async () => ["10.0.0.7"],
  });

  test.each([
    "http://127.0.0.1:1/mcp",
    "https://127.0.0.1/mcp",
    "https://[::1]/mcp",
    "https://inside.example/mcp",
    "https://169.254.169.254/mcp",
  ])("%s is not connected to", async (url) => {
    await expect(guarded.listTools(at(url), patient)).rejects.toMatchObject({ kind: "unreachable" });
  });

  test.each<[string, string, Resolve]>([
    [
      "a name that does not exist",
      "name_not_found",
      () => Promise.reject(new LookUpFailed("not_found", "none.example")),
    ],
    [
      "name servers without an answer",
      "look-up",
      () => Promise.reject(new LookUpFailed("no_answer", "none.example")),
    ],
    ["an internal address", "CONNECTOR_ALLOW", async () => ["10.0.0.7"]],
  ])("the error names %s", async (_, named, resolve) => {
    const web = mcpServers({ clock: systemClock, allowed: [], commands: {}, resolve });
    const text = named === "name_not_found" ? "was not found" : named;
    await expect(web.listTools(at("https://none.example/mcp"), patient)).rejects.toMatchObject({
      message: expect.stringContaining(text),
    });
  });

  test("the error distinguishes a closed port, a server without TLS and a status", async () => {
    const port = await freePort();
    await using missing = await openLocal((_, response) => void response.writeHead(404).end());
    const { port: plain } = new URL(server.url);
    const texts = [
      [`http://127.0.0.1:${port}/mcp`, "no program listens"],
      [`https://127.0.0.1:${plain}/mcp`, "TLS"],
      [missing.url, "with the status 404"],
    ] as const;
    for (const [url, text] of texts)
      await expect(servers.listTools(at(url), patient)).rejects.toMatchObject({
        message: expect.stringContaining(text),
      });
  });

  test("nothing on this machine is reached unless the operator allows it", async () => {
    await expect(guarded.listTools(at(server.url), patient)).rejects.toMatchObject({ kind: "unreachable" });
  });
});

describe("a hostile server", () => {
  test.each([
    ["a stream without an end", "endless", "too_large"],
    ["a line without an end", "line", "too_large"],
    ["a result that is too large", "huge", "too_large"],
    ["a result that is nested too deep", "deep", "too_large"],
    ["something that is not JSON-RPC", "garbage", "broken"],
    ["an invalid list of tools", "misfit", "broken"],
    ["a redirect to another address", "redirect", "broken"],
    ["a redirect to an internal address", "inside", "broken"],
  ] as const)("that answers with %s is cut, with our error text", async (_name, path, kind) => {
    const thrown = await servers
      .callTool(at(`${hostile.url}/${path}`), { tool: "x", input: {} }, patient)
      .catch((fault: unknown) => fault);
    expect(thrown).toMatchObject({ name: "ServerFault", kind });
    expect(String(thrown)).not.toContain("stranger");
    expect(hostile.reachedInside).toBe(false);
  });

  test.each([
    "pages",
    "circle",
  ])("that lists %s of tools without an end receives at most 20 requests", async (path) => {
    const before = hostile.pages;
    expect(await servers.listTools(at(`${hostile.url}/${path}`), patient)).toHaveLength(20);
    expect(hostile.pages - before).toBe(20);
  });

  test("that requests a model, the user or files gets nothing", async () => {
    const answer = await servers.callTool(at(`${hostile.url}/asks`), { tool: "x", input: {} }, patient);
    expect(answer).toEqual({ value: "Done", isError: false });
    // Method not found.
    expect(hostile.clientReplies).toMatchObject([{ code: -32601 }, { code: -32601 }, { code: -32601 }]);
  });

  test("that answers byte by byte runs into the timeout", async () => {
    const clock = patientClock(0);
    const slow = mcpServers({ clock, resolve: noNames, allowed: loopback, commands: {} });
    const used = slow
      .callTool(at(`${hostile.url}/drip`), { tool: "x", input: {} }, patient)
      .catch((fault: unknown) => fault);
    await hostile.dripBegun;
    clock.pass(60_000);
    expect(await used).toMatchObject({ kind: "timeout" });
  });

  test("that is silent runs into the timeout", async () => {
    const clock = patientClock(0);
    const slow = mcpServers({ clock, resolve: noNames, allowed: loopback, commands: {} });
    const used = slow
      .callTool(at(`${hostile.url}/silent`), { tool: "x", input: {} }, patient)
      .catch((fault: unknown) => fault);
    await hostile.silenceBegun;
    clock.pass(60_000);
    expect(await used).toMatchObject({ kind: "timeout" });
  });

  test("that describes its tools at excessive length is cut to the limits", async () => {
    const tools = await servers.listTools(at(`${hostile.url}/tools`), patient);
    expect(tools).toHaveLength(200);
    expect(tools.map(({ name }) => name)).not.toContain("a name with blanks");
    const [first] = tools;
    expect(first?.description).toHaveLength(2_000);
    expect(JSON.stringify(first?.inputSchema)).not.toContain("pattern");
  });

  test("is disconnected at once when all callers have gone", async () => {
    const gone = new AbortController();
    const used = servers
      .callTool(
        at(`${hostile.url}/silent`),
        { tool: "x", input: {} },
        { accountId: "ann", signal: gone.signal },
      )
      .catch((thrown: unknown) => thrown);
    gone.abort(new Error("gone"));
    expect(await used).toMatchObject({ message: "gone" });
  });
});

describe("a server that is a command", () => {
  const path = fileURLToPath(new URL("stdio-server.ts", import.meta.url));
  const commands = { garden: [process.execPath, "--no-warnings", path] };

  test("runs where the operator allows it, without the platform's environment", async () => {
    const local = mcpServers({ clock: systemClock, resolve: noNames, allowed: [], commands });
    const answer = await local.callTool(
      { transport: "stdio", command: "garden" },
      { tool: "environment", input: {} },
      patient,
    );
    expect(answer.value).toEqual(expect.not.stringContaining("ENCRYPTION_KEY"));
    expect(answer.isError).toBe(false);
    expect(JSON.parse(String(answer.value))).not.toContain("VITEST");
  });

  test.each(["other", "constructor", "/bin/sh"])("is not run by another name: %s", async (command) => {
    const local = mcpServers({ clock: systemClock, resolve: noNames, allowed: [], commands });
    await expect(local.listTools({ transport: "stdio", command }, patient)).rejects.toMatchObject({
      kind: "unreachable",
    });
  });
});
