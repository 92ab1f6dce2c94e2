import { once } from "node:events";
import { createBrotliDecompress, createGunzip } from "node:zlib";
import type { DescMethod } from "@bufbuild/protobuf";
import type { Compression } from "@connectrpc/connect/protocol";
import { compressionBrotli, compressionGzip } from "@connectrpc/connect-node";
import { Failure, invalidArgument } from "../../core/failure.ts";
import { anonymousBytes, type Operation, rpcName } from "../../pipeline/operations.ts";
import type { IncomingBody } from "../incoming-body.ts";
import { createPieces } from "../pieces.ts";

/** The largest request, and the name of the limit. */
export interface Bound {
  /** Bytes after decompression; for a stream, the bytes of one message. */
  readonly maxBytes: number;
  /** The operation or address of the limit, for instance `task.list`. */
  readonly name: string;
}

/** The bound of an operation: its `max_request_bytes`, capped by BODY_LIMIT. */
export const boundOf = ({ maxRequestBytes, name, rpc }: Operation, bodyLimit: number): Bound => ({
  maxBytes: Math.min(maxRequestBytes, bodyLimit),
  name: name ?? rpc,
});

/** The bound of a method that is not an operation and needs no credential: health and reflection. */
export const anonymousBound = (method: DescMethod): Bound => ({
  maxBytes: anonymousBytes,
  name: rpcName(method),
});

/** The refusal of a body, or of a message in one, that is larger than its bound. */
export const tooLarge = ({ maxBytes, name }: Bound, what: "body" | "message" = "body"): Failure =>
  new Failure("too_large", `the ${what} is larger than ${maxBytes} bytes, the limit of ${name}`);

/** The compressions of requests and answers on the RPC wires. */
export const compressions: readonly Compression[] = [compressionGzip, compressionBrotli];

/** The compression of this name; undefined for no compression, and for one that connect-es refuses. */
export const compressionOf = (name: string | string[] | null | undefined): Compression | undefined =>
  compressions.find((known) => known.name === name);

/**
 * Beyond this size a message may have 100 times the bytes of its compressed form: real content has far less.
 */
const freeBytes = 1024 ** 2;
const ratioMax = 100;

const chunkMin = 16_384;
const chunkMax = 262_144;

const overRatio = (): Failure =>
  new Failure("too_large", `the message is compressed more than ${ratioMax} times`);

/**
 * Decompresses a message and stops at the bound, or at 100 times its size beyond 1 MiB. The decompressed
 * bytes count as bytes of the request's body.
 *
 * @throws Failure `too_large`, `invalid_argument` for malformed bytes, `unavailable` when bodies hold too
 * much memory.
 */
export async function decompress(
  bytes: Uint8Array,
  compression: Compression,
  bound: Bound,
  body: IncomingBody | undefined,
): Promise<Uint8Array> {
  if (bytes.length === 0) return bytes;
  // Each chunk costs a turn of the event loop.
  const chunkSize = Math.min(chunkMax, Math.max(chunkMin, 4 * bytes.length));
  const stream =
    compression === compressionGzip ? createGunzip({ chunkSize }) : createBrotliDecompress({ chunkSize });
  const mostBytes = Math.max(freeBytes, ratioMax * bytes.length);
  const pieces = createPieces();
  stream.on("data", (piece: Buffer) => {
    try {
      if (pieces.length() + piece.length > bound.maxBytes) throw tooLarge(bound, "message");
      if (pieces.length() + piece.length > mostBytes) throw overRatio();
      body?.take(piece.length);
      pieces.add(piece);
    } catch (thrown) {
      stream.destroy(thrown instanceof Error ? thrown : undefined);
    }
  });
  const ended = once(stream, "end");
  stream.end(bytes);
  await ended.catch((thrown: unknown) => {
    pieces.discard();
    throw thrown instanceof Failure ? thrown : invalidArgument("", "decompression failed");
  });
  body?.release(bytes.length);
  return pieces.joined();
}
