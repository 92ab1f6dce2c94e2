import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { FrontLimits } from "./front-limits.ts";

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** A listening server, and a function that serves a connection over HTTP/1.1. */
export interface Http1 {
  readonly server: Server;
  readonly accept: (socket: Socket) => void;
}

/**
 * Creates the HTTP/1.1 server with its time-outs and its drain. After the drain begins,
 * every new answer has `Connection: close`, and a connection whose answer had already
 * begun is closed after that answer.
 */
export function http1(handler: Handler, limits: FrontLimits, draining: AbortSignal): Http1 {
  /** The number of running requests of each connection: more than one when the client pipelines requests. */
  const connections = new Map<Socket, number>();
  const running = new Set<ServerResponse>();

  function handle(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    connections.set(socket, (connections.get(socket) ?? 0) + 1);
    running.add(response);
    response.once("close", () => {
      running.delete(response);
      const left = (connections.get(socket) ?? 1) - 1;
      if (connections.has(socket)) connections.set(socket, left);
      if (draining.aborted && left === 0) socket.destroySoon();
    });
    if (draining.aborted) response.setHeader("Connection", "close");
    handler(request, response);
  }

  const server = createServer(optionsOf(limits), handle);
  // The routes send the 100 themselves: Node would request bodies that are refused.
  server.on("checkContinue", handle);
  draining.addEventListener("abort", () => {
    // Only the last answer of a connection gets the header: it ends the connection.
    const last = new Map([...running].map((response) => [response.req.socket, response]));
    for (const response of last.values()) if (!response.headersSent) response.setHeader("Connection", "close");
  });
  // Part of `close`. Node's version also cuts off answers that are written but not sent.
  server.closeIdleConnections = () => {
    for (const [socket, requests] of connections) if (requests === 0) socket.destroy();
  };

  const serve = takeConnectionListener(server);
  const accept = (socket: Socket): void => {
    connections.set(socket, 0);
    socket.once("close", () => connections.delete(socket));
    serve(socket);
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

/** Removes the only connection listener of a new server and returns it, so that connections can be inspected before they are served. */
function takeConnectionListener(server: Server): (socket: Socket) => void {
  const [listener] = server.listeners("connection");
  if (!listener) throw new Error("an HTTP/1.1 server without a connection listener");
  server.removeAllListeners("connection");
  return (socket) => void listener.call(server, socket);
}
