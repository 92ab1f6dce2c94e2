import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { afterTime, type Ending } from "./ending.ts";
import type { FrontLimits } from "./front-limits.ts";
import { NosniffResponse } from "./security-headers.ts";

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** A listening server, and a function that serves a connection over HTTP/1.1. */
export interface Http1 {
  readonly server: Server;
  readonly accept: (socket: Socket) => void;
}

/** A connection over HTTP/1.1. */
interface Connection {
  /** Requests without a complete answer: more than one when the client sends requests together. */
  running: number;
  /** The bytes that it had received after its last answer; null before the first one. */
  idleAt: number | null;
}

/**
 * Creates the HTTP/1.1 server with its time-outs and its drain. From `leaving` on, every new answer has
 * `Connection: close`. In the drain, idle connections are closed. A connection on which a request may be on
 * its way has `arrivalMs` for it: one without a request, or with an answer that began without `Connection:
 * close`.
 */
export function http1(handler: Handler, limits: FrontLimits, { leaving, draining }: Ending): Http1 {
  const connections = new Map<Socket, Connection>();
  const running = new Set<ServerResponse>();

  function handle(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    const connection = connections.get(socket);
    if (connection) connection.running += 1;
    running.add(response);
    response.once("close", () => {
      running.delete(response);
      if (!connection) return;
      connection.running -= 1;
      connection.idleAt = socket.bytesRead;
      if (draining.aborted && connection.running === 0) closeLater(socket);
    });
    if (leaving.aborted) response.setHeader("Connection", "close");
    handler(request, response);
  }

  /** Closes a connection after `arrivalMs`, unless a request arrives: its answer closes it. */
  function closeLater(socket: Socket): void {
    afterTime(socket, limits.arrivalMs, () => {
      if (connections.get(socket)?.running === 0) socket.destroySoon();
    });
  }

  const server = createServer({ ...optionsOf(limits), ServerResponse: NosniffResponse }, handle);
  // The routes send the 100 themselves: Node would request bodies that are refused.
  server.on("checkContinue", handle);
  leaving.addEventListener("abort", () => {
    // Only the last answer of a connection gets the header: it ends the connection.
    const last = new Map([...running].map((response) => [response.req.socket, response]));
    for (const response of last.values())
      if (!response.headersSent) response.setHeader("Connection", "close");
  });
  // Part of `close`. Node's version also cuts off answers that are written but not sent.
  server.closeIdleConnections = () => undefined;
  draining.addEventListener("abort", () => {
    for (const [socket, { running, idleAt }] of connections)
      if (running === 0 && idleAt === socket.bytesRead) socket.destroySoon();
      else if (running === 0) closeLater(socket);
  });

  const serve = takeConnectionListener(server);
  const accept = (socket: Socket): void => {
    connections.set(socket, { running: 0, idleAt: null });
    socket.once("close", () => connections.delete(socket));
    serve(socket);
    if (draining.aborted) closeLater(socket);
  };
  return { server, accept };
}

const optionsOf = ({ headersMs, requestMs, idleMs }: FrontLimits) => ({
  headersTimeout: Math.min(headersMs, requestMs),
  requestTimeout: requestMs,
  keepAliveTimeout: idleMs,
  // Node checks time-outs at this interval; the default is 30 s.
  connectionsCheckingInterval: Math.min(1000, Math.ceil(headersMs / 4)),
});

/**
 * Removes the only connection listener of a new server and returns it, so that connections can be inspected
 * before they are served.
 */
function takeConnectionListener(server: Server): (socket: Socket) => void {
  const [listener] = server.listeners("connection");
  if (!listener) throw new Error("an HTTP/1.1 server without a connection listener");
  server.removeAllListeners("connection");
  return (socket) => void listener.call(server, socket);
}
