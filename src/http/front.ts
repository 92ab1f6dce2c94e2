import { setMaxListeners } from "node:events";
import type { IncomingMessage, Server } from "node:http";
import type { Socket } from "node:net";
import type { FastifyServerFactory, FastifyServerFactoryHandler } from "fastify";
import { type Clock, systemClock } from "../core/clock.ts";
import { connectionGuard } from "./connection-guard.ts";
import { http1 } from "./front-http1.ts";
import { http2Acceptor } from "./front-http2.ts";
import { defaultLimits, type FrontLimits } from "./front-limits.ts";
import { sniff } from "./front-sniff.ts";
import { bodyWatch } from "./incoming-body.ts";
import { addressReader } from "./request.ts";

/** Limits that differ from the defaults, and what is not the machine's own. */
export interface FrontOptions extends Partial<FrontLimits> {
  /** The clock that a drain goes by. */
  readonly clock?: Clock;
  /** The address of a connection's other end. */
  readonly peerOf?: (socket: Socket) => string;
  /** The address of a request's caller. */
  readonly addressOf?: (request: IncomingMessage) => string;
}

/** One port for HTTP/1.1 and cleartext HTTP/2. */
export interface Front {
  /** Makes Fastify's server; called once. */
  readonly serverFactory: FastifyServerFactory;
  /** Aborted when the drain begins: ends watches and held calls. */
  readonly draining: AbortSignal;
  /**
   * Stops accepting, closes what is idle, lets running calls finish, and destroys
   * what is left after `seconds`. Resolves once every connection is gone; a second
   * drain joins the first, and the shorter time counts.
   */
  drain(seconds: number): Promise<void>;
}

/**
 * The front door. Connections begin at an HTTP/1.1 server that listens as usual, so
 * that Node enforces its time-outs; those that speak HTTP/2 are handed to an HTTP/2
 * server over the same handler.
 *
 * Closing the server, as Fastify's `close` does, begins the drain as well, without
 * a deadline: idle connections cannot hold it up.
 */
export function httpFront({
  clock = systemClock,
  peerOf = remoteAddress,
  addressOf = addressReader(null),
  ...given
}: FrontOptions = {}): Front {
  const limits: FrontLimits = { ...defaultLimits, ...given };
  const watch = bodyWatch(limits, addressOf);
  const enter = connectionGuard(limits.connectionsPerAddress);
  const begun = new AbortController();
  // Every watch and held call listens to it.
  setMaxListeners(0, begun.signal);
  const sockets = new Set<Socket>();
  let server: Server | undefined;

  function serverFactory(answer: FastifyServerFactoryHandler): Server {
    const handler: FastifyServerFactoryHandler = (request, response) => {
      watch(request, response);
      answer(request, response);
    };
    const http1Side = http1(handler, limits, begun.signal);
    const acceptHttp2 = http2Acceptor(handler, limits, begun.signal);
    const unknown = new Set<Socket>();
    begun.signal.addEventListener("abort", () => {
      for (const socket of unknown) socket.destroy();
    });
    server = http1Side.server;
    server.maxConnections = limits.connectionsMax;
    server.on("connection", (socket) => {
      const leave = enter(peerOf(socket));
      if (leave === null) {
        socket.destroy();
        return;
      }
      socket.once("close", leave);
      sockets.add(socket);
      unknown.add(socket);
      socket.once("close", () => {
        sockets.delete(socket);
        unknown.delete(socket);
      });
      sniff(socket, limits.silentMs, (isHttp2) => {
        unknown.delete(socket);
        if (isHttp2) acceptHttp2(socket);
        else http1Side.accept(socket);
      });
    });
    beginWithClose(server, begun);
    return server;
  }

  async function drain(seconds: number): Promise<void> {
    const closed = closing(server);
    const early = new AbortController();
    // Rejected only because everything closed before the deadline.
    const deadline = clock.sleep(seconds * 1000, early.signal).catch(() => undefined);
    await Promise.race([closed, deadline]);
    early.abort();
    for (const socket of sockets) socket.destroy();
    await closed;
  }

  return { serverFactory, draining: begun.signal, drain };
}

const remoteAddress = ({ remoteAddress = "" }: Socket): string => remoteAddress;

/** Makes `close` begin the drain, whoever calls it. */
function beginWithClose(server: Server, begun: AbortController): void {
  const close = server.close.bind(server);
  server.close = (callback) => {
    close(callback);
    begun.abort();
    return server;
  };
}

/** Resolves when the last connection is gone; at once for a server that never listened or is closed already. */
async function closing(server: Server | undefined): Promise<void> {
  await new Promise<unknown>((resolve) => (server ? server.close(resolve) : resolve(undefined)));
}
