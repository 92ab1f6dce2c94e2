import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { type Call, callOf, methodIn, noteAnswer } from "./call.ts";

/** What stands between worker and platform on loopback: it sees every call, and makes what goes wrong in a network. */
export interface FaultyProxy extends AsyncDisposable {
  readonly url: string;
  /** Every call so far, in the order in which they came. */
  readonly calls: readonly Call[];
  /** The next answer of this method is lost: the platform has done what was asked, and the worker does not hear of it. */
  loseAnswer(method: string): void;
  /** Nobody is there: connections are cut, or answered with 503. */
  away(how: "cut" | "unavailable"): void;
  back(): void;
}

/** @param port where the platform listens now; null while it does not. */
export async function openProxy(port: () => number | null): Promise<FaultyProxy> {
  const calls: Call[] = [];
  const lost: string[] = [];
  let away: "cut" | "unavailable" | null = null;

  async function pass(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const startedAt = performance.now();
    const body = await buffer(incoming);
    const method = methodIn(incoming.url ?? "");
    const call = method === null ? null : callOf(method, incoming.headers["content-type"] ?? "", body, startedAt);
    if (call) calls.push(call);
    const target = port();
    if (away !== null || target === null) {
      if (call) call.away = true;
      turnAway(incoming, outgoing, away ?? "cut");
      return;
    }
    const answer = await forward(incoming, outgoing, body, target);
    if (call) noteAnswer(call, answer.status, answer.contentType, answer.body);
    const place = lost.indexOf(method ?? "");
    if (place >= 0 && answer.status === 200) {
      lost.splice(place, 1);
      incoming.socket.destroy();
      return;
    }
    outgoing.writeHead(answer.status, answer.headers).end(answer.body);
    if (call) call.answeredAt = performance.now();
  }

  const server = createServer((incoming, outgoing) => void pass(incoming, outgoing).catch(() => incoming.socket.destroy()));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, // It listens on TCP.
    calls,
    loseAnswer: (method) => void lost.push(method),
    away(how) {
      away = how;
      server.closeAllConnections();
    },
    back() {
      away = null;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function turnAway(incoming: IncomingMessage, outgoing: ServerResponse, how: "cut" | "unavailable"): void {
  if (how === "cut") incoming.socket.destroy();
  else outgoing.writeHead(503, { "content-type": "application/json" }).end('{"code":"unavailable","message":"the platform stops"}');
}

interface Answer {
  readonly status: number;
  readonly contentType: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}

/** What the platform answers; a worker that is gone is gone for the platform too. */
function forward(incoming: IncomingMessage, outgoing: ServerResponse, body: Buffer, port: number): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const { method, url: path } = incoming;
  const headers = { ...incoming.headers, "content-length": `${body.length}`, connection: "close" };
  delete headers["transfer-encoding"];
  delete headers.expect;
  const upstream = request({ host: "127.0.0.1", port, method, path, headers }, (reply) => {
    const { connection: _ours, "transfer-encoding": _theirs, ...rest } = reply.headers;
    const { statusCode: status = 502 } = reply;
    const contentType = reply.headers["content-type"] ?? "";
    buffer(reply).then((bytes) => resolve({ status, contentType, body: bytes, headers: rest }), reject);
  });
  outgoing.once("close", () => upstream.destroy());
  upstream.once("error", reject).end(body);
  return promise;
}
