import { constants, createServer, type IncomingHttpHeaders, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import type { FastifyServerFactoryHandler } from "fastify";
import { services } from "../services.ts";
import type { FrontLimits } from "./front-limits.ts";

/** Requests that go on for as long as both sides like. */
const conversations: ReadonlySet<string> = new Set(
  services
    .flatMap(({ methods }) => methods)
    .flatMap((method) => (method.methodKind === "bidi_streaming" ? [`/${method.parent.typeName}/${method.name}`] : [])),
);

/**
 * Takes over connections that speak HTTP/2 with prior knowledge, under the same
 * kinds of limits as HTTP/1.1. When the drain begins they get a GOAWAY that names the
 * last request that will be answered: clients may safely repeat any later one.
 */
export function http2Acceptor(handler: FastifyServerFactoryHandler, limits: FrontLimits, draining: AbortSignal): (socket: Socket) => void {
  const settings = { maxConcurrentStreams: limits.streamsMax, enablePush: false };
  // Fastify and Connect take requests of either version through one handler; its type names only HTTP/1.1's.
  const server = createServer({ settings }, handler as unknown as Parameters<typeof createServer>[1]);
  server.on("session", (session) => {
    closeUnsettled(session, limits.settingsMs);
    closeIdle(session, limits.idleMs, draining);
    session.on("stream", (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
      if (!conversations.has(headers[":path"] ?? "")) resetLate(stream, limits.requestMs);
    });
  });
  return (socket) => {
    // HTTP/1.1 answers clients that have closed their half; an HTTP/2 session ends there.
    socket.allowHalfOpen = false;
    server.emit("connection", socket);
  };
}

/** Closes a session whose client sends no settings. */
function closeUnsettled(session: ServerHttp2Session, settingsMs: number): void {
  const unsettled = setTimeout(() => session.destroy(), settingsMs);
  const settled = (): void => clearTimeout(unsettled);
  session.once("remoteSettings", settled).once("close", settled);
}

/** Closes a session that has had no request for a while, and any when the drain begins, after the requests that it has. */
function closeIdle(session: ServerHttp2Session, idleMs: number, draining: AbortSignal): void {
  let open = 0;
  const close = (): void => session.close();
  let idle = setTimeout(close, idleMs);
  draining.addEventListener("abort", close);
  session.on("stream", (stream: ServerHttp2Stream) => {
    open++;
    clearTimeout(idle);
    stream.once("close", () => {
      if (--open === 0 && !session.closed) idle = setTimeout(close, idleMs);
    });
  });
  session.once("close", () => {
    clearTimeout(idle);
    draining.removeEventListener("abort", close);
  });
}

/** Resets a stream whose request has not ended in time, as `requestTimeout` does on HTTP/1.1. */
function resetLate(stream: ServerHttp2Stream, requestMs: number): void {
  if (stream.endAfterHeaders) return;
  const late = setTimeout(() => stream.close(constants.NGHTTP2_CANCEL), requestMs);
  const arrived = (): void => clearTimeout(late);
  stream.once("end", arrived).once("close", arrived);
}
