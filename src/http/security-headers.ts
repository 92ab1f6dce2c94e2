import { type IncomingMessage, ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { FastifyServerFactoryHandler } from "fastify";

const yearSeconds = 31_536_000;

/**
 * Sets a header on every answer of a server before a handler sees the request: browsers guess no type, on
 * platform and websites.
 */
export const withNosniff =
  (handler: FastifyServerFactoryHandler): FastifyServerFactoryHandler =>
  (request, response) => {
    response.setHeader("X-Content-Type-Options", "nosniff");
    handler(request, response);
  };

/**
 * An answer of HTTP/1.1 with the same header, for those that Node gives before any handler: 400 without Host,
 * 417.
 */
export class NosniffResponse<
  Request extends IncomingMessage = IncomingMessage,
> extends ServerResponse<Request> {
  constructor(request: Request) {
    super(request);
    this.setHeader("X-Content-Type-Options", "nosniff");
  }
}

/**
 * Tells browsers to use https only for the host of the platform, for a year (RFC 6797). Websites are on other
 * hosts.
 */
export const withHttpsOnly = (
  handler: FastifyServerFactoryHandler,
  isOn: boolean,
): FastifyServerFactoryHandler =>
  isOn
    ? (request, response) => {
        response.setHeader("Strict-Transport-Security", `max-age=${yearSeconds}`);
        handler(request, response);
      }
    : handler;

const unread: Readonly<Record<string, readonly [status: number, message: string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, "the head of the request did not arrive in time"],
  HPE_HEADER_OVERFLOW: [431, "the head of the request is too large"],
};

/** Refuses a request whose head cannot be read, so that no handler sees it, and closes its connection. */
export function answerUnread(error: Error & { code?: string }, socket: Socket): void {
  const [status, message] = unread[error.code ?? ""] ?? [400, "the request is not valid HTTP"];
  const body = JSON.stringify({ error: STATUS_CODES[status], message, statusCode: status });
  const fields = ["Connection: close", "Content-Type: application/json", "X-Content-Type-Options: nosniff"];
  const head = [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...fields, `Content-Length: ${body.length}`];
  if (socket.writable) socket.write(`${head.join("\r\n")}\r\n\r\n${body}`);
  socket.destroy(error);
}
