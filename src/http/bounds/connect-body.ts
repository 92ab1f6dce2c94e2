import type { IncomingMessage } from "node:http";
import type { DescMessage, DescMethod } from "@bufbuild/protobuf";
import type { Compression } from "@connectrpc/connect/protocol";
import type { FastifyInstance } from "fastify";
import { Failure } from "../../core/failure.ts";
import { checkJson } from "../../core/json-bounds.ts";
import { connectErrorOf } from "../failure.ts";
import { type IncomingBody, incomingBody } from "../incoming-body.ts";
import { giveBack, piecesOf } from "../pieces.ts";
import { bodyOf, chunksOf } from "../request-body.ts";
import { type Bound, tooLarge } from "./bound.ts";
import { compressionOf, decompressed } from "./decompression.ts";
import { checkProtobuf } from "./protobuf.ts";

/** A method of an RPC service, and how large a request, or a message of its stream, may be. */
export interface MethodBound extends Bound {
  readonly method: DescMethod;
}

/** The form of a message on the wire. */
interface Form {
  readonly binary: boolean;
  readonly compression: Compression | undefined;
  /** Where its bytes count; absent for a message that came without a body. */
  readonly body?: IncomingBody | undefined;
}

/**
 * Bounds what connect-es reads of the requests of a scope. It decodes a message as soon as it has it, with no place for
 * a look before. So each message is read, decompressed and checked here, and what connect-es gets is not compressed.
 *
 * @param bounds the methods by their paths.
 */
export function boundMessages(app: FastifyInstance, bounds: ReadonlyMap<string, MethodBound>): void {
  app.addHook("preHandler", async (request) => {
    const bound = bounds.get(request.routeOptions.url ?? "");
    if (bound) request.body = boundedBody(request.raw, bound);
  });
}

/** The body, read when it is asked for, after the call was let in. What is refused is thrown as ConnectError. */
function boundedBody(request: IncomingMessage, bound: MethodBound): AsyncIterable<Uint8Array> {
  const { headers } = request;
  const type = headers["content-type"] ?? "";
  const binary = !/json/i.test(type);
  const body = incomingBody(request);
  if (!/^application\/(json|proto)\b/i.test(type)) {
    const compression = compressionOf(headers[/^application\/grpc/i.test(type) ? "grpc-encoding" : "connect-content-encoding"]);
    return inConnect(enveloped(request, bound, { binary, compression, body }));
  }
  const compression = compressionOf(headers["content-encoding"]);
  if (compression) {
    // connect-es compresses the answer to a compressed request, unless the client says what it accepts.
    headers["accept-encoding"] ??= compression.name;
    delete headers["content-encoding"];
    delete headers["content-length"];
  }
  return inConnect(unary(request, bound, { binary, compression, body }));
}

async function* inConnect(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (thrown) {
    throw thrown instanceof Failure ? connectErrorOf(thrown) : thrown;
  }
}

async function* unary(request: IncomingMessage, bound: MethodBound, form: Form): AsyncGenerator<Uint8Array> {
  const body = await bodyOf(request, bound);
  if (body === null) throw new Failure("cancelled", "the connection was closed");
  yield await readMessage(body, bound, form);
}

const headBytes = 5;
const compressedFlag = 1;

/** Yields complete envelopes: a byte of flags, four of the length, and the message. */
async function* enveloped(request: IncomingMessage, bound: MethodBound, { compression, ...read }: Form): AsyncGenerator<Uint8Array> {
  let pieces = piecesOf();
  let wanted = headBytes;
  for await (const chunk of chunksOf(request)) {
    pieces.add(chunk);
    while (pieces.length() >= wanted) {
      const held = pieces.joined();
      pieces = piecesOf();
      const length = held.readUInt32BE(1);
      if (length > bound.maxBytes) throw tooLarge(bound, "message");
      wanted = headBytes + length;
      if (held.length < wanted) {
        pieces.add(held);
        break;
      }
      const flags = held.readUInt8();
      const isCompressed = (flags & compressedFlag) !== 0 && compression !== undefined;
      const form = { ...read, compression: isCompressed ? compression : undefined };
      const message = await readMessage(held.subarray(headBytes, wanted), bound, form);
      yield envelope(isCompressed ? flags & ~compressedFlag : flags, message);
      pieces.add(held.subarray(wanted));
      wanted = headBytes;
    }
  }
  // One that was cut: connect-es says so.
  if (pieces.length() > 0) yield pieces.joined();
}

function envelope(flags: number, message: Uint8Array): Uint8Array {
  const head = Buffer.alloc(headBytes);
  head.writeUInt8(flags);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

/**
 * A message as it may be decoded: decompressed, and neither too large nor too costly.
 *
 * @throws Failure `too_large`, or `invalid` for what cannot be decompressed or is malformed.
 */
export async function readMessage(bytes: Uint8Array, bound: MethodBound, { binary, compression, body }: Form): Promise<Uint8Array> {
  const message = compression ? await decompressed(bytes, compression, bound, body) : bytes;
  checkMessage(bound.method.input, message, binary);
  return message;
}

/** Refuses a message that would cost too much to build; of a large one that is refused no bytes are left. @throws Failure `too_large`, `invalid` */
export function checkMessage(desc: DescMessage, bytes: Uint8Array, binary: boolean): void {
  try {
    if (binary) checkProtobuf(desc, bytes);
    else checkJson(bytes);
  } catch (thrown) {
    giveBack(bytes);
    throw thrown;
  }
}
