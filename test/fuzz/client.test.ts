import { once } from "node:events";
import { createServer as createHttp1, type RequestListener } from "node:http";
import { createServer as createHttp2, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo, Server } from "node:net";
import { afterEach, expect, test } from "vitest";
import { fuzzClient, type Outcome } from "./client.ts";
import type { FuzzRequest } from "./request.ts";

const patience = { answerMs: 10_000, silenceMs: 10_000, streamMs: 10 };
const request: FuzzRequest = {
  ...{
    wire: "v2",
    kind: "valid",
    rpc: "x.X/X",
    streaming: false,
    http: 1,
    method: "POST",
    path: "/x",
    headers: { a: "b" },
  },
  body: Buffer.from("body"),
};

let server: Server | undefined;
afterEach(() => void server?.close());

async function sent(
  from: Server,
  over: Partial<FuzzRequest>,
  waits: Partial<typeof patience> = {},
): Promise<Outcome> {
  server = from.listen(0, "127.0.0.1");
  await once(server, "listening");
  // It listens on TCP.
  const client = fuzzClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, {
    ...patience,
    ...waits,
  });
  return client.send({ ...request, ...over }).finally(() => client.close());
}

const over1 = (listener: RequestListener, over: Partial<FuzzRequest> = {}, waits = {}) =>
  sent(createHttp1(listener), over, waits);
const over2 = (
  listener: (stream: ServerHttp2Stream) => void,
  over: Partial<FuzzRequest> = {},
  waits = {},
) => {
  const http2 = createHttp2();
  http2.on("stream", (stream) => {
    stream.on("error", () => undefined);
    listener(stream);
  });
  return sent(http2, { http: 2, ...over }, waits);
};

const answer = { status: 418, body: Buffer.from("tea"), cut: false };

test("an answer is returned completely, over both versions of HTTP", async () => {
  expect(await over1((_, response) => response.writeHead(418, { B: "c" }).end("tea"))).toMatchObject({
    answer: { ...answer, headers: { b: "c" }, trailers: {} },
  });
  const trailing = (stream: ServerHttp2Stream) => {
    stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
    stream.respond({ ":status": 418, b: "c" }, { waitForTrailers: true });
    stream.end("tea");
  };
  expect(await over2(trailing)).toMatchObject({
    answer: { ...answer, headers: { b: "c" }, trailers: { "grpc-status": "0" } },
  });
});

test("a call without an answer is unanswered", async () => {
  expect(await over1(() => undefined, {}, { answerMs: 1 })).toEqual({
    unanswered: "nothing more after 1 ms",
  });
  expect(await over2(() => undefined, {}, { answerMs: 1 })).toEqual({
    unanswered: "nothing more after 1 ms",
  });
});

test("an answer without an end is unanswered", async () => {
  const headOnly = (stream: ServerHttp2Stream) => void stream.respond({ ":status": 200 });
  expect(await over2(headOnly, {}, { answerMs: 200 })).toEqual({
    unanswered: "200, but no end of it: nothing more after 200 ms",
  });
});

test("a connection that is closed instead of an answer is unanswered", async () => {
  expect(await over1((received) => received.socket.destroy())).toEqual({ unanswered: "ECONNRESET" });
  expect(await over2((stream) => stream.close(2))).toMatchObject({
    unanswered: expect.stringContaining("reset with 2"),
  });
});

test("a stream that stays open is an answer, and the client disconnects from it", async () => {
  const gone = Promise.withResolvers<void>();
  const outcome = await over1((_, response) => void response.on("close", gone.resolve).write("first"), {
    streaming: true,
  });
  expect(outcome).toMatchObject({ answer: { status: 200, cut: true } });
  await gone.promise;
});

test("a silent open stream is distinguished from a refused one", async () => {
  expect(await over1(() => undefined, { streaming: true }, { silenceMs: 1 })).toEqual({ silent: true });
  expect(await over1((_, response) => response.writeHead(418).end("tea"), { streaming: true })).toMatchObject(
    { answer },
  );
});
