import { constants, createServer, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import type { FastifyServerFactoryHandler } from "fastify";
import type { FrontLimits } from "./front-limits.ts";

/** All streams: what a GOAWAY says that refuses none yet (RFC 9113, 6.8). */
const lastStream = 2 ** 31 - 1;

/**
 * Takes over connections that speak HTTP/2 with prior knowledge, under the same
 * kinds of limits as HTTP/1.1, and sends them GOAWAY when the drain begins.
 */
export function http2Acceptor(handler: FastifyServerFactoryHandler, limits: FrontLimits, draining: AbortSignal): (socket: Socket) => void {
  const sessions = new Set<ServerHttp2Session>();
  const settings = { maxConcurrentStreams: limits.streamsMax, enablePush: false };
  // Fastify and Connect take requests of either version through one handler; its type names only HTTP/1.1's.
  const server = createServer({ settings }, handler as unknown as Parameters<typeof createServer>[1]);
  server.on("session", (session) => {
    sessions.add(session);
    session.once("close", () => sessions.delete(session));
    bound(session, limits);
    if (draining.aborted) retire(session);
  });
  draining.addEventListener("abort", () => sessions.forEach(retire));
  return (socket) => void server.emit("connection", socket);
}

/**
 * Says first that the end is near and refuses new requests one round trip later, so
 * that a request that was under way at that moment is still answered.
 */
function retire(session: ServerHttp2Session): void {
  if (session.closed || session.destroyed) return;
  session.goaway(constants.NGHTTP2_NO_ERROR, lastStream);
  if (!session.ping(() => session.close())) session.close();
}

/** Closes a session whose client sends no settings, or that has had no request for a while. */
function bound(session: ServerHttp2Session, limits: FrontLimits): void {
  let open = 0;
  let idle = setTimeout(() => session.close(), limits.idleMs);
  const unsettled = setTimeout(() => session.destroy(), limits.settingsMs);
  session.once("remoteSettings", () => clearTimeout(unsettled));
  session.on("stream", (stream: ServerHttp2Stream) => {
    open++;
    clearTimeout(idle);
    boundRequest(stream, limits.requestMs);
    stream.once("close", () => {
      if (--open === 0 && !session.closed) idle = setTimeout(() => session.close(), limits.idleMs);
    });
  });
  session.once("close", () => {
    clearTimeout(unsettled);
    clearTimeout(idle);
  });
}

/** Resets a stream whose request has not ended in time, as `requestTimeout` does on HTTP/1.1. */
function boundRequest(stream: ServerHttp2Stream, requestMs: number): void {
  if (stream.endAfterHeaders) return;
  const late = setTimeout(() => stream.close(constants.NGHTTP2_CANCEL), requestMs);
  stream.once("end", () => clearTimeout(late)).once("close", () => clearTimeout(late));
}
