import { randomUUID } from "node:crypto";
import { Readable, Writable } from "node:stream";
import { finished } from "node:stream/promises";
import { setTimeout as delay } from "node:timers/promises";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import { version } from "../../src/config/version.ts";
import { mcpServer } from "../../src/protocols/mcp/server.ts";
import type { ServerParts } from "../../src/protocols/mcp/server-parts.ts";
import { selectTools } from "../../src/protocols/mcp/tools/selection.ts";
import { type Cli, clientFlags, command } from "../frame/command.ts";
import { type ClientFlags, textFlag } from "../frame/parameters.ts";
import { remoteClients } from "../rights.ts";

interface McpFlags extends ClientFlags {
  readonly tools?: string;
}

/** The largest message, as at /mcp. */
const messageBytesMax = 2 * 1_048_576;
/** Places in conversations that are remembered. */
const placesMax = 1_000;

export const mcp = command({
  brief: "Serve the Model Context Protocol over standard input and output, for a client on this machine",
  examples: ["atp mcp", "atp mcp --profile work --tools default,project"],
  about:
    "The client starts this command and gives its model the tools of the installation, with your credential. docs/guides/mcp.md has the settings of clients. The command ends when the client closes its input.",
  parameters: {
    flags: {
      ...clientFlags,
      tools: textFlag(
        "Tools, separated by commas: default, all, a subject such as project, or an operation",
        "NAMES",
      ),
    },
  },
  run: async (cli: Cli, { tools }: McpFlags) => {
    const { context } = cli;
    const gone = new AbortController();
    const stop = context.onInterrupt(() => gone.abort());
    const input = Readable.from(context.stdin, { objectMode: false });
    const output = new Writable({
      write(part: Buffer, _encoding, done) {
        context.process.stdout.write(part);
        done();
      },
    });
    const parts: ServerParts = {
      clientUntil: remoteClients(cli),
      listTools: async (client) => selectTools(tools ?? null, await client.rights()),
      version,
      gone: gone.signal,
      sleep: (ms, signal) => delay(ms, undefined, { signal }),
      places: rememberedPlaces(),
    };
    const transport = new StdioServerTransport(input, output, { maxBufferSize: messageBytesMax });
    const handle = serveStdio(() => mcpServer(parts), {
      transport,
      maxSubscriptions: 0,
      onerror: ({ message }) => cli.print.note(message),
    });
    gone.signal.addEventListener("abort", () => input.destroy());
    await finished(input).catch(() => undefined);
    gone.abort();
    await handle.close();
    stop();
  },
});

/** Places by random names: the client cannot make one. */
function rememberedPlaces(): ServerParts["places"] {
  const places = new Map<string, Parameters<ServerParts["places"]["seal"]>[0]>();
  return {
    seal(place) {
      const name = randomUUID();
      places.set(name, place);
      const [oldest] = places.keys();
      if (places.size > placesMax && oldest !== undefined) places.delete(oldest);
      return name;
    },
    open: (name) => places.get(name) ?? null,
  };
}
