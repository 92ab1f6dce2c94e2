import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";

/**
 * A request of Node's server in the form of `fetch`, without its body, and aborted when the client has gone.
 */
export function webRequest(request: IncomingMessage, response: ServerResponse): Request {
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  const headers = Object.entries(request.headers).map(
    ([name, value]) => [name, String(value)] as [string, string],
  );
  const { method = "GET" } = request;
  const url = new URL(request.url ?? "/", `http://${request.headers.host}`);
  return new Request(url, {
    method,
    headers,
    signal: gone.signal,
    ...(method === "POST" ? { body: "{}" } : {}),
  });
}

/** Sends an answer in the form of `fetch`. */
export function sendAnswer(response: ServerResponse, answer: Response): void {
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  if (answer.body === null) response.end();
  else Readable.fromWeb(answer.body as ReadableStream).pipe(response);
}
