import { once } from "node:events";
import { createBrotliDecompress, createGunzip } from "node:zlib";
import type { Compression } from "@connectrpc/connect/protocol";
import { compressionBrotli, compressionGzip } from "@connectrpc/connect-node";
import { Failure, invalid } from "../../core/failure.ts";
import type { IncomingBody } from "../incoming-body.ts";
import { piecesOf } from "../pieces.ts";
import { type Bound, tooLarge } from "./bound.ts";

/** How requests and answers may be compressed on the RPC wires. */
export const compressions: readonly Compression[] = [compressionGzip, compressionBrotli];

/** The compression of this name; undefined for none, and for one that connect-es refuses. */
export const compressionOf = (name: string | string[] | null | undefined): Compression | undefined =>
  compressions.find((known) => known.name === name);

/**
 * Decompresses a message. It stops at the bound, and what comes out counts as bytes of the request's body.
 *
 * @throws Failure `too_large`, `invalid` for what cannot be decompressed, `unavailable` when bodies hold too much memory.
 */
export async function decompressed(
  bytes: Uint8Array,
  compression: Compression,
  bound: Bound,
  body: IncomingBody | undefined,
): Promise<Uint8Array> {
  if (bytes.length === 0) return bytes;
  const stream = compression === compressionGzip ? createGunzip() : createBrotliDecompress();
  const pieces = piecesOf();
  stream.on("data", (piece: Buffer) => {
    try {
      if (pieces.length() + piece.length > bound.maxBytes) throw tooLarge(bound, "message");
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
    throw thrown instanceof Failure ? thrown : invalid("", "decompression failed");
  });
  body?.release(bytes.length);
  return pieces.joined();
}
