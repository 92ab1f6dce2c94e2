import { type Client, createClient } from "../client.ts";
import { openReceiver, type Receiver } from "./receiver.ts";
import { type ServerOptions, type StartedServer, startServer } from "./server.ts";

const servers: unique symbol = Symbol.for("agent-task-platform.testing");

export type PlatformOptions = ServerOptions;

/** A time to move on; the members are added. */
export interface AdvanceBy {
  readonly seconds?: number | undefined;
  readonly minutes?: number | undefined;
  readonly hours?: number | undefined;
  readonly days?: number | undefined;
}

/** The clock of the server. */
export interface Clock {
  now(): Promise<Date>;
  /** Moves forward, at most 400 days. What is due on the way has happened when it resolves. */
  advance(by: AdvanceBy): Promise<Date>;
  /** Moves forward to a time. */
  to(time: Date | string): Promise<Date>;
}

/** The calls or deliveries that get a fault. */
export interface FaultAim {
  /** Name of an operation, such as `task.create`, or the path of an address. */
  readonly operation?: string | undefined;
  readonly wire?:
    | "v2"
    | "connect"
    | "grpc"
    | "grpc-web"
    | "v1"
    | "openai"
    | "mcp"
    | "ag-ui"
    | "a2a"
    | "other"
    | undefined;
  /** Id of a webhook, or `*`: the fault is for deliveries. */
  readonly webhookId?: string | undefined;
}

/** A separate team. */
export interface Space {
  readonly id: string;
  readonly key: string;
  readonly client: Client;
  readonly memberKey: string;
  readonly memberClient: Client;
}

/** A server for tests. */
export interface Platform extends AsyncDisposable {
  readonly baseUrl: string;
  /** The API key of the first owner. */
  readonly key: string;
  readonly client: Client;
  readonly clock: Clock;
  /**
   * Arms a fault for later calls or deliveries, such as `status=503; times=2`. A header `X-ATP-Fault` is for
   * one call.
   */
  fault(fault: string, aim?: FaultAim): Promise<void>;
  /** Removes all armed faults. */
  clearFaults(): Promise<void>;
  /** A receiver of webhooks that is registered for the first owner, or for the space of a client. */
  receiver(client?: Client): Promise<Receiver>;
  /** Creates a team with a separate space, so that test files do not see each other's tasks. */
  space(name?: string): Promise<Space>;
  /** Returns to the state after the start: data of the fixtures, time and no faults. */
  reset(): Promise<void>;
  /** The last lines of the server's log, for failures. */
  log(): string;
  stop(): Promise<void>;
}

/**
 * The place of the servers that this process has started. Copies of this module, for example of several test
 * files, share them.
 */
const place = globalThis as { [servers]?: Map<string, Promise<StartedServer>> };

/**
 * Starts a server for tests, or resets the one that this process has started with the same options. It ends
 * with the process.
 *
 * @throws Error with the log of a server that does not start
 */
export async function startPlatform(options: PlatformOptions = {}): Promise<Platform> {
  const name = JSON.stringify(options);
  place[servers] ??= new Map();
  const started = place[servers];
  const running = started.get(name);
  const starting = running ?? startServer(options);
  started.set(name, starting);
  starting.catch(() => started.delete(name));
  const server = await starting;
  const platform = platformOn(server, () => started.delete(name));
  if (running !== undefined) await platform.reset();
  return platform;
}

function platformOn({ baseUrl, key, log, stop: end }: StartedServer, forget: () => void): Platform {
  const clientOf = (apiKey: string) => createClient({ baseUrl, apiKey });
  const client = clientOf(key);

  /** Operations of test mode are in no description, so they have no types. */
  async function call(operation: string, request: object = {}): Promise<Readonly<Record<string, unknown>>> {
    const reply = await fetch(`${baseUrl}/v2/test.${operation}`, {
      method: "POST",
      headers: { "x-service-api-key": key, "content-type": "application/json" },
      body: JSON.stringify(request),
    });
    const answer = (await reply.json()) as { readonly error?: { readonly message?: string } }; // Every answer of v2 is an object.
    if (!reply.ok) throw new Error(`test.${operation}: ${answer.error?.message ?? reply.status}`);
    return answer as Readonly<Record<string, unknown>>;
  }

  const time = ({ now }: Readonly<Record<string, unknown>>) => new Date(Number(now) * 1000);
  async function stop(): Promise<void> {
    forget();
    await end();
  }

  return {
    baseUrl,
    key,
    client,
    log,
    stop,
    clock: {
      now: async () => time(await call("clock.read")),
      advance: async ({ seconds = 0, minutes = 0, hours = 0, days = 0 }) =>
        time(await call("clock.advance", { seconds: seconds + 60 * (minutes + 60 * (hours + 24 * days)) })),
      to: async (at) => time(await call("clock.advance", { to: Math.ceil(new Date(at).getTime() / 1000) })),
    },
    fault: async (fault, { operation, wire, webhookId: webhook_id } = {}) =>
      void (await call("fault", { fault, operation, wire, webhook_id })),
    clearFaults: async () => void (await call("fault.clear")),
    receiver: (of = client) => openReceiver(of),
    async space(name) {
      const made = await call("space", { name });
      const [own, member] = [String(made["api_key"]), String(made["member_api_key"])];
      return {
        id: String(made["space_id"]),
        key: own,
        client: clientOf(own),
        memberKey: member,
        memberClient: clientOf(member),
      };
    },
    reset: async () => void (await call("reset")),
    [Symbol.asyncDispose]: stop,
  };
}
