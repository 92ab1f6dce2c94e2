import { createServer, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import type { FastifyServerFactoryHandler } from "fastify";
import type { FrontLimits } from "./front-limits.ts";

/**
 * Serves connections of HTTP/2 with prior knowledge, under the same kinds of limits as
 * HTTP/1.1. When the drain begins they get a GOAWAY that names the last request that
 * will be answered: clients may safely repeat any later one.
 */
export function http2Acceptor(handler: FastifyServerFactoryHandler, limits: FrontLimits, draining: AbortSignal): (socket: Socket) => void {
  const settings = { maxConcurrentStreams: limits.streamsMax, enablePush: false };
  const server = createServer({ settings, ...resetsOf(limits) });
  server.on("request", handler);
  server.on("session", (session) => {
    closeWithoutSettings(session, limits.settingsMs);
    closeIdle(session, limits.idleMs, draining);
    pingSilent(session, limits);
  });
  return (socket) => {
    // HTTP/1.1 answers clients that have closed their sending side; an HTTP/2 session ends there.
    socket.allowHalfOpen = false;
    server.emit("connection", socket);
  };
}

/**
 * Limits the requests that a client may begin and reset: twice the maximum of open requests, and 33 per second (Node's
 * default). Beyond that its connection is closed. A reset request costs as much as an answered one.
 */
const resetsOf = ({ streamsMax }: FrontLimits) => ({ streamResetBurst: 2 * streamsMax, streamResetRate: 33 });

/** Closes a session whose client sends no settings. */
function closeWithoutSettings(session: ServerHttp2Session, settingsMs: number): void {
  const timer = setTimeout(() => session.destroy(), settingsMs);
  const clear = (): void => clearTimeout(timer);
  session.once("remoteSettings", clear).once("close", clear);
}

/** Closes a session that is idle for too long. When the drain begins, closes any session after its open requests. */
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

/** Sends a PING when a request is open and the connection was silent for too long. Closes the connection when no answer arrives. */
function pingSilent(session: ServerHttp2Session, { pingMs, pingAnswerMs }: FrontLimits): void {
  let open = 0;
  session.on("stream", (stream: ServerHttp2Stream) => {
    open++;
    stream.once("close", () => open--);
  });
  session.setTimeout(pingMs);
  session.on("timeout", () => {
    if (session.closed) return;
    // An answer to a PING does not restart the timer.
    session.setTimeout(pingMs);
    if (open === 0) return;
    const unanswered = setTimeout(() => session.destroy(), pingAnswerMs);
    const clearUnanswered = (): void => clearTimeout(unanswered);
    session.once("close", clearUnanswered);
    session.ping(() => {
      session.off("close", clearUnanswered);
      clearUnanswered();
    });
  });
}
