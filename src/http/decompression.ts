import { AsyncLocalStorage } from "node:async_hooks";
import { once } from "node:events";
import { createBrotliDecompress, createGunzip } from "node:zlib";
import { Code, ConnectError } from "@connectrpc/connect";
import type { Compression } from "@connectrpc/connect/protocol";
import { compressionBrotli, compressionGzip } from "@connectrpc/connect-node";
import { Failure } from "../core/failure.ts";
import { connectErrorOf } from "./failure.ts";
import type { IncomingBody } from "./incoming-body.ts";

/** Connect decompresses without a word about the request: whose body it is stands here. */
const reading = new AsyncLocalStorage<IncomingBody | undefined>();

/** Counts what Connect decompresses within `work` under a request's body. */
export const decompressingFor = (body: IncomingBody | undefined, work: () => void): void => reading.run(body, work);

/** Connect's own compressions, but decompressed bytes are counted as they come (src/http/incoming-body.ts). */
export const compressions: readonly Compression[] = [
  counted(compressionGzip, createGunzip),
  counted(compressionBrotli, createBrotliDecompress),
];

function counted(compression: Compression, create: typeof createGunzip | typeof createBrotliDecompress): Compression {
  return {
    ...compression,
    async decompress(bytes, readMaxBytes) {
      if (bytes.length === 0) return new Uint8Array();
      const body = reading.getStore();
      const chunks: Buffer[] = [];
      let length = 0;
      const stream = create();
      stream.on("data", (chunk: Buffer) => {
        try {
          length += chunk.length;
          if (length > readMaxBytes) throw tooLarge(readMaxBytes);
          body?.take(chunk.length);
          chunks.push(chunk);
        } catch (thrown) {
          chunks.length = 0;
          stream.destroy(thrown instanceof Error ? thrown : undefined);
        }
      });
      stream.end(bytes);
      await once(stream, "end").catch((thrown: unknown) => {
        throw refusalOf(thrown);
      });
      body?.release(bytes.length);
      return Buffer.concat(chunks);
    },
  };
}

const tooLarge = (readMaxBytes: number): ConnectError =>
  new ConnectError(`message is larger than configured readMaxBytes ${readMaxBytes} after decompression`, Code.ResourceExhausted);

function refusalOf(thrown: unknown): ConnectError {
  if (thrown instanceof ConnectError) return thrown;
  return thrown instanceof Failure
    ? connectErrorOf(thrown)
    : new ConnectError("decompression failed", Code.InvalidArgument, undefined, undefined, thrown);
}
