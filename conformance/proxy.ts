import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { type Call, faultName, readMethod, recordAnswer, recordCalls } from "./call.ts";

/** A proxy between worker and platform on loopback: it records every call and injects network faults. */
export interface FaultyProxy extends AsyncDisposable {
  readonly url: string;
  /** Every call so far, in order of arrival. */
  readonly calls: readonly Call[];
  /**
   * Drops the next response of this method: the platform has processed the call, and the worker does not
   * receive the response.
   */
  dropNextResponse(method: string): void;
  /** Holds calls of this method before the platform gets them, until they are released. */
  hold(method: string): Hold;
  /** Makes the platform unavailable: connections are cut, or answered with 503. */
  makeUnavailable(how: "cut" | "unavailable"): void;
  restore(): void;
}

/** Calls that wait in the proxy. */
export interface Hold {
  /** Whether a call has waited. */
  reached(): boolean;
  release(): void;
}

/** @param port returns the platform's current port; null while it does not listen. */
export async function openProxy(port: () => number | null): Promise<FaultyProxy> {
  const calls: Call[] = [];
  const lost: string[] = [];
  const holds = new Map<string, { readonly over: Promise<void>; isReached: boolean }>();
  let away: "cut" | "unavailable" | null = null;

  async function pass(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const startedAt = performance.now();
    const body = await buffer(incoming);
    const method = readMethod(incoming.url ?? "");
    const recorded =
      method === null ? [] : recordCalls(method, { headers: incoming.headers, body }, startedAt);
    calls.push(...recorded);
    const hold = holds.get(faultName(method));
    if (hold) hold.isReached = true;
    await hold?.over;
    const target = port();
    if (away !== null || target === null) {
      for (const call of recorded) call.isPlatformAway = true;
      refuseCall(incoming, outgoing, away ?? "cut");
      return;
    }
    const answer = await forward(incoming, outgoing, body, target);
    if (method !== null) recordAnswer(method, recorded, answer.status, answer);
    const index = lost.indexOf(faultName(method));
    if (index >= 0 && answer.status === 200) {
      lost.splice(index, 1);
      for (const call of recorded) call.isLost = true;
      incoming.socket.destroy();
      return;
    }
    outgoing.writeHead(answer.status, answer.headers).end(answer.body);
    for (const call of recorded) call.answeredAt = performance.now();
  }

  const server = createServer(
    (incoming, outgoing) => void pass(incoming, outgoing).catch(() => incoming.socket.destroy()),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, // It listens on TCP.
    calls,
    dropNextResponse: (method) => void lost.push(method),
    hold(method) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const hold = { over: promise, isReached: false };
      holds.set(method, hold);
      return {
        reached: () => hold.isReached,
        release() {
          holds.delete(method);
          resolve();
        },
      };
    },
    makeUnavailable(how) {
      away = how;
      server.closeAllConnections();
    },
    restore() {
      away = null;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function refuseCall(incoming: IncomingMessage, outgoing: ServerResponse, how: "cut" | "unavailable"): void {
  if (how === "cut") incoming.socket.destroy();
  else
    outgoing
      .writeHead(503, { "content-type": "application/json" })
      .end('{"code":"unavailable","message":"the platform is stopping"}');
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}

/** Forwards a call to the platform; if the worker disconnects, the platform's connection closes too. */
function forward(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  body: Buffer,
  port: number,
): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const { method, url: path } = incoming;
  const headers = { ...incoming.headers, "content-length": `${body.length}`, connection: "close" };
  delete headers["transfer-encoding"];
  delete headers.expect;
  const upstream = request({ host: "127.0.0.1", port, method, path, headers }, (reply) => {
    const { connection: _ours, "transfer-encoding": _theirs, ...rest } = reply.headers;
    const { statusCode: status = 502 } = reply;
    buffer(reply).then((body) => resolve({ status, body, headers: rest }), reject);
  });
  outgoing.once("close", () => upstream.destroy());
  upstream.once("error", reject).end(body);
  return promise;
}
