import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { FrontLimits } from "./front-limits.ts";

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** A server that listens, and what it does with a connection that speaks HTTP/1.1. */
export interface Http1 {
  readonly server: Server;
  readonly accept: (socket: Socket) => void;
}

/**
 * The HTTP/1.1 server with its time-outs and its drain: once that begins, every
 * further answer says `Connection: close`, and a connection whose answer had begun
 * before is closed after it.
 */
export function http1(handler: Handler, limits: FrontLimits, draining: AbortSignal): Http1 {
  /** Each connection with the number of its running requests: more than one when the client does not wait for answers. */
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
  // The routes say when a client may go on: Node would ask for bodies that are refused.
  server.on("checkContinue", handle);
  draining.addEventListener("abort", () => {
    // Only a connection's last answer may say so: it ends the connection.
    const last = new Map([...running].map((response) => [response.req.socket, response]));
    for (const response of last.values()) if (!response.headersSent) response.setHeader("Connection", "close");
  });
  // Part of `close`. Node's own version also cuts off answers that were written but are not yet sent.
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
  // Time-outs are noticed when they are looked for: by default only every 30 s.
  connectionsCheckingInterval: Math.min(1000, Math.ceil(headersMs / 4)),
});

/** Takes from a fresh server its only listener to connections, the one that serves them, so that they can be looked at first. */
function takeConnectionListener(server: Server): (socket: Socket) => void {
  const [listener] = server.listeners("connection");
  if (!listener) throw new Error("an HTTP/1.1 server without a connection listener");
  server.removeAllListeners("connection");
  return (socket) => void listener.call(server, socket);
}
