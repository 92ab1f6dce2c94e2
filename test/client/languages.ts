import type { JsonObject } from "@bufbuild/protobuf";
import {
  createClient,
  type ListenEvent,
  type ListenOptions,
  type OperationName,
  type RpcName,
  type WatchEvent,
} from "../../packages/client/src/index.ts";
import { pythonMethod, pythonSubjects } from "../../scripts/client/python.ts";
import { lacks } from "../support/needs.ts";
import { openPython, type Python } from "./python.ts";

/** Settings of a client in any language. */
export interface Settings {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly retries?: number;
}

export interface Options {
  readonly idempotencyKey?: string;
  readonly timeoutMs?: number;
  readonly retries?: number;
}

/** What the conformance tests need of a client. Errors have the names and fields of the TypeScript client. */
export interface ConformingClient {
  call(name: OperationName, request: object, options?: Options): Promise<JsonObject>;
  rpc(name: RpcName, request: object): Promise<JsonObject>;
  /** What a listener yields first, at most this many. */
  listen(request: Omit<ListenOptions, "signal">, most: number): Promise<readonly ListenEvent[]>;
  watch(
    id: string,
    watching?: {
      readonly untilSettled?: boolean;
      readonly deltas?: boolean;
      readonly retries?: number;
      readonly most?: number;
    },
  ): Promise<readonly WatchEvent[]>;
  /** The pauses between attempts so far, in milliseconds. No pause is waited for. */
  pauses(): Promise<readonly number[]>;
}

/** A client that is tested. */
export interface Language {
  readonly name: string;
  readonly isMissing: boolean;
  open(settings: Settings): Promise<ConformingClient>;
}

const typescript: Language = {
  name: "TypeScript",
  isMissing: false,
  async open(settings) {
    const pauses: number[] = [];
    const client = createClient({ ...settings, sleep: async (ms) => void pauses.push(ms) });
    return {
      // The requests of the tests are data: the table of operations has their types.
      call: async (name, request, options) =>
        (await client.call(name, request as never, options)) as unknown as JsonObject,
      rpc: async (name, request) => (await client.rpc(name, request as never)) as JsonObject,
      async listen(request, most) {
        const events: ListenEvent[] = [];
        for await (const event of client.webhooks.listen(request)) if (events.push(event) >= most) break;
        return events;
      },
      async watch(id, { most = Number.POSITIVE_INFINITY, ...watching } = {}) {
        const events: WatchEvent[] = [];
        for await (const event of client.tasks.watch(id, watching)) if (events.push(event) >= most) break;
        return events;
      },
      pauses: async () => pauses,
    };
  },
};

/** How Python calls an operation: a method of a resource, or the generic call. */
export function pythonPath(name: string): string | null {
  const subject = pythonSubjects[name.slice(0, name.lastIndexOf("."))];
  return subject === undefined ? null : `${subject}.${pythonMethod(name)}`;
}

/** Methods with another form than their operation. */
const special = new Set(["task.create", "task.list", "file.upload"]);

function pythonClient(name: string, of: "Client" | "AsyncClient", process: () => Promise<Python>): Language {
  return {
    name,
    isMissing: lacks("python-httpx"),
    async open({ baseUrl, apiKey, retries }) {
      const python = await process();
      const client = await python.make(of, {
        base_url: baseUrl,
        api_key: apiKey,
        still: true,
        ...(retries === undefined ? {} : { retries }),
      });
      const optionsOf = ({ idempotencyKey, timeoutMs, retries: tries }: Options) => ({
        ...(idempotencyKey === undefined ? {} : { idempotency_key: idempotencyKey }),
        ...(timeoutMs === undefined ? {} : { timeout: timeoutMs / 1000 }),
        ...(tries === undefined ? {} : { retries: tries }),
      });
      return {
        async call(operation, request, options = {}) {
          // A method does not take a request without its required members.
          const path =
            special.has(operation) || Object.keys(request).length === 0 ? null : pythonPath(operation);
          const call =
            path === null
              ? { args: [operation, request, optionsOf(options)] }
              : { kwargs: { ...request, options: optionsOf(options) } };
          return (await python.do(client, path ?? "call", call)) as JsonObject;
        },
        rpc: async (operation, request) =>
          (await python.do(client, "rpc", { args: [operation, request] })) as JsonObject,
        listen: async (request, most) =>
          (await python.all(
            client,
            "webhooks.listen",
            { kwargs: { ...request } },
            most,
          )) as readonly ListenEvent[],
        async watch(id, { most, untilSettled, ...watching } = {}) {
          const kwargs = {
            ...watching,
            ...(untilSettled === undefined ? {} : { until_settled: untilSettled }),
          };
          return (await python.all(
            client,
            "tasks.watch",
            { args: [id], kwargs },
            most,
          )) as readonly WatchEvent[];
        },
        pauses: async () =>
          ((await python.do(client, "pauses")) as readonly number[]).map((seconds) => seconds * 1000),
      };
    },
  };
}

/** The languages, with one Python process, which `close` ends. */
export function languages(): { readonly all: readonly Language[]; close(): Promise<void> } {
  let opened: Promise<Python> | undefined;
  const process = () => {
    opened ??= openPython();
    return opened;
  };
  return {
    all: [
      typescript,
      pythonClient("Python", "Client", process),
      pythonClient("Python with asyncio", "AsyncClient", process),
    ],
    close: async () => (await opened)?.[Symbol.asyncDispose](),
  };
}
