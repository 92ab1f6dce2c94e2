import type { IncomingMessage, ServerResponse } from "node:http";
import { constants, Http2ServerResponse } from "node:http2";
import { freeWithNext } from "./pieces.ts";

/** A client that has its answer and goes on sending is cut off after this, in milliseconds. */
const lingerMs = 5_000;

/**
 * Lets a client that is still sending see its answer: a connection that is closed while
 * bytes are unread resets it, and the answer is lost. Called before the answer is sent.
 */
export function linger(request: IncomingMessage, response: ServerResponse): void {
  if (request.complete) return;
  // Fastify's type names HTTP/1.1's only.
  const answer: unknown = response;
  // The whole body is read: some clients read the answer only after their last byte, and the next request comes after it.
  request.on("data", freeWithNext());
  request.resume();
  if (answer instanceof Http2ServerResponse) {
    // Its own `finish` waits for the client (RFC 9113 8.1 lets an answer come before the end of the request). Trailers
    // are the last that goes out, and are asked for even where there are none.
    const { stream } = answer;
    stream.once("wantTrailers", () => setImmediate(() => stream.close(constants.NGHTTP2_NO_ERROR)));
    return;
  }
  response.once("finish", () => {
    if (request.complete) return;
    const late = setTimeout(() => request.socket.destroy(), lingerMs).unref();
    request.once("close", () => clearTimeout(late));
  });
}
