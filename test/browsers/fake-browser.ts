import type { JsonObject } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { systemIds } from "../../src/core/ids.ts";
import { type AttachRequest, type AttachResponse, BrowserService } from "../../src/gen/proto/browser/v2/browser_service_pb.ts";
import type { Calling } from "../support/service.ts";
import { clientOf, type RpcWire } from "../support/wires.ts";

type Said = AttachRequest["payload"];

/** The wires that carry conversations. */
export const talkingWires = ["connect-binary", "grpc"] as const satisfies readonly RpcWire[];

/** A program that lends a browser, without a browser. */
export interface FakeBrowser {
  readonly id: string;
  /** Resolves once it is online, rejects where it is refused. */
  readonly online: Promise<void>;
  /** How the stream ended: `ok`, or the code and the text of the refusal. */
  readonly end: Promise<string>;
  /** Every command that came, by its method. */
  readonly commands: string[];
  say(said: Said): void;
  /** Ends its half of the stream. */
  leave(): void;
  /** Breaks the stream off. */
  cut(): void;
}

export interface FakeOptions {
  readonly url: string;
  readonly wire?: RpcWire;
  readonly id?: string;
  readonly name?: string;
  /** Instead of a hello; null: it says nothing. */
  readonly first?: Said | null;
  /** Leaves pings without an answer. */
  readonly mute?: boolean;
  /** What a command gives; `undefined` leaves it unanswered. */
  readonly answer?: (method: string, params: JsonObject) => JsonObject | string | undefined;
}

/** Lends a browser that does not exist. */
export function fakeBrowser({ headers }: Pick<Calling, "headers">, options: FakeOptions): FakeBrowser {
  const { url, wire = "grpc", id = systemIds.uuid(), name = "Laptop", mute = false, answer = () => ({}) } = options;
  const { first = { case: "hello", value: { clientId: id, clientName: name, ua: "Fake/1" } } as Said } = options;
  const queue: Said[] = first === null ? [] : [first];
  let news = Promise.withResolvers<void>();
  let left = false;
  const gone = new AbortController();
  const online = Promise.withResolvers<void>();
  online.promise.catch(() => undefined);
  const commands: string[] = [];
  const say = (said: Said): void => {
    queue.push(said);
    news.resolve();
  };

  async function* speak(): AsyncGenerator<{ payload: Said }> {
    for (;;) {
      for (let said = queue.shift(); said; said = queue.shift()) yield { payload: said };
      if (left) return;
      await news.promise;
      news = Promise.withResolvers();
    }
  }

  function hear({ payload }: AttachResponse): void {
    if (payload.case === "attached") online.resolve();
    if (payload.case === "ping" && !mute) say({ case: "pong", value: {} } as Said);
    if (payload.case !== "command") return;
    const { id: command, method, params } = payload.value;
    commands.push(method);
    const given = answer(method, JSON.parse(params));
    if (given === undefined) return;
    const outcome = typeof given === "string" ? { case: "error", value: given } : { case: "result", value: JSON.stringify(given) };
    say({ case: "result", value: { id: command, outcome } } as Said);
  }

  async function talk(): Promise<string> {
    try {
      for await (const told of clientOf(BrowserService, wire, url, headers).attach(speak(), { signal: gone.signal })) hear(told);
      return "ok";
    } catch (thrown) {
      const { code, rawMessage } = ConnectError.from(thrown);
      return `${Code[code]}: ${rawMessage}`;
    }
  }
  const end = talk();
  void end.then((how) => online.reject(new Error(how)));

  return {
    ...{ id, end, commands, say },
    online: online.promise,
    leave() {
      left = true;
      news.resolve();
    },
    cut: () => gone.abort(),
  };
}
