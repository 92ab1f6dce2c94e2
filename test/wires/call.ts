import type { DescMessage, DescMethod, JsonObject, Message } from "@bufbuild/protobuf";
import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import { expect } from "vitest";
import type { Reason } from "../../src/core/failure.ts";
import { compileReader } from "../../src/http/v2/message-reader.ts";
import { type Operation, operationTable, rpcName } from "../../src/pipeline/operations.ts";
import { share } from "../support/depth.ts";
import { callV2, type RpcWire, rpcWires, staysOpen, transportOf, type V2Body } from "../support/wires.ts";
import { sampleOf } from "./sample.ts";

/** All wire forms. A GET is a separate one, for operations that only read. */
export const wires = ["v2", "v2-get", ...rpcWires] as const;
export type Wire = (typeof wires)[number];

const table = operationTable();

/** The operations that a wire form serves. */
export const servedBy = (wire: Wire): readonly Operation[] =>
  table.all.filter(({ name, isChange: change, method }) => {
    if (wire === "v2" || wire === "v2-get") return name !== null && (wire === "v2" || !change);
    return method.methodKind !== "bidi_streaming" || http2Wires.has(wire);
  });

/**
 * One of `parts` equal parts of the operations that a wire serves, chosen by the seed, the wire and the turn.
 * A full run has all of them over each wire.
 *
 * @param turn the number of the test: the tests of a suite call different operations, and together each of
 * them.
 */
export function someServedBy(wire: Wire, parts: number, turn = 0): readonly Operation[] {
  const some = new Set(share(table.all, wires.indexOf(wire) + turn, parts));
  return servedBy(wire).filter((operation) => some.has(operation));
}

/** Conversations need HTTP/2. */
const http2Wires: ReadonlySet<Wire> = new Set(["connect-binary", "grpc"]);

/** The outcome of a call, in the same terms on all wires. */
export interface Answer {
  /** `ok`; else `404 not_found` on v2, Connect's code elsewhere. */
  readonly outcome: string;
  /** The public text of a refusal; empty for an answer. */
  readonly message: string;
  /** Headers, and on gRPC metadata of both ends. */
  readonly headers: Headers;
  readonly body: V2Body | Message | null;
}

export interface Call {
  readonly headers?: Readonly<Record<string, string>>;
  /** In v2's spelling; by default the smallest that the rules accept. */
  readonly json?: JsonObject;
  /** Instead of `json`, for values that only the RPC wires can express. */
  readonly message?: Message;
}

export type CallOver = (wire: Wire, operation: Operation, call?: Call) => Promise<Answer>;

/** Calls any operation over any wire form of a service, over real sockets. */
export function callerOf(baseUrl: string): CallOver {
  const transports = new Map<RpcWire, Transport>(
    rpcWires.map((wire) => [wire, transportOf(wire, baseUrl, {})]),
  );
  return async (wire, operation, { headers = {}, json = sampleOf(operation.method.input), message } = {}) => {
    const sent = { ...headers, "x-request-id": "req_of_the_caller" };
    const answer =
      wire === "v2" || wire === "v2-get"
        ? await overV2(baseUrl, wire, operation, json, sent)
        : await overRpc(
            transports.get(wire),
            operation,
            message ?? readerOf(operation.method.input)(json, "body"),
            sent,
          );
    expectCallHeaders(answer);
    return answer;
  };
}

/**
 * Every answer has a request id of this service, and is not kept, save a read by GET that its client asks for
 * again each time.
 */
function expectCallHeaders({ headers }: Answer): void {
  expect(headers.get("x-request-id")).toMatch(/^req_[2-9A-HJ-NP-Za-km-z]{22}$/);
  expect(headers.get("cache-control")).toBe(headers.has("etag") ? "private, no-cache" : "no-store");
}

async function overV2(
  baseUrl: string,
  wire: Wire,
  { name }: Operation,
  json: JsonObject,
  headers: Readonly<Record<string, string>>,
): Promise<Answer> {
  const reply = await callV2(baseUrl, name ?? "", json, { headers, method: wire === "v2" ? "POST" : "GET" });
  const { status, body } = reply;
  expectEnvelope(status, body);
  const type = body.ok && staysOpen(name ?? "") ? "text/event-stream" : "application/json";
  expect(reply.headers.get("content-type")).toBe(`${type}; charset=utf-8`);
  expect(reply.headers.get("x-request-id")).toBe(body.request_id);
  const outcome = body.error ? `${status} ${body.error.code}` : "ok";
  return { outcome, message: body.error?.message ?? "", headers: reply.headers, body };
}

/**
 * `ok` and `request_id` on every answer, an error exactly on those that are not ok (spec/api.md 1 and 3.4).
 */
function expectEnvelope(status: number, body: V2Body): void {
  if (body.ok) {
    expect(status).toBe(200);
    expect(body).not.toHaveProperty("error");
  } else {
    expect(status).toBeGreaterThanOrEqual(400);
    expect(body).toEqual({
      ok: false,
      request_id: expect.any(String),
      error: expect.objectContaining({
        code: expect.any(String),
        message: expect.stringMatching(/./),
        ...expectedFacts(body),
      }),
      ...(body.warnings !== undefined && { warnings: expect.arrayContaining([expect.stringMatching(/./)]) }),
    });
  }
}

/** The facts that follow from the failure and its mistakes (spec/api.md 8.88). */
const expectedFacts = ({ error }: V2Body) => ({
  type: expect.any(String),
  doc_url: expect.stringMatching(new RegExp(`^https?://.*/errors/${error?.type}$`)),
  ...(error?.param !== undefined && {
    details: expect.arrayContaining([{ param: error.param, message: expect.stringMatching(/./) }]),
  }),
});

async function overRpc(
  transport: Transport | undefined,
  { method }: Operation,
  message: Message,
  headers: Readonly<Record<string, string>>,
): Promise<Answer> {
  if (!transport) throw new Error("no such wire");
  try {
    if (method.methodKind !== "unary") return await allOf(transport, method, message, headers);
    // The message was made from this method's own descriptor.
    const {
      header,
      trailer,
      message: answer,
    } = await transport.unary(method as never, undefined, undefined, headers, message as never);
    return { outcome: "ok", message: "", headers: new Headers([...header, ...trailer]), body: answer };
  } catch (thrown) {
    const error = ConnectError.from(thrown);
    return { outcome: Code[error.code], message: error.rawMessage, headers: error.metadata, body: null };
  }
}

/** Reads a stream to its end, or to its first message if it stays open, and returns the last message. */
async function allOf(
  transport: Transport,
  method: DescMethod,
  message: Message,
  headers: Readonly<Record<string, string>>,
): Promise<Answer> {
  const sent = (async function* () {
    yield message;
  })();
  // The message was made from this method's own descriptor.
  const {
    header,
    trailer,
    message: answers,
  } = await transport.stream(method as never, undefined, undefined, headers, sent as never);
  let last: Message | null = null;
  for await (const answer of answers as AsyncIterable<Message>) {
    last = answer;
    if (staysOpen(rpcName(method))) break;
  }
  return { outcome: "ok", message: "", headers: new Headers([...header, ...trailer]), body: last };
}

const readers = new Map<DescMessage, ReturnType<typeof compileReader>>();

/** v2's reader for a type. */
export function readerOf(desc: DescMessage): ReturnType<typeof compileReader> {
  const reader = readers.get(desc) ?? compileReader(desc);
  readers.set(desc, reader);
  return reader;
}

/** The answer of each wire family, literally as in spec/decisions.md 9 to 12 and spec/api.md 3 and 14.1. */
const refusals = {
  invalid_argument: ["400 invalid_argument", "InvalidArgument"],
  unauthenticated: ["401 permission_denied", "Unauthenticated"],
  permission_denied: ["403 permission_denied", "PermissionDenied"],
  not_found: ["404 not_found", "NotFound"],
  already_exists: ["409 already_exists", "AlreadyExists"],
  failed_precondition: ["412 failed_precondition", "FailedPrecondition"],
  rate_limited: ["429 rate_limited", "ResourceExhausted"],
  resource_exhausted: ["429 resource_exhausted", "ResourceExhausted"],
  unimplemented: ["501 unimplemented", "Unimplemented"],
  internal: ["500 internal", "Internal"],
} as const satisfies Partial<Record<Reason, readonly [v2: string, rpc: string]>>;

/** The outcome of a refusal on a wire. */
export const refused = (reason: keyof typeof refusals, wire: Wire): string =>
  refusals[reason][wire.startsWith("v2") ? 0 : 1];

/** Limits concurrency: a table at once would open a connection for each call. */
export async function pooled<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const entries = items.entries();
  const worker = async () => {
    for (const [index, item] of entries) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: 8 }, worker));
  return results;
}
