import type { IncomingMessage } from "node:http";
import { Code, ConnectError } from "@connectrpc/connect";

/** A request's body; null for one that breaks off. @throws ConnectError, in Connect's words, for one that is too long. */
export function bodyOf(request: IncomingMessage, bodyLimit: number): Promise<Uint8Array | null> {
  const chunks: Buffer[] = [];
  let length = 0;
  return new Promise((resolve, reject) => {
    function take(chunk: Buffer): void {
      chunks.push(chunk);
      length += chunk.length;
      if (length <= bodyLimit) return;
      request.off("data", take);
      reject(new ConnectError(`message size is larger than configured readMaxBytes ${bodyLimit}`, Code.ResourceExhausted));
    }
    if (request.destroyed) resolve(null);
    request.on("data", take);
    request.once("end", () => resolve(Buffer.concat(chunks)));
    request.once("error", () => resolve(null)).once("close", () => resolve(null));
  });
}
