import { brotliCompressSync, gzipSync } from "node:zlib";
import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { elementsMax } from "../../src/core/json.ts";
import { boundOf } from "../../src/http/bounds/bound.ts";
import { type Operation, operationTable } from "../../src/pipeline/operations.ts";
import { share } from "../support/depth.ts";
import { openService, type Service } from "../support/service.ts";
import { canOpen } from "./access.ts";
import { type Keyring, keyringOf } from "./keyring.ts";
import { endOf, framed, type RawReply, send, sendHttp2 } from "./raw.ts";

/** Content operations accept this many bytes. */
const bodyLimit = 1_048_576;

let service: Service;
let keys: Keyring;

beforeAll(async () => {
  service = await openService({ idle: true, env: { BODY_LIMIT: String(bodyLimit), RATE_LIMITS: "off" } });
  keys = await keyringOf(service);
});
afterAll(() => service[Symbol.asyncDispose]());

/** JSON of exactly this many bytes, without a member. */
const jsonOf = (bytes: number) => Buffer.from("{}".padEnd(bytes));
const items = (count: number) =>
  Buffer.from(
    `{"x":[${Array(count - 1)
      .fill("1")
      .join(",")}]}`,
  );
/** An unknown field, of exactly this many bytes. */
function protoOf(bytes: number): Buffer {
  const message = Buffer.alloc(bytes);
  message.set([0xfa, 0x3f]);
  let length = bytes - 5;
  for (const at of [2, 3, 4]) {
    message[at] = (length & 0x7f) | (at < 4 ? 0x80 : 0);
    length >>= 7;
  }
  return message;
}
const fields = (count: number) => Buffer.alloc(count * 2, Buffer.from([0x7a, 0]));

/** How a message is sent over a wire; the outcome uses Connect's codes. */
interface Wire {
  readonly name: string;
  readonly binary: boolean;
  readonly compression?: (bytes: Uint8Array) => Buffer;
  serves(operation: Operation): boolean;
  send(operation: Operation, bytes: Uint8Array): Promise<string>;
}

const isUnary = ({ method }: Operation) => method.methodKind === "unary";
const isConversation = ({ method }: Operation) => method.methodKind === "bidi_streaming";
const at = ({ rpc }: Operation) => `${service.url}/${rpc}`;
const outcomeText = ({ status, json }: RawReply) =>
  status === 200 ? "ok" : `${json()["code"]}: ${json()["message"]}`;
const endOutcomeText = (reply: RawReply) => {
  const { error } = endOf(reply);
  return `${error?.code}: ${error?.message}`;
};
const grpcOutcomeText = (status: string | undefined, message: string | undefined) =>
  `${(Code[Number(status)] ?? "").replace(/(?<=.)[A-Z]/g, "_$&").toLowerCase()}: ${decodeURIComponent(message ?? "")}`;

/** Each message is sent to many operations. */
function cached<K, V>(make: (key: K) => V): (key: K) => V {
  const made = new Map<K, V>();
  return (key) => {
    const known = made.get(key) ?? make(key);
    made.set(key, known);
    return known;
  };
}

const encodings = [
  ["", undefined, undefined],
  [", gzip", "gzip", cached((bytes: Uint8Array) => gzipSync(bytes))],
  [", br", "br", cached((bytes: Uint8Array) => brotliCompressSync(bytes))],
] as const;

const wires: readonly Wire[] = [
  {
    name: "v2",
    binary: false,
    serves: ({ name }) => name !== null,
    async send(operation, body) {
      const { status, json } = await send(`${service.url}/v2/${operation.name}`, {
        headers: keys.permitted(operation),
        body,
      });
      return `${status} ${json().error?.code}: ${json().error?.message}`;
    },
  },
  ...encodings.flatMap(([how, encoding, compression]): Wire[] =>
    [false, true].flatMap((binary): Wire[] => {
      const kind = binary ? "proto" : "json";
      const packed = (bytes: Uint8Array) => (compression ? compression(bytes) : Buffer.from(bytes));
      const envelope = (bytes: Uint8Array) => framed(packed(bytes), compression ? 1 : 0);
      const common = { binary, ...(compression ? { compression } : {}) };
      return [
        {
          ...common,
          name: `Connect ${kind}${how}`,
          serves: isUnary,
          async send(operation, bytes) {
            const headers = {
              ...keys.permitted(operation),
              "content-type": `application/${kind}`,
              "connect-protocol-version": "1",
              ...(encoding ? { "content-encoding": encoding } : {}),
            };
            return outcomeText(await send(at(operation), { headers, body: packed(bytes) }));
          },
        },
        {
          ...common,
          name: `Connect streams in ${kind}${how}`,
          serves: (operation) => operation.method.methodKind === "server_streaming",
          async send(operation, bytes) {
            const headers = {
              ...keys.permitted(operation),
              "content-type": `application/connect+${kind}`,
              "grpc-encoding": "of another protocol",
              ...(encoding ? { "connect-content-encoding": encoding } : {}),
            };
            return endOutcomeText(await send(at(operation), { headers, body: envelope(bytes) }));
          },
        },
        {
          ...common,
          name: `gRPC ${kind}${how}`,
          serves: () => true,
          async send(operation, bytes) {
            const headers = {
              ...keys.permitted(operation),
              "content-type": `application/grpc+${kind}`,
              te: "trailers",
              "connect-content-encoding": "of another protocol",
              ...(encoding ? { "grpc-encoding": encoding } : {}),
            };
            const { headers: got } = await sendHttp2(at(operation), { headers, body: envelope(bytes) });
            return grpcOutcomeText(got.get("grpc-status") ?? undefined, got.get("grpc-message") ?? undefined);
          },
        },
        {
          ...common,
          name: `gRPC-Web ${kind}${how}`,
          serves: (operation) => !isConversation(operation),
          async send(operation, bytes) {
            const headers = {
              ...keys.permitted(operation),
              "content-type": `application/grpc-web+${kind}`,
              ...(encoding ? { "grpc-encoding": encoding } : {}),
            };
            const { text } = await send(at(operation), { headers, body: envelope(bytes) });
            return grpcOutcomeText(
              /grpc-status: (\d+)/.exec(text)?.[1],
              /grpc-message: (.*)\r/.exec(text)?.[1],
            );
          },
        },
      ];
    }),
  ),
];

/** How a wire refuses a message that is too large. */
const refused = ({ name }: Wire, text: string) =>
  name === "v2" ? `413 invalid_argument: ${text}` : `resource_exhausted: ${text}`;

describe.each(
  wires.map((wire, nth) => [wire.name, wire, nth] as const),
)("over %s, every operation", (_name, wire, nth) => {
  const served = operationTable().all.filter(
    (operation) =>
      wire.serves(operation) && canOpen(operation, wire.name.startsWith("Connect") ? "connect-json" : "grpc"),
  );
  // In short runs most operations over one wire, and at least one operation over each wire.
  const operations = share(served, nth, Math.min(36, served.length));

  async function outcomes(
    bytesOf: (limit: number) => Uint8Array,
    among = operations,
  ): Promise<readonly (readonly [string, string])[]> {
    const found: (readonly [string, string])[] = [];
    for (const operation of among)
      found.push([
        operation.rpc,
        await wire.send(operation, bytesOf(boundOf(operation, bodyLimit).maxBytes)),
      ]);
    return found;
  }
  const sized = cached(wire.binary ? protoOf : jsonOf);
  const many = cached(wire.binary ? fields : items);

  test("refuses a message of one byte more than its limit, and names the limit", async () => {
    const wrong = (await outcomes((limit) => sized(limit + 1))).filter(([rpc, came]) => {
      const operation = operationTable().byRpc(rpc);
      if (!operation) return true;
      const { maxBytes, name: of } = boundOf(operation, bodyLimit);
      return !["body", "message"].some(
        (what) => came === refused(wire, `the ${what} is larger than ${maxBytes} bytes, the limit of ${of}`),
      );
    });
    expect(wrong).toEqual([]);
  });

  test("accepts a message of exactly its limit and checks its content", async () => {
    const unary = operations.filter(isUnary);
    const wrong = (await outcomes(sized, unary)).filter(([, came]) =>
      /larger than|more than|internal/.test(came),
    );
    expect(wrong).toEqual([]);
  });

  test(`refuses ${elementsMax + 1} elements before building any of them`, async () => {
    const wrong = (await outcomes(() => many(elementsMax + 1))).filter(
      ([, came]) =>
        came !==
        refused(
          wire,
          wire.binary
            ? "the message has more than 100000 fields and list items"
            : "the body has more than 100000 members and list items",
        ),
    );
    expect(wrong).toEqual([]);
  });
});
