import type { IncomingMessage, ServerResponse } from "node:http";

/**
 * Whether a client waits for a 100 before it sends the body (RFC 9110 10.1.1). HTTP/2's
 * server sends it by itself.
 */
const isAwaited = ({ httpVersion, headers }: IncomingMessage): boolean =>
  httpVersion === "1.1" && /(?:^|\W)100-continue(?:$|\W)/i.test(headers.expect ?? "");

/** Asks a client that waits for it to send the body. */
export function askForBody(request: IncomingMessage, response: ServerResponse): void {
  if (isAwaited(request)) response.writeContinue();
}

/**
 * Asks for the body as soon as anybody reads it. Who refuses it instead calls what this
 * gives first; Node then closes the connection with the answer.
 */
export function askWhenRead(request: IncomingMessage, response: ServerResponse): () => void {
  const ask = (): void => askForBody(request, response);
  request.once("resume", ask);
  return () => void request.off("resume", ask);
}
