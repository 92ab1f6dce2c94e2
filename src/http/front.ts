import { setMaxListeners } from "node:events";
import type { Server } from "node:http";
import type { Socket } from "node:net";
import type { FastifyServerFactory, FastifyServerFactoryHandler } from "fastify";
import { type Clock, systemClock } from "../core/clock.ts";
import { http1 } from "./front-http1.ts";
import { http2Acceptor } from "./front-http2.ts";
import { defaultLimits, type FrontLimits } from "./front-limits.ts";
import { sniff } from "./front-sniff.ts";

/** Limits that differ from the defaults, and the clock that a drain goes by. */
export interface FrontOptions extends Partial<FrontLimits> {
  readonly clock?: Clock;
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
export function httpFront({ clock = systemClock, ...given }: FrontOptions = {}): Front {
  const limits: FrontLimits = { ...defaultLimits, ...given };
  const begun = new AbortController();
  // Every watch and held call listens to it.
  setMaxListeners(0, begun.signal);
  const sockets = new Set<Socket>();
  let server: Server | undefined;

  function serverFactory(handler: FastifyServerFactoryHandler): Server {
    const http1Side = http1(handler, limits, begun.signal);
    const acceptHttp2 = http2Acceptor(handler, limits, begun.signal);
    const unknown = new Set<Socket>();
    begun.signal.addEventListener("abort", () => {
      for (const socket of unknown) socket.destroy();
    });
    server = http1Side.server;
    server.on("connection", (socket) => {
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
