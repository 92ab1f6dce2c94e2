import { setMaxListeners } from "node:events";
import type { IncomingMessage, Server } from "node:http";
import type { Socket } from "node:net";
import type { FastifyServerFactory, FastifyServerFactoryHandler } from "fastify";
import { type Clock, systemClock } from "../core/clock.ts";
import { connectionGuard } from "./budget.ts";
import { acceptWaiting, afterTime, type Ending } from "./ending.ts";
import { http1 } from "./front-http1.ts";
import { http2Acceptor } from "./front-http2.ts";
import { defaultLimits, type FrontLimits } from "./front-limits.ts";
import { bodyWatch } from "./incoming-body.ts";
import { addressReader } from "./request.ts";

/** The first bytes of every HTTP/2 connection with prior knowledge; no HTTP/1.1 method begins with them. */
const preface = Buffer.from("PRI");

/**
 * Reads the first bytes of a new connection to detect its protocol, puts them back and
 * passes the connection on. Closes a connection that sends too few bytes in time.
 */
function sniff(socket: Socket, silentMs: number, accept: (isHttp2: boolean) => void): void {
  let head: Buffer = Buffer.alloc(0);
  const drop = (): void => void socket.destroy();
  const silent = setTimeout(drop, silentMs);

  function inspect(): void {
    for (let chunk = socket.read(); chunk !== null; chunk = socket.read())
      head = Buffer.concat([head, chunk]);
    const isHttp2 = startsWith(head, preface);
    if (isHttp2 === undefined) return;
    stop();
    socket.unshift(head);
    accept(isHttp2);
  }

  function stop(): void {
    clearTimeout(silent);
    socket.off("readable", inspect).off("end", drop).off("error", drop).off("close", stop);
  }

  socket.on("readable", inspect).on("end", drop).on("error", drop).on("close", stop);
}

/** Undefined while there are too few bytes to decide. */
function startsWith(head: Buffer, prefix: Buffer): boolean | undefined {
  const length = Math.min(head.length, prefix.length);
  if (!head.subarray(0, length).equals(prefix.subarray(0, length))) return false;
  return length === prefix.length ? true : undefined;
}

/** Limits that differ from the defaults, and replaceable dependencies. */
export interface FrontOptions extends Partial<FrontLimits> {
  readonly clock?: Clock;
  /** Returns the remote address of a connection. */
  readonly peerOf?: (socket: Socket) => string;
  /** Returns the address of a request's caller. */
  readonly addressOf?: (request: IncomingMessage) => string;
}

/** One port for HTTP/1.1 and cleartext HTTP/2. */
export interface Front extends Ending {
  /** Creates Fastify's server. Call it once. */
  readonly serverFactory: FastifyServerFactory;
  /** From now on each connection ends after the answers to its requests. Connections are still accepted. */
  leave(): void;
  /**
   * Stops accepting connections, closes idle ones, lets running calls finish, and
   * destroys the remaining connections after `seconds`. A connection without its first
   * request has `arrivalMs` for it. Resolves when every connection is closed.
   * A second drain joins the first, and the shorter time applies.
   */
  drain(seconds: number): Promise<void>;
}

/**
 * Creates the front. An HTTP/1.1 server accepts all connections, so that Node enforces
 * its time-outs. HTTP/2 connections are passed to an HTTP/2 server with the same
 * handler.
 *
 * Closing the server, as Fastify's `close` does, also begins the drain, without a
 * deadline: idle connections do not delay it.
 */
export function httpFront({
  clock = systemClock,
  peerOf = remoteAddress,
  addressOf = addressReader(null),
  ...overrides
}: FrontOptions = {}): Front {
  const limits: FrontLimits = { ...defaultLimits, ...overrides };
  const watch = bodyWatch(limits, addressOf);
  const admitConnection = connectionGuard(limits.connectionsPerAddress);
  const begun = new AbortController();
  const left = new AbortController();
  begun.signal.addEventListener("abort", () => left.abort());
  // Every watch, held call and connection adds a listener.
  setMaxListeners(0, begun.signal, left.signal);
  const ending: Ending = { leaving: left.signal, draining: begun.signal };
  const sockets = new Set<Socket>();
  let server: Server | undefined;

  function serverFactory(answer: FastifyServerFactoryHandler): Server {
    const handler: FastifyServerFactoryHandler = (request, response) => {
      watch(request, response);
      answer(request, response);
    };
    const http1Side = http1(handler, limits, ending);
    const acceptHttp2 = http2Acceptor(handler, limits, ending);
    const undetected = new Set<Socket>();
    const destroyLater = (socket: Socket): void =>
      afterTime(socket, limits.arrivalMs, () => {
        if (undetected.has(socket)) socket.destroy();
      });
    begun.signal.addEventListener("abort", () => {
      for (const socket of undetected) destroyLater(socket);
    });
    server = http1Side.server;
    server.maxConnections = limits.connectionsMax;
    server.on("connection", (socket) => {
      const leave = admitConnection(peerOf(socket));
      if (leave === null) {
        socket.destroy();
        return;
      }
      socket.once("close", leave);
      sockets.add(socket);
      undetected.add(socket);
      socket.once("close", () => {
        sockets.delete(socket);
        undetected.delete(socket);
      });
      if (begun.signal.aborted) destroyLater(socket);
      sniff(socket, limits.silentMs, (isHttp2) => {
        undetected.delete(socket);
        if (isHttp2) acceptHttp2(socket);
        else http1Side.accept(socket);
      });
    });
    beginWithClose(server, begun);
    return server;
  }

  async function drain(seconds: number): Promise<void> {
    left.abort();
    if (server) await acceptWaiting(server);
    const closed = closeServer(server);
    const early = new AbortController();
    // Rejected only because everything closed before the deadline.
    const deadline = clock.sleep(seconds * 1000, early.signal).catch(() => undefined);
    await Promise.race([closed, deadline]);
    early.abort();
    for (const socket of sockets) socket.destroy();
    await closed;
  }

  return { serverFactory, ...ending, leave: () => left.abort(), drain };
}

const remoteAddress = ({ remoteAddress = "" }: Socket): string => remoteAddress;

function beginWithClose(server: Server, begun: AbortController): void {
  const close = server.close.bind(server);
  server.close = (callback) => {
    close(callback);
    begun.abort();
    return server;
  };
}

/**
 * Closes the server. Resolves when the last connection is closed; at once for a server that never listened or
 * is already closed.
 */
async function closeServer(server: Server | undefined): Promise<void> {
  await new Promise<unknown>((resolve) => (server ? server.close(resolve) : resolve(undefined)));
}
