import type { JsonObject } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { systemIds } from "../../src/core/ids.ts";
import {
  type AttachRequest,
  type AttachResponse,
  BrowserService,
} from "../../src/gen/proto/browser/v2/browser_service_pb.ts";
import type { Calling } from "../support/service.ts";
import { clientOf, type RpcWire } from "../support/wires.ts";

type Payload = AttachRequest["payload"];

/** The wires that support bidirectional streams. */
export const streamingWires = ["connect-binary", "grpc"] as const satisfies readonly RpcWire[];

/** A client that attaches a browser, without a browser. */
export interface FakeBrowser {
  readonly id: string;
  /** Resolves once it is online, rejects when it is refused. */
  readonly online: Promise<void>;
  /** The stream's end: `ok`, or the code and the text of the refusal. */
  readonly end: Promise<string>;
  /** The methods of all received commands. */
  readonly commands: string[];
  send(payload: Payload): void;
  /** Ends the client's side of the stream. */
  closeSend(): void;
  /** Breaks the connection. */
  abort(): void;
}

export interface FakeBrowserOptions {
  readonly url: string;
  readonly wire?: RpcWire;
  readonly id?: string;
  readonly name?: string;
  /** Instead of a hello; null sends nothing. */
  readonly first?: Payload | null;
  /** Leaves pings unanswered. */
  readonly isSilent?: boolean;
  /** The result of a command; `undefined` leaves it unanswered. */
  readonly answer?: (method: string, params: JsonObject) => JsonObject | string | undefined;
}

/** Attaches a browser that does not exist. */
export function fakeBrowser({ headers }: Pick<Calling, "headers">, options: FakeBrowserOptions): FakeBrowser {
  const {
    url,
    wire = "grpc",
    id = systemIds.uuid(),
    name = "Laptop",
    isSilent: mute = false,
    answer = () => ({}),
  } = options;
  const { first = { case: "hello", value: { clientId: id, clientName: name, ua: "Fake/1" } } as Payload } =
    options;
  const queue: Payload[] = first === null ? [] : [first];
  let queued = Promise.withResolvers<void>();
  let isLeaving = false;
  const aborted = new AbortController();
  const online = Promise.withResolvers<void>();
  online.promise.catch(() => undefined);
  const commands: string[] = [];
  const say = (payload: Payload): void => {
    queue.push(payload);
    queued.resolve();
  };

  async function* requests(): AsyncGenerator<{ payload: Payload }> {
    for (;;) {
      for (let payload = queue.shift(); payload; payload = queue.shift()) yield { payload };
      if (isLeaving) return;
      await queued.promise;
      queued = Promise.withResolvers();
    }
  }

  function receive({ payload }: AttachResponse): void {
    if (payload.case === "attached") online.resolve();
    if (payload.case === "ping" && !mute) say({ case: "pong", value: {} } as Payload);
    if (payload.case !== "command") return;
    const { id: command, method, params } = payload.value;
    commands.push(method);
    const result = answer(method, JSON.parse(params));
    if (result === undefined) return;
    const outcome =
      typeof result === "string"
        ? { case: "error", value: result }
        : { case: "result", value: JSON.stringify(result) };
    say({ case: "result", value: { id: command, outcome } } as Payload);
  }

  async function runStream(): Promise<string> {
    try {
      for await (const response of clientOf(BrowserService, wire, url, headers).attach(requests(), {
        signal: aborted.signal,
      }))
        receive(response);
      return "ok";
    } catch (thrown) {
      const { code, rawMessage } = ConnectError.from(thrown);
      return `${Code[code]}: ${rawMessage}`;
    }
  }
  const end = runStream();
  void end.then((text) => online.reject(new Error(text)));

  return {
    ...{ id, end, commands, send: say },
    online: online.promise,
    closeSend() {
      isLeaving = true;
      queued.resolve();
    },
    abort: () => aborted.abort(),
  };
}
