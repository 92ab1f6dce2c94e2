import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport, StreamableHTTPError } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { AllowedAddresses } from "../config/address-range.ts";
import type { OnBehalf } from "../core/accounts/caller.ts";
import type { Clock } from "../core/clock.ts";
import { type ConnectorServers, type ServerAddress, ServerFault } from "../core/connectors/server.ts";
import { traceHeaders } from "../core/trace.ts";
import { RefusedDestination } from "../egress/agent.ts";
import { guardedFetch } from "../egress/guarded-fetch.ts";
import type { Resolve } from "../egress/resolve.ts";
import { limitTime, unlessAborted } from "../egress/time-limit.ts";
import { boundedAnswer, boundedTools } from "./bounded.ts";

/** The time limit of one use of a server, from the first byte to the last. */
const useMs = 60_000;
/** The maximum number of bytes in one use: 200 tools with their schemas, or a result with its protocol messages. */
const bytesMax = 8 * 1024 * 1024;
const pagesMax = 20;
const endSessionMs = 2_000;
/** Disables the SDK's timers: `limitTime` limits the time. */
const noTimeout = { timeout: 2 ** 31 - 1 };

/** The commands that the operator allows: the program and its arguments, by name. */
export type Commands = Readonly<Record<string, readonly string[]>>;

export interface ServersParts {
  readonly clock: Clock;
  readonly allowed: readonly AllowedAddresses[];
  readonly commands: Commands;
  readonly resolve: Resolve;
}

/** Servers of the Model Context Protocol. Each use has a new client, which is never reused. */
export function mcpServers(parts: ServersParts): ConnectorServers {
  return {
    listTools: (at, by) => use(parts, at, by, listTools),
    callTool: (at, { tool, input }, by) =>
      use(parts, at, by, async (client, options) =>
        boundedAnswer(await client.callTool({ name: tool, arguments: input }, undefined, options)),
      ),
  };
}

type Options = typeof noTimeout & { readonly signal: AbortSignal };

async function listTools(client: Client, options: Options) {
  const found: unknown[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < pagesMax; page += 1) {
    const { tools, nextCursor } = await client.listTools(cursor === undefined ? {} : { cursor }, options);
    found.push(...tools);
    cursor = nextCursor;
    if (cursor === undefined) break;
  }
  return boundedTools(found);
}

/** Connects, runs `work` and disconnects, within the limits. */
async function use<T>(
  { clock, allowed, commands, resolve }: ServersParts,
  at: ServerAddress,
  { accountId, signal: outer }: OnBehalf,
  work: (client: Client, options: Options) => Promise<T>,
): Promise<T> {
  const tooMuch = new AbortController();
  const time = limitTime(clock, useMs, AbortSignal.any([outer, tooMuch.signal]));
  const { signal } = time;
  const web = guardedFetch(allowed, resolve, { bytesMax, accountId, signal, onTooMuch: () => tooMuch.abort() });
  const client = new Client({ name: "agent-task-platform", version: "1" });
  try {
    const transport = transportTo(at, web.fetch, commands);
    // A connection attempt ignores its signal.
    await unlessAborted(signal, client.connect(transport, { ...noTimeout, signal }));
    const done = await unlessAborted(signal, work(client, { ...noTimeout, signal }));
    await endSession(transport, clock, signal);
    return done;
  } catch (thrown) {
    outer.throwIfAborted();
    throw tooMuch.signal.aborted ? new ServerFault("too_large", thrown) : faultOf(thrown, signal.aborted);
  } finally {
    time.stop();
    web.end();
    await client.close().catch(() => undefined);
  }
}

/** Ends the session at a server that keeps sessions, and waits at most 2 s for its answer. */
async function endSession(transport: Transport, clock: Clock, signal: AbortSignal): Promise<void> {
  if (!(transport instanceof StreamableHTTPClientTransport) || transport.sessionId === undefined) return;
  const time = limitTime(clock, endSessionMs, signal);
  await unlessAborted(time.signal, transport.terminateSession()).catch(() => undefined);
  time.stop();
}

function transportTo(at: ServerAddress, fetch: ReturnType<typeof guardedFetch>["fetch"], commands: Commands): Transport {
  if (at.transport === "stdio") {
    const [command, ...args] = Object.hasOwn(commands, at.command) ? (commands[at.command] ?? []) : [];
    // Denied by default: the operator has removed the command, or never allowed it.
    if (command === undefined) throw new ServerFault("unreachable", "no such command");
    const env = { PATH: "/usr/local/bin:/usr/bin:/bin" };
    return new StdioClientTransport({ command, args, env, stderr: "ignore", cwd: "/", maxBufferSize: bytesMax });
  }
  return new StreamableHTTPClientTransport(new URL(at.url), {
    requestInit: { headers: { ...at.headers, ...traceHeaders() } },
    // Refuses the stream of server messages: the server may only answer requests.
    fetch: async (url, init) => (init?.method === "GET" ? new Response(null, { status: 405 }) : fetch(url, init)),
    reconnectionOptions: { maxRetries: 0, initialReconnectionDelay: 1, maxReconnectionDelay: 1, reconnectionDelayGrowFactor: 1 },
    // The SDK's types are invalid under exactOptionalPropertyTypes: its sessionId may be undefined.
  }) as Transport;
}

/** The fault for a thrown error, as one of the platform's values. */
function faultOf(thrown: unknown, late: boolean): ServerFault {
  if (thrown instanceof ServerFault) return thrown;
  if (late) return new ServerFault("timeout", thrown);
  if (isRefused(thrown)) return new ServerFault("unreachable", thrown);
  if (thrown instanceof StreamableHTTPError && (thrown.code === 401 || thrown.code === 403)) return new ServerFault("refused", thrown);
  if (thrown instanceof Error && thrown.name === "UnauthorizedError") return new ServerFault("refused", thrown);
  return new ServerFault(thrown instanceof TypeError ? "unreachable" : "broken", thrown);
}

/** `fetch` wraps the reason of a refused connection. */
const isRefused = (thrown: unknown): boolean =>
  thrown instanceof RefusedDestination || (thrown instanceof Error && thrown.cause !== undefined && isRefused(thrown.cause));
