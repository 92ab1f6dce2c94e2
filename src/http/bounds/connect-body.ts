import type { IncomingMessage } from "node:http";
import type { DescMethod } from "@bufbuild/protobuf";
import type { Compression } from "@connectrpc/connect/protocol";
import type { FastifyInstance } from "fastify";
import { Failure } from "../../core/failure.ts";
import { methodPath } from "../connect-services.ts";
import { connectErrorOf } from "../failure.ts";
import { type IncomingBody, incomingBody } from "../incoming-body.ts";
import { createPieces } from "../pieces.ts";
import { readBody, readChunks } from "../request-body.ts";
import { type Bound, compressionOf, decompress, tooLarge } from "./bound.ts";
import { checkBody, prepareBody } from "./check.ts";

/** The bound of a method of an RPC service: of its request, or of one message of its stream. */
export interface MethodBound extends Bound {
  readonly method: DescMethod;
}

interface Form {
  readonly binary: boolean;
  readonly compression: Compression | undefined;
  /** Counts its bytes; absent for a message that was not in a body. */
  readonly body?: IncomingBody | undefined;
}

/**
 * Bounds the messages that connect-es reads in a scope. Connect-es decodes a message as soon as it is
 * complete, without a hook before. So each message is read, decompressed and checked here, and connect-es
 * gets uncompressed messages.
 *
 * @param bounds the methods by their paths.
 */
export function boundMessages(app: FastifyInstance, bounds: ReadonlyMap<string, MethodBound>): void {
  app.addHook("preHandler", async (request) => {
    const bound = bounds.get(methodPath(request) ?? "");
    if (bound) request.body = boundedBody(request.raw, bound);
  });
}

/** The body, which is read after the call is admitted. Throws refusals as ConnectError. */
function boundedBody(request: IncomingMessage, bound: MethodBound): AsyncIterable<Uint8Array> {
  const { headers } = request;
  const type = headers["content-type"] ?? "";
  const binary = !/json/i.test(type);
  const body = incomingBody(request);
  if (!/^application\/(json|proto)\b/i.test(type)) {
    const compression = compressionOf(
      headers[/^application\/grpc/i.test(type) ? "grpc-encoding" : "connect-content-encoding"],
    );
    return withConnectErrors(enveloped(request, bound, { binary, compression, body }));
  }
  const compression = compressionOf(headers["content-encoding"]);
  if (compression) {
    // connect-es compresses the answer to a compressed request, unless the client says what it accepts.
    headers["accept-encoding"] ??= compression.name;
    delete headers["content-encoding"];
    delete headers["content-length"];
  }
  return withConnectErrors(unary(request, bound, { binary, compression, body }));
}

async function* withConnectErrors(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (thrown) {
    throw thrown instanceof Failure ? connectErrorOf(thrown) : thrown;
  }
}

async function* unary(request: IncomingMessage, bound: MethodBound, form: Form): AsyncGenerator<Uint8Array> {
  yield await readMessage(await readBody(request, bound), bound, form);
}

const headBytes = 5;
/** What follows a message of this size is at most one chunk of the body. */
const largeBytes = 262_144;
const compressedFlag = 1;

/** Yields complete envelopes: a byte of flags, four of the length, and the message. */
async function* enveloped(
  request: IncomingMessage,
  bound: MethodBound,
  { compression, ...read }: Form,
): AsyncGenerator<Uint8Array> {
  let pieces = createPieces();
  let needed = headBytes;
  for await (const chunk of readChunks(request)) {
    pieces.add(chunk);
    while (pieces.length() >= needed) {
      const received = pieces.joined();
      pieces = createPieces();
      const length = received.readUInt32BE(1);
      if (length > bound.maxBytes) throw tooLarge(bound, "message");
      needed = headBytes + length;
      if (received.length < needed) {
        pieces.add(received);
        break;
      }
      const flags = received.readUInt8();
      const isCompressed = (flags & compressedFlag) !== 0 && compression !== undefined;
      const form = { ...read, compression: isCompressed ? compression : undefined };
      // The check of a large message moves its memory.
      const rest = needed > largeBytes ? Buffer.copyBytesFrom(received, needed) : received.subarray(needed);
      const message = await readMessage(received.subarray(headBytes, needed), bound, form);
      yield envelope(isCompressed ? flags & ~compressedFlag : flags, message);
      pieces.add(rest);
      needed = headBytes;
    }
  }
  // Connect-es refuses an envelope that was cut.
  if (pieces.length() > 0) yield pieces.joined();
}

function envelope(flags: number, message: Uint8Array): Uint8Array {
  const head = Buffer.alloc(headBytes);
  head.writeUInt8(flags);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

/**
 * Decompresses a message and checks that it is neither too large nor too costly to decode.
 *
 * @throws Failure `too_large`, or `invalid_argument` for malformed bytes.
 */
export async function readMessage(
  bytes: Uint8Array,
  bound: MethodBound,
  { binary, compression, body }: Form,
): Promise<Uint8Array> {
  if (compression) await body?.spend();
  const message = compression ? await decompress(bytes, compression, bound, body) : bytes;
  const desc = binary ? bound.method.input : null;
  const prepared = await prepareBody(message, desc, body);
  checkBody(prepared, desc);
  return prepared;
}
