import type { IncomingMessage } from "node:http";
import type { Message } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { compressionNegotiate, createMethodSerializationLookup, validateReadWriteMaxBytes } from "@connectrpc/connect/protocol";
import {
  codeToHttpStatus,
  contentTypeUnaryJson,
  contentTypeUnaryProto,
  errorToJsonBytes,
  parseContentType,
} from "@connectrpc/connect/protocol-connect";
import type { FastifyReply, FastifyRequest } from "fastify";
import { failureOf } from "../core/failure.ts";
import { type Operation, rpcName } from "../operations.ts";
import { callHeaders, heedWarnings, rateHeaders, refusalHeaders, replayHeaders } from "./answer-headers.ts";
import { type Bound, boundOf } from "./bounds/bound.ts";
import { checkMessage } from "./bounds/connect-body.ts";
import { compressions } from "./bounds/decompression.ts";
import { type ConnectParts, connectRequestReader } from "./connect.ts";
import { binaryOptions, connectJson } from "./connect-json.ts";
import { noteIdleMembers } from "./connect-warnings.ts";
import { connectCodes } from "./failure.ts";
import { goneSignal } from "./gone.ts";
import { bodyOf } from "./request-body.ts";
import { Warnings } from "./warnings/warnings.ts";

/** What plain Connect calls need of the call path, and how their messages are read. */
export type UnaryParts = Omit<ConnectParts, "anonymous">;

/** A method by its path, with Connect's own reader and writer of its messages. */
interface Unary {
  readonly operation: Operation;
  readonly bound: Bound;
  readonly codec: ReturnType<typeof createMethodSerializationLookup>;
}

/** Sizes are bounded before connect-es sees a message; what it leaves to be set is when answers are compressed. */
const limits = validateReadWriteMaxBytes(undefined, undefined, undefined);

/** What goes before an answer's body; names are in lower case. */
type Headers = Record<string, string>;

interface Answer {
  readonly status: number;
  readonly body: Uint8Array;
}

/**
 * Plain unary Connect calls: a POST over HTTP/1.1, not compressed, with no deadline.
 * Connect-es wraps each call in the objects of a browser, for every
 * protocol and runtime alike, and those cost twice what the call does. Whatever is not
 * plain is left to it; what is, is answered as it would
 * (test/wires/connect-unary.test.ts holds the two beside each other).
 *
 * @returns a hook that takes such a call, or passes it on.
 */
export function connectUnary(parts: UnaryParts) {
  const { operations, admit, performer, report, bodyLimit } = parts;
  const connectRequest = connectRequestReader(parts);
  const unaries = new Map<string, Unary>();
  for (const operation of operations.all) {
    const { method } = operation;
    if (method.methodKind !== "unary") continue;
    unaries.set(`/${rpcName(method)}`, {
      operation,
      bound: boundOf(operation, bodyLimit),
      codec: createMethodSerializationLookup(method, binaryOptions, connectJson(method), limits),
    });
  }

  /** Null when the client has gone away with half of its body. */
  async function made(
    { operation, bound, codec }: Unary,
    { raw }: FastifyRequest,
    reply: FastifyReply,
    headers: Headers,
  ): Promise<Answer | null> {
    const binary = headers["content-type"] === contentTypeUnaryProto;
    const request = connectRequest(raw);
    put(headers, callHeaders(request.requestId));
    try {
      const gone = goneSignal(reply.raw);
      const admission = await admit(operation, request);
      put(headers, rateHeaders(admission.rate));
      const bytes = await bodyOf(raw, bound);
      if (bytes === null) return null;
      checkMessage(operation.method.input, bytes, binary);
      const message = parsed(codec.getI(binary), bytes);
      const warnings = new Warnings();
      if (!binary) noteIdleMembers(operation.method.input, bytes, warnings);
      heedWarnings(warnings, request.strict, (name, value) => put(headers, [[name, value]]));
      const { answer, replayed } = await performer.perform(admission, message, gone);
      put(headers, replayHeaders(replayed));
      return { status: 200, body: codec.getO(binary).serialize(answer) };
    } catch (thrown) {
      if (thrown instanceof ConnectError) return refused(thrown, headers);
      const failure = failureOf(thrown);
      report(failure, request.requestId);
      put(headers, refusalHeaders(failure));
      return refused(new ConnectError(failure.message, connectCodes[failure.reason]), headers);
    }
  }

  function refused(error: ConnectError, headers: Headers): Answer {
    headers["content-type"] = contentTypeUnaryJson;
    return { status: codeToHttpStatus(error.code), body: errorToJsonBytes(error, undefined) };
  }

  async function take(unary: Unary, request: FastifyRequest, reply: FastifyReply, headers: Headers): Promise<void> {
    const answer = await made(unary, request, reply, headers);
    if (answer === null) return;
    let { body } = answer;
    const accepted = request.raw.headers["accept-encoding"] ?? null;
    const { response } = compressionNegotiate([...compressions], null, accepted === null ? null : String(accepted), "accept-encoding");
    if (response && body.byteLength >= limits.compressMinBytes) {
      body = await response.compress(body);
      headers["content-encoding"] = response.name;
    }
    headers["content-length"] = String(body.byteLength);
    // Fastify keeps those of its hooks for a `send` of its own.
    for (const [name, value] of Object.entries(reply.getHeaders())) if (value !== undefined) reply.raw.setHeader(name, value);
    reply.raw.writeHead(answer.status, headers).end(body);
  }

  return (request: FastifyRequest, reply: FastifyReply, pass: () => void): void => {
    const unary = unaries.get(request.raw.url ?? "");
    const type = unary && plainType(request.raw);
    if (!unary || type === undefined) {
      pass();
      return;
    }
    reply.hijack();
    take(unary, request, reply, { "content-type": type }).catch((thrown: unknown) => {
      report(failureOf(thrown), "");
      reply.raw.destroy();
    });
  };
}

/** The type of a plain call's answer; undefined when the call is not plain. */
function plainType({ method, httpVersionMajor, headers }: IncomingMessage): string | undefined {
  const { "content-type": sent, "content-encoding": encoding, "connect-timeout-ms": deadline } = headers;
  const plain = method === "POST" && httpVersionMajor === 1 && encoding === undefined && deadline === undefined;
  if (!plain) return undefined;
  const type = parseContentType(sent ?? null);
  if (!type || type.stream) return undefined;
  return type.binary ? contentTypeUnaryProto : contentTypeUnaryJson;
}

/** Connect takes a binary message that it cannot read for a fault of its own; it is the sender's. */
function parsed(codec: { parse(bytes: Uint8Array): Message }, bytes: Uint8Array): Message {
  try {
    return codec.parse(bytes);
  } catch (thrown) {
    throw thrown instanceof ConnectError && thrown.code === Code.Internal
      ? new ConnectError(thrown.rawMessage, Code.InvalidArgument)
      : thrown;
  }
}

function put(headers: Headers, facts: ReturnType<typeof callHeaders>): void {
  for (const [name, value] of facts) headers[name.toLowerCase()] = value;
}
