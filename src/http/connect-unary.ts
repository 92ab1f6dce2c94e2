import type { IncomingMessage } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import { type Failure, failureOf } from "../core/failure.ts";
import { type Operation, rpcName } from "../pipeline/operations.ts";
import { callHeaders, idempotencyHeaders, refusalHeaders, setHeaders } from "./answer-headers.ts";
import { boundOf, compressionOf } from "./bounds/bound.ts";
import { type ConnectParts, connectRequestReader } from "./connect.ts";
import { connectCodec } from "./connect-codec.ts";
import { errorDetailsJson } from "./error-details.ts";
import { connectAnswers } from "./failure.ts";
import { rpcTypes } from "./request-hooks.ts";
import { type Call, type Handle, inSteps, wire } from "./wire/wire.ts";

/** The parts of the call path that plain Connect calls need. */
export type UnaryParts = Omit<ConnectParts, "anonymous">;

const jsonType = "application/json";
const protoType = "application/proto";
/** Shorter answers are not compressed, as in connect-es. */
const compressMinBytes = 1024;

/**
 * Serves plain unary Connect calls: a POST over HTTP/1.1, not compressed, without a
 * deadline. Connect-es wraps each call in Fetch API objects, for every protocol and
 * runtime, which costs twice as much as the call. Connect-es serves all other calls;
 * plain ones get the same answers here (test/wires/connect-unary.test.ts compares the
 * two). Only public exports of connect-es are used.
 *
 * @returns a hook that answers such a call and passes other calls on.
 */
export function connectUnary(parts: UnaryParts) {
  const { operations, report } = parts;
  const unary = wire({
    name: "connect",
    readHead: connectRequestReader(parts),
    failureIn: failureOf,
    report,
    refuse,
  });
  const handles = new Map<string, Readonly<Record<PlainType, Handle>>>();
  for (const operation of operations.all) {
    if (operation.method.methodKind !== "unary") continue;
    handles.set(`/${rpcName(operation.method)}`, {
      [jsonType]: handleOf(operation, jsonType, parts),
      [protoType]: handleOf(operation, protoType, parts),
    });
  }

  return (request: FastifyRequest, reply: FastifyReply, pass: () => void): void => {
    const byType = handles.get(request.raw.url ?? "");
    const type = byType && plainType(request.raw);
    if (!byType || type === undefined) {
      pass();
      return;
    }
    reply.hijack();
    unary.answer(request, reply, () => byType[type]);
  };
}

type PlainType = typeof jsonType | typeof protoType;

/** The type of a plain call's messages; undefined when the call is not plain. */
function plainType({ method, httpVersionMajor, headers }: IncomingMessage): PlainType | undefined {
  const { "content-type": sent = "", "content-encoding": encoding, "connect-timeout-ms": deadline } = headers;
  const isPlain =
    method === "POST" && httpVersionMajor === 1 && encoding === undefined && deadline === undefined;
  const match = isPlain ? rpcTypes.unary.exec(sent) : null;
  if (match === null) return undefined;
  return match[1] === undefined ? jsonType : protoType;
}

function handleOf(
  operation: Operation,
  type: PlainType,
  { admit, performer, bodyLimit }: UnaryParts,
): Handle {
  const bound = boundOf(operation, bodyLimit);
  const { decode, encode } = connectCodec(operation.method, type === protoType);
  return inSteps({
    admit: ({ head }) => admit(operation, head),
    bound: () => bound,
    binary: type === protoType ? operation.method.input : null,
    decode,
    async encode(call, admission, message) {
      const { answer, isReplayed } = await performer.perform(admission, message, call.gone);
      setHeaders(call.reply, idempotencyHeaders(isReplayed));
      await send(call, 200, type, { content: encode(answer), mayCompress: !operation.isConfidential });
    },
  });
}

/** Sends Connect's error, which is always JSON (https://connectrpc.com/docs/protocol#error-end-stream). */
async function refuse(call: Call, failure: Failure): Promise<void> {
  setHeaders(call.reply, refusalHeaders(failure));
  const { status, code } = connectAnswers[failure.reason];
  const { message } = failure;
  const error = {
    code,
    ...(message === "" ? {} : { message }),
    details: errorDetailsJson(failure, call.head.requestId),
  };
  await send(call, status, jsonType, { content: Buffer.from(JSON.stringify(error)), mayCompress: true });
}

/** The message of an answer. Answers to sessions are never compressed (spec/api.md 8.89). */
interface Content {
  readonly content: Uint8Array;
  readonly mayCompress: boolean;
}

async function send(
  { request, reply, head }: Call,
  status: number,
  type: PlainType,
  { content, mayCompress }: Content,
): Promise<void> {
  setHeaders(reply, callHeaders(head.requestId));
  const isLong =
    content.byteLength >= compressMinBytes && mayCompress && request.headers.cookie === undefined;
  const compression = isLong ? acceptedCompression(request.raw) : undefined;
  const body = compression ? await compression.compress(content) : content;
  if (compression) reply.header("content-encoding", compression.name);
  reply.header("content-type", type).header("content-length", body.byteLength);
  reply.raw.writeHead(status, Object.fromEntries(Object.entries(reply.getHeaders()))).end(body);
}

/** The first supported compression in the client's order. */
function acceptedCompression({ headers }: IncomingMessage) {
  const names = String(headers["accept-encoding"] ?? "").split(",");
  for (const name of names) {
    const compression = compressionOf(name.trim());
    if (compression) return compression;
  }
  return undefined;
}
