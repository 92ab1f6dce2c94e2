import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { CommandError } from "../frame/failures.ts";

/** The most bytes of a body. */
export const bodyMax = 64 * 1024 * 1024;

/** Reads a body. @throws Error above the limit */
export async function readBody(
  body: AsyncIterable<Uint8Array>,
  onPiece: (piece: Uint8Array) => void = () => undefined,
): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of body) {
    onPiece(piece);
    length += piece.length;
    if (length > bodyMax) throw new Error(`a body has more than ${bodyMax} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

/** The text of a request's body if it is JSON. */
export const jsonOf = ({ headers }: IncomingMessage, body: Buffer): string | null =>
  /^application\/(?:.*\+)?json/.test(headers["content-type"] ?? "") ||
  /^\s*[{[]/.test(body.subarray(0, 16).toString())
    ? body.toString()
    : null;

/**
 * Serves on this machine until `ended` is aborted. Pages of other sites, which send an Origin, are refused.
 */
export async function serveHere(
  port: number,
  ended: AbortSignal,
  handle: RequestListener,
  onReady: (origin: string) => void,
): Promise<void> {
  const server = createServer((request, response) => {
    if (request.headers.origin === undefined) return handle(request, response);
    response.writeHead(403).end();
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening").catch(() => {
    throw new CommandError(`port ${port} is not free: choose another one with --port`);
  });
  onReady(`http://127.0.0.1:${(server.address() as AddressInfo).port}`); // A listening TCP server has one.
  if (!ended.aborted) await once(ended, "abort");
  server.closeAllConnections();
  server.close();
}
