import {
  Client,
  SdkErrorCode,
  SdkHttpError,
  StreamableHTTPClientTransport,
  type Transport,
} from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import type { AllowedAddresses } from "../../config/address-range.ts";
import type { OnBehalf } from "../../core/accounts/caller.ts";
import type { Clock } from "../../core/clock.ts";
import { type ConnectorServers, type ServerAddress, ServerFault } from "../../core/connectors/server.ts";
import { traceHeaders } from "../../core/trace.ts";
import { guardedFetch } from "../egress/guarded-fetch.ts";
import type { Resolve } from "../egress/resolve.ts";
import { limitTime, unlessAborted } from "../egress/time-limit.ts";
import { boundedAnswer, boundedTools } from "./bounded.ts";
import { unreachedBy } from "./unreached.ts";

/** The time limit of one use of a server, from the first byte to the last. */
const useMs = 60_000;
/**
 * The maximum number of bytes in one use: 200 tools with their schemas, or a result with its protocol
 * messages.
 */
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
        boundedAnswer(await client.callTool({ name: tool, arguments: input }, options)),
      ),
  };
}

type Options = typeof noTimeout & { readonly signal: AbortSignal };

async function listTools(client: Client, options: Options) {
  const found: unknown[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < pagesMax; page += 1) {
    // Not `listTools`: it reads all pages at once, and prepares each tool's own schemas.
    const params = cursor === undefined ? {} : { cursor };
    const { tools, nextCursor } = await client.request({ method: "tools/list", params }, options);
    found.push(...tools);
    cursor = nextCursor;
    if (cursor === undefined) break;
  }
  return boundedTools(found);
}

/**
 * Over HTTP, the first request asks for the revisions of the server, and servers from before 2026-07-28 are
 * used as before. A command would be started a second time for this, so it speaks the earlier revision, which
 * is the one that servers of both kinds understand.
 */
const versionsOf = ({ transport }: ServerAddress): "auto" | "legacy" =>
  transport === "http" ? "auto" : "legacy";

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
  const web = guardedFetch(allowed, resolve, {
    bytesMax,
    accountId,
    signal,
    onTooMuch: () => tooMuch.abort(),
  });
  const client = new Client(
    { name: "agent-task-platform", version: "1" },
    { versionNegotiation: { mode: versionsOf(at) } },
  );
  try {
    // A connection attempt ignores its signal.
    const transport = await unlessAborted(
      signal,
      connect(client, () => transportTo(at, web.fetch, commands), { ...noTimeout, signal }),
    );
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

/** Connects, and again in the earlier way to a server that fails when its revisions are requested. */
async function connect(client: Client, newTransport: () => Transport, options: Options): Promise<Transport> {
  const transport = newTransport();
  try {
    await client.connect(transport, options);
    return transport;
  } catch (thrown) {
    if (
      !(
        thrown instanceof SdkHttpError &&
        thrown.code === SdkErrorCode.EraNegotiationFailed &&
        thrown.status >= 500
      )
    )
      throw thrown;
    const again = newTransport();
    await client.connect(again, { ...options, prior: { kind: "legacy" } });
    return again;
  }
}

/** Ends the session at a server that keeps sessions, and waits at most 2 s for its answer. */
async function endSession(transport: Transport, clock: Clock, signal: AbortSignal): Promise<void> {
  if (!(transport instanceof StreamableHTTPClientTransport) || transport.sessionId === undefined) return;
  const time = limitTime(clock, endSessionMs, signal);
  await unlessAborted(time.signal, transport.terminateSession()).catch(() => undefined);
  time.stop();
}

function transportTo(
  at: ServerAddress,
  fetch: ReturnType<typeof guardedFetch>["fetch"],
  commands: Commands,
): Transport {
  if (at.transport === "stdio") {
    const [command, ...args] = Object.hasOwn(commands, at.command) ? (commands[at.command] ?? []) : [];
    // Denied by default: the operator has removed the command, or never allowed it.
    if (command === undefined) throw new ServerFault("unreachable", "no such command", "no_command");
    const env = { PATH: "/usr/local/bin:/usr/bin:/bin" };
    return new StdioClientTransport({
      command,
      args,
      env,
      stderr: "ignore",
      cwd: "/",
      maxBufferSize: bytesMax,
    });
  }
  return new StreamableHTTPClientTransport(new URL(at.url), {
    requestInit: { headers: { ...at.headers, ...traceHeaders() } },
    // Refuses the stream of server messages: the server may only answer requests.
    fetch: async (url, init) =>
      init?.method === "GET" ? new Response(null, { status: 405 }) : fetch(url, init),
    reconnectionOptions: {
      maxRetries: 0,
      initialReconnectionDelay: 1,
      maxReconnectionDelay: 1,
      reconnectionDelayGrowFactor: 1,
    },
  });
}

/** The fault for a thrown error, as one of the platform's values. */
function faultOf(thrown: unknown, late: boolean): ServerFault {
  if (thrown instanceof ServerFault) return thrown;
  if (late) return new ServerFault("timeout", thrown);
  const status = thrown instanceof SdkHttpError ? thrown.status : undefined;
  if (status === 401 || status === 403) return new ServerFault("refused", thrown, status);
  const reason = unreachedBy(thrown);
  return reason ? new ServerFault("unreachable", thrown, reason) : new ServerFault("broken", thrown, status);
}
