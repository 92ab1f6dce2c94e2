import type { IncomingMessage, ServerResponse } from "node:http";
import { constants, Http2ServerResponse } from "node:http2";
import { freeWithNext } from "./pieces.ts";

/** A client that continues to send after its answer is disconnected after this time, in milliseconds. */
const lingerMs = 5_000;

/**
 * Lets a client that is still sending receive its answer: closing a connection with
 * unread bytes resets it, and the answer is lost. Call it before the answer is sent.
 */
export function drainRequest(request: IncomingMessage, response: ServerResponse): void {
  if (request.complete) return;
  // Fastify's type covers HTTP/1.1 only.
  const answer: unknown = response;
  // Read the complete body: some clients read the answer only after their last byte, and the next request
  // follows it.
  request.on("data", freeWithNext());
  request.resume();
  if (answer instanceof Http2ServerResponse) {
    // Its `finish` event waits for the client (RFC 9113 8.1 allows an answer before the end of the request).
    // Trailers are sent last, and `wantTrailers` is emitted even without trailers.
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

/**
 * Whether a client waits for a 100 before it sends the body (RFC 9110 10.1.1). The
 * HTTP/2 server sends the 100 by itself.
 */
const expectsContinue = ({ httpVersion, headers }: IncomingMessage): boolean =>
  httpVersion === "1.1" && /(?:^|\W)100-continue(?:$|\W)/i.test(headers.expect ?? "");

/** Requests the body from a client that waits for a 100. */
export function requestBody(request: IncomingMessage, response: ServerResponse): void {
  if (expectsContinue(request)) response.writeContinue();
}

/**
 * Requests the body when it is first read.
 *
 * @returns a function that cancels this. Call it before a refusal; Node then closes the
 * connection with the answer.
 */
export function requestBodyWhenRead(request: IncomingMessage, response: ServerResponse): () => void {
  const ask = (): void => requestBody(request, response);
  request.once("resume", ask);
  return () => void request.off("resume", ask);
}

/** Creates a signal that is aborted when the client disconnects or has its answer. */
export function goneSignal(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  // With an explicit reason; otherwise every call would create an error with its stack.
  response.once("close", () => gone.abort("closed"));
  return gone.signal;
}
