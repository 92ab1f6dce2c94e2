import { createServer, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import type { FastifyServerFactoryHandler } from "fastify";
import type { FrontLimits } from "./front-limits.ts";

/**
 * Takes over connections that speak HTTP/2 with prior knowledge, under the same
 * kinds of limits as HTTP/1.1. When the drain begins they get a GOAWAY that names the
 * last request that will be answered: clients may safely repeat any later one.
 */
export function http2Acceptor(handler: FastifyServerFactoryHandler, limits: FrontLimits, draining: AbortSignal): (socket: Socket) => void {
  const settings = { maxConcurrentStreams: limits.streamsMax, enablePush: false };
  // Fastify and Connect take requests of either version through one handler; its type names only HTTP/1.1's.
  const server = createServer({ settings, ...resetsOf(limits) }, handler as unknown as Parameters<typeof createServer>[1]);
  server.on("session", (session) => {
    closeUnsettled(session, limits.settingsMs);
    closeIdle(session, limits.idleMs, draining);
    pingQuiet(session, limits);
  });
  return (socket) => {
    // HTTP/1.1 answers clients that have closed their half; an HTTP/2 session ends there.
    socket.allowHalfOpen = false;
    server.emit("connection", socket);
  };
}

/**
 * Requests that a client may begin and reset: all that it may have open, twice, and 33 a second (Node's default); then its
 * connection is closed. Each costs as much as one that is answered.
 */
const resetsOf = ({ streamsMax }: FrontLimits) => ({ streamResetBurst: 2 * streamsMax, streamResetRate: 33 });

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

/** Sends a PING where a request is open and nothing has gone over the connection for a while; closes it when no answer comes. */
function pingQuiet(session: ServerHttp2Session, { pingMs, pingAnswerMs }: FrontLimits): void {
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
    const answered = (): void => clearTimeout(unanswered);
    session.once("close", answered);
    session.ping(() => {
      session.off("close", answered);
      answered();
    });
  });
}
