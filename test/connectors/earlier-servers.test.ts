import { randomUUID } from "node:crypto";
import { json } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { McpServer, WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";
import { afterAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { mcpServers } from "../../src/adapters/connectors/servers.ts";
import { systemClock } from "../../src/core/clock.ts";
import type { ServerAddress } from "../../src/core/connectors/server.ts";
import { openLocal } from "../support/mcp-server.ts";
import { noNames, patient } from "../support/names.ts";
import { sendAnswer, webRequest } from "../support/web-answer.ts";

const commands = {
  garden: [process.execPath, "--no-warnings", fileURLToPath(new URL("stdio-server.ts", import.meta.url))],
};
const servers = mcpServers({
  clock: systemClock,
  resolve: noNames,
  allowed: [{ kind: "loopback" }],
  commands,
});

describe("a server of 2025-11-25 over HTTP, which keeps sessions", async () => {
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();
  const ended: string[] = [];
  const methods: unknown[] = [];
  let failsAtUnknown = false;

  async function newSession(): Promise<WebStandardStreamableHTTPServerTransport> {
    const mcp = new McpServer({ name: "earlier", version: "1" }, { capabilities: { logging: {} } });
    mcp.registerTool(
      "greet",
      { inputSchema: z.object({ name: z.string() }) },
      async ({ name }, { mcpReq }) => {
        await mcpReq.notify({ method: "notifications/message", params: { level: "info", data: "thinking" } });
        return { content: [{ type: "text", text: `Hello, ${name}!` }] };
      },
    );
    mcp.registerTool("ask", {}, async ({ mcpReq }) => {
      const form = {
        message: "Your password?",
        requestedSchema: { type: "object" as const, properties: {} },
      };
      return { content: [{ type: "text", text: (await mcpReq.elicitInput(form)).action }] };
    });
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, transport),
      onsessionclosed: (id) => void ended.push(id),
    });
    await mcp.connect(transport);
    return transport;
  }

  const local = await openLocal(async (request, response) => {
    const body = request.method === "POST" ? await json(request) : undefined;
    methods.push((body as { readonly method?: string } | undefined)?.method ?? request.method);
    if (failsAtUnknown && methods.at(-1) === "server/discover") return void response.writeHead(500).end();
    const transport = sessions.get(String(request.headers["mcp-session-id"])) ?? (await newSession());
    const message = body === undefined ? {} : { parsedBody: body };
    sendAnswer(response, await transport.handleRequest(webRequest(request, response), message));
  });
  afterAll(() => local[Symbol.asyncDispose]());
  const at: ServerAddress = { transport: "http", url: `${local.url}/mcp`, headers: {} };

  test("lists its tools, and its session is ended after each use", async () => {
    const tools = await servers.listTools(at, patient);
    expect(tools.map(({ name }) => name)).toEqual(["greet", "ask"]);
    expect(tools[0]?.inputSchema).toMatchObject({ required: ["name"] });
    expect(methods).toEqual([
      "server/discover",
      "initialize",
      "notifications/initialized",
      "tools/list",
      "DELETE",
    ]);
    expect(ended).toEqual([...sessions.keys()]);
  });

  test("can be called; its notifications next to the result are ignored", async () => {
    expect(await servers.callTool(at, { tool: "greet", input: { name: "Ann" } }, patient)).toEqual({
      value: "Hello, Ann!",
      isError: false,
    });
  });

  test("may fail at the question for its revisions", async () => {
    failsAtUnknown = true;
    expect(await servers.listTools(at, patient)).toHaveLength(2);
    failsAtUnknown = false;
  });

  test("gets no answer to a question for the user during a call", async () => {
    const answer = await servers.callTool(at, { tool: "ask", input: {} }, patient);
    expect(answer).toEqual({ isError: true, value: expect.stringContaining("elicitation") });
  });

  test("reports an invalid input itself", async () => {
    expect(await servers.callTool(at, { tool: "greet", input: {} }, patient)).toMatchObject({
      isError: true,
    });
    await expect(servers.callTool(at, { tool: "none", input: {} }, patient)).rejects.toMatchObject({
      kind: "broken",
    });
  });
});

describe("a server of 2025-11-25 over standard input and output", () => {
  const at: ServerAddress = { transport: "stdio", command: "garden" };

  test("returns structured values, and may send progress that was not requested", async () => {
    expect((await servers.listTools(at, patient)).map(({ name }) => name)).toEqual([
      "environment",
      "weather",
      "count",
    ]);
    expect(await servers.callTool(at, { tool: "weather", input: { city: "Bonn" } }, patient)).toEqual({
      value: { city: "Bonn", humidity: 40 },
      isError: false,
    });
    expect(await servers.callTool(at, { tool: "count", input: { n: 2 } }, patient)).toEqual({
      value: "2",
      isError: false,
    });
  });
});
