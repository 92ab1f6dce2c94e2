import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { mcpServers } from "../../src/connectors/servers.ts";
import { systemClock } from "../../src/core/clock.ts";
import type { ServerAddress } from "../../src/core/connectors/server.ts";
import { freePort } from "../support/free-port.ts";
import { noNames, patient } from "../support/names.ts";

/** A server that comes with the SDK. */
const example = (name: string): string => createRequire(import.meta.url).resolve(`@modelcontextprotocol/sdk/examples/server/${name}.js`);
const commands = {
  weather: [process.execPath, "--no-warnings", example("mcpServerOutputSchema")],
  count: [process.execPath, "--no-warnings", example("progressExample")],
};
const servers = mcpServers({ clock: systemClock, resolve: noNames, allowed: [{ kind: "loopback" }], commands });

describe("the SDK's example of a streamable HTTP server, which keeps sessions", () => {
  let child: ChildProcess;
  let at: ServerAddress;
  let output = "";
  /** Resolves once the server has printed that it is ready. */
  const untilOutput = async (text: string): Promise<void> => {
    while (!output.includes(text)) await once(child.stdout ?? child, "data");
  };

  beforeAll(async () => {
    const port = await freePort();
    const { PATH = "" } = process.env;
    const env = { PATH, MCP_PORT: String(port) };
    child = spawn(process.execPath, ["--no-warnings", example("simpleStreamableHttp")], { env, stdio: ["ignore", "pipe", "ignore"] });
    child.stdout?.on("data", (chunk) => {
      output += chunk;
    });
    await untilOutput("listening");
    at = { transport: "http", url: `http://127.0.0.1:${port}/mcp`, headers: {} };
  });
  afterAll(() => void child.kill("SIGKILL"));

  test("lists its tools, and its session is ended after each use", async () => {
    const tools = await servers.listTools(at, patient);
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(["greet", "multi-greet", "start-notification-stream"]));
    expect(tools.find(({ name }) => name === "greet")?.inputSchema).toMatchObject({ required: ["name"] });
    await untilOutput("session termination request");
  });

  test("can be called; its notifications next to the result are ignored", async () => {
    expect(await servers.callTool(at, { tool: "greet", input: { name: "Ann" } }, patient)).toEqual({
      value: "Hello, Ann!",
      isError: false,
    });
    const input = { interval: 1, count: 3 };
    const noisy = await servers.callTool(at, { tool: "start-notification-stream", input }, patient);
    expect(noisy).toMatchObject({ isError: false, value: expect.stringContaining("every 1ms") });
  });

  test("gets no answer to a question for the user during a call", async () => {
    const answer = await servers.callTool(at, { tool: "collect-user-info", input: { infoType: "contact" } }, patient);
    expect(answer.value).toEqual(expect.stringContaining("Error collecting contact information"));
  });

  test("reports an invalid input itself", async () => {
    expect(await servers.callTool(at, { tool: "greet", input: {} }, patient)).toMatchObject({ isError: true });
    expect(await servers.callTool(at, { tool: "none", input: {} }, patient)).toMatchObject({ isError: true });
  });
});

describe("the SDK's examples of servers over standard input and output", () => {
  const by = (command: string): ServerAddress => ({ transport: "stdio", command });

  test("return structured values", async () => {
    expect((await servers.listTools(by("weather"), patient)).map(({ name }) => name)).toEqual(["get_weather"]);
    const { value, isError } = await servers.callTool(
      by("weather"),
      { tool: "get_weather", input: { city: "Bonn", country: "DE" } },
      patient,
    );
    expect([value, isError]).toEqual([expect.objectContaining({ humidity: expect.any(Number) }), false]);
  });

  test("may send progress that was not requested", async () => {
    expect(await servers.callTool(by("count"), { tool: "count", input: { n: 2 } }, patient)).toMatchObject({ isError: false });
  });
});
