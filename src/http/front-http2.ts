import { createServer, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import type { FastifyServerFactoryHandler } from "fastify";
import { afterTime, type Ending } from "./ending.ts";
import type { FrontLimits } from "./front-limits.ts";

/**
 * Serves connections of HTTP/2 with prior knowledge, under the same kinds of limits as
 * HTTP/1.1. They end by `endAfterRequests`.
 */
export function http2Acceptor(
  handler: FastifyServerFactoryHandler,
  limits: FrontLimits,
  ending: Ending,
): (socket: Socket) => void {
  const settings = { maxConcurrentStreams: limits.streamsMax, enablePush: false };
  const server = createServer({ settings, ...resetsOf(limits) });
  server.on("request", handler);
  server.on("session", (session) => {
    closeWithoutSettings(session, limits.settingsMs);
    closeIdle(session, limits.idleMs);
    pingSilent(session, limits);
  });
  return (socket) => {
    // HTTP/1.1 answers clients that have closed their sending side; an HTTP/2 session ends there.
    socket.allowHalfOpen = false;
    server.once("session", (session) => endAfterRequests(session, socket, limits.arrivalMs, ending));
    server.emit("connection", socket);
  };
}

/**
 * Limits the requests that a client may begin and reset: twice the maximum of open requests, and 33 per
 * second (Node's default). Beyond that its connection is closed. A reset request costs as much as an answered
 * one.
 */
const resetsOf = ({ streamsMax }: FrontLimits) => ({ streamResetBurst: 2 * streamsMax, streamResetRate: 33 });

/** Closes a session whose client sends no settings. */
function closeWithoutSettings(session: ServerHttp2Session, settingsMs: number): void {
  const timer = setTimeout(() => session.destroy(), settingsMs);
  const clear = (): void => clearTimeout(timer);
  session.once("remoteSettings", clear).once("close", clear);
}

function closeIdle(session: ServerHttp2Session, idleMs: number): void {
  let open = 0;
  const close = (): void => session.close();
  let idle = setTimeout(close, idleMs);
  session.on("stream", (stream: ServerHttp2Stream) => {
    open++;
    clearTimeout(idle);
    stream.once("close", () => {
      if (--open === 0 && !session.closed) idle = setTimeout(close, idleMs);
    });
  });
  session.once("close", () => clearTimeout(idle));
}

/**
 * A GOAWAY that refuses no request: the client should send no more, and those on their way are answered (RFC
 * 9113 6.8). Node's `goaway` would leave them without an answer.
 */
const notice = Buffer.from([0, 0, 8, 7, 0, 0, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0]);

/**
 * Ends a session after its requests: `notice`, then after the answer to a PING, or after `arrivalMs`, a
 * GOAWAY that names the last request that will be answered: clients may safely repeat any later one. This
 * begins with `leaving`, or with the first request of a session that was opened later, and at the latest with
 * the drain.
 */
function endAfterRequests(
  session: ServerHttp2Session,
  socket: Socket,
  arrivalMs: number,
  { leaving, draining }: Ending,
): void {
  const end = (): void => {
    forget();
    if (session.destroyed) return;
    const close = (): void => session.close();
    // The answer to a PING after the notice shows that the client has seen the notice.
    const announce = (): void => {
      socket.write(notice);
      session.ping(close);
    };
    // Settings come first.
    if (session.pendingSettingsAck) session.once("localSettings", announce);
    else announce();
    afterTime(socket, arrivalMs, close);
  };
  const forget = (): void => {
    for (const signal of [leaving, draining]) signal.removeEventListener("abort", end);
    session.off("stream", end);
  };
  if (leaving.aborted) session.once("stream", end);
  else leaving.addEventListener("abort", end);
  if (draining.aborted) afterTime(socket, arrivalMs, end);
  else draining.addEventListener("abort", end);
  session.once("close", forget);
}

/**
 * Sends a PING when a request is open and the connection was silent for too long. Closes the connection when
 * no answer arrives.
 */
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
