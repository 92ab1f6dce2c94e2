import { EventEmitter, once } from "node:events";
import {
  Agent,
  type ClientRequest,
  get,
  type IncomingMessage,
  request,
  type ServerResponse,
} from "node:http";
import { type ClientHttp2Session, connect as connectHttp2 } from "node:http2";
import { type AddressInfo, connect, type Socket } from "node:net";
import { buffer, text } from "node:stream/consumers";
import { fastify } from "fastify";
import { describe, expect, test } from "vitest";
import { systemClock } from "../../src/core/clock.ts";
import { type FrontOptions, httpFront } from "../../src/http/front.ts";
import { defaultLimits } from "../../src/http/front-limits.ts";

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

const echo: Handler = (request, response) =>
  response.end(`${request.method} ${request.url} over ${request.httpVersion}`);

/** A listening front, closed with all its connections at the end of the test. */
async function open(handler: Handler, options: FrontOptions = {}) {
  const front = httpFront(options);
  const server = front.serverFactory(handler, {});
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo; // it listens to TCP
  return { front, server, port, [Symbol.asyncDispose]: () => front.drain(0) };
}

/** A handler that reports when a request has arrived, and answers when the test says so. */
function held() {
  const arrivals = new EventEmitter();
  const handler: Handler = (request, response) => void arrivals.emit("call", request, response);
  const next = async (): Promise<[IncomingMessage, ServerResponse]> =>
    (await once(arrivals, "call")) as [IncomingMessage, ServerResponse];
  return { handler, next };
}

const answerOf = async (sent: ClientRequest): Promise<IncomingMessage> => (await once(sent, "response"))[0];

function raw(port: number): Socket {
  const socket = connect(port, "127.0.0.1").setNoDelay(true);
  socket.on("error", () => undefined);
  return socket;
}

/** The first bytes received; empty for a connection that is closed without any. */
async function firstBytes(socket: Socket): Promise<string> {
  const gone = new AbortController();
  socket.once("close", () => gone.abort());
  const [bytes] = await once(socket, "data", { signal: gone.signal }).catch(() => [""]);
  return String(bytes);
}

/** Each byte in a separate packet, if the kernel sends it so. */
async function drip(socket: Socket, bytes: string): Promise<void> {
  for (const byte of bytes) {
    await new Promise((sent) => socket.write(byte, "latin1", sent));
    await new Promise(setImmediate);
  }
}

function session(port: number): ClientHttp2Session {
  return connectHttp2(`http://127.0.0.1:${port}`).on("error", () => undefined);
}

async function callHttp2(client: ClientHttp2Session, headers = {}): Promise<string> {
  const stream = client.request({ ":path": "/", ...headers });
  return text(stream);
}

const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const emptySettings = "\0\0\0\x04\0\0\0\0\0";
/** The head of `GET /` as a complete request in its own stream (RFC 7541 appendix A). */
const getRequest = "\0\0\x06\x01\x05\0\0\0\x01\x82\x86\x84\x41\x01a";

const frameKinds: Readonly<Record<number, string>> = {
  0: "DATA",
  1: "HEADERS",
  4: "SETTINGS",
  6: "PING",
  7: "GOAWAY",
};

/**
 * Reads the frames of HTTP/2 that a socket receives (RFC 9113 4.1). Call it to wait for the payload of the
 * next one of a kind.
 */
function frames(socket: Socket) {
  const kinds: string[] = [];
  const arrivals = new EventEmitter();
  let rest = Buffer.alloc(0);
  socket.on("data", (bytes: Buffer) => {
    rest = Buffer.concat([rest, bytes]);
    while (rest.length >= 9 && rest.length >= 9 + rest.readUIntBE(0, 3)) {
      const end = 9 + rest.readUIntBE(0, 3);
      const kind = frameKinds[rest[3] ?? -1] ?? "other";
      kinds.push(kind);
      arrivals.emit(kind, rest.subarray(9, end));
      rest = rest.subarray(end);
    }
  });
  const next = async (kind: string): Promise<Buffer> => (await once(arrivals, kind))[0];
  return Object.assign(next, { kinds: () => kinds });
}

describe("one port", () => {
  test("serves HTTP/1.1 and HTTP/2", async () => {
    await using service = await open(echo);
    const client = session(service.port);
    expect(await text(await answerOf(get(`http://127.0.0.1:${service.port}/a`)))).toBe("GET /a over 1.1");
    expect(await callHttp2(client, { ":path": "/b" })).toBe("GET /b over 2.0");
  });

  test("recognizes HTTP/2's preface when it arrives byte by byte", async () => {
    await using service = await open(echo);
    const socket = raw(service.port);
    await drip(socket, preface + emptySettings);
    const [frame] = await once(socket, "data");
    expect(frame[3]).toBe(4); // a SETTINGS frame
  });

  test.each([
    "PUT",
    "POST",
    "PATCH",
    "PROPFIND",
    "GET",
  ])("knows HTTP/1.1 when %s comes byte by byte", async (method) => {
    await using service = await open(echo);
    const socket = raw(service.port);
    await drip(socket, `${method} /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    expect(await text(socket)).toContain(`${method} /a over 1.1`);
  });

  test("loses nothing that follows the first bytes", async () => {
    await using service = await open(async (request, response) =>
      response.end(`${request.url} ${await text(request)};`),
    );
    const socket = raw(service.port);
    const post = (path: string, body: string) =>
      `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const bytes = post("/1", "one") + post("/2", "two") + post("/3", "x".repeat(100_000));
    await new Promise((sent) => socket.write(bytes.slice(0, 70), sent));
    await new Promise(setImmediate);
    socket.end(bytes.slice(70));
    expect((await text(socket)).match(/\/\d [a-z]+;/g)).toEqual([
      "/1 one;",
      "/2 two;",
      `/3 ${"x".repeat(100_000)};`,
    ]);
  });

  test("continues to serve after a client disconnects in the middle of a body", async () => {
    const { handler, next } = held();
    await using service = await open(handler);
    const call = next();
    const socket = raw(service.port);
    socket.write("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\nsome");
    const [incoming] = await call;
    const cut = expect(text(incoming)).rejects.toThrow("aborted");
    socket.destroy();
    await cut;
    const second = next();
    const sent = get(`http://127.0.0.1:${service.port}/`);
    (await second)[1].end("still here");
    expect(await text(await answerOf(sent))).toBe("still here");
  });
});

describe("a connection", () => {
  test.each([
    ["says nothing", ""],
    ["stops within what may be a preface", "PR"],
  ])("that %s is closed", async (_what, bytes) => {
    await using service = await open(echo, { silentMs: 30 });
    const socket = raw(service.port);
    socket.write(bytes);
    expect(await text(socket)).toBe("");
  });

  test("that sends its headers too slowly is answered 408 and closed", async () => {
    await using service = await open(echo, { headersMs: 40 });
    const socket = raw(service.port);
    socket.write("GET / HTTP/1.1\r\nHost: a\r\n");
    expect(await text(socket)).toMatch(/^HTTP\/1.1 408 /);
  });

  test("that sends its body too slowly is answered 408 and closed", async () => {
    await using service = await open((request) => void request.resume().on("error", () => undefined), {
      headersMs: 40,
      requestMs: 40,
    });
    const socket = raw(service.port);
    socket.write("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nx");
    expect(await text(socket)).toMatch(/^HTTP\/1.1 408 /);
  });

  test("that sends HTTP/2's preface but no settings is closed", async () => {
    await using service = await open(echo, { settingsMs: 30 });
    const socket = raw(service.port);
    socket.resume().write(preface);
    await once(socket, "close");
  });

  test("of HTTP/2 ends when the client closes its side", async () => {
    await using service = await open(echo);
    const socket = raw(service.port);
    socket.write(preface + emptySettings, "latin1");
    await once(socket, "data");
    socket.end();
    await once(socket, "close");
  });

  test("of HTTP/2 has a limit of concurrent requests", async () => {
    await using service = await open(echo, { streamsMax: 7 });
    const client = session(service.port);
    const [settings] = await once(client, "remoteSettings");
    expect(settings.maxConcurrentStreams).toBe(7);
  });

  test("of HTTP/2 without a request is closed after a timeout, one with a request is not", async () => {
    const { handler, next } = held();
    await using service = await open(handler, { idleMs: 40 });
    const [busy, idle] = [session(service.port), session(service.port)];
    const call = next();
    const answer = callHttp2(busy);
    const [, response] = await call;
    const [code] = await once(idle, "goaway");
    expect(code).toBe(0);
    expect(busy.closed).toBe(false);
    response.end("done");
    expect(await answer).toBe("done");
    await once(busy, "close");
  });

  test("of HTTP/2 resets a request whose body does not end", async () => {
    await using service = await open((request) => void request.resume(), { bodyMs: 40 });
    const stream = session(service.port).request({ ":method": "POST" }, { endStream: false });
    stream.on("error", () => undefined).resume();
    await once(stream, "close");
    expect(stream.rstCode).toBe(8); // CANCEL
  });
});

describe("connections", () => {
  test("beyond the limit of an address are closed at once, others are not", async () => {
    const peers = ["192.0.2.1", "192.0.2.1", "192.0.2.1", "192.0.2.2"];
    await using service = await open(echo, { connectionsPerAddress: 2, peerOf: () => peers.shift() ?? "" });
    const answers: string[] = [];
    const held: Socket[] = [];
    for (let i = 0; i < 4; i++) {
      const socket = raw(service.port);
      held.push(socket);
      socket.write("GET /a HTTP/1.1\r\nHost: a\r\n\r\n");
      answers.push(await firstBytes(socket));
    }
    expect(answers.map((answer) => answer.slice(0, 12))).toEqual([
      "HTTP/1.1 200",
      "HTTP/1.1 200",
      "",
      "HTTP/1.1 200",
    ]);
  });

  test("beyond the total limit are closed at once, until another has ended", async () => {
    await using service = await open(echo, { connectionsMax: 1 });
    const first = raw(service.port);
    first.write("GET /a HTTP/1.1\r\nHost: a\r\n\r\n");
    expect(await firstBytes(first)).toMatch(/^HTTP\/1.1 200/);
    expect(await firstBytes(raw(service.port))).toBe("");
    first.end();
    await once(first, "close");
    const next = raw(service.port);
    next.write("GET /a HTTP/1.1\r\nHost: a\r\n\r\n");
    expect(await firstBytes(next)).toMatch(/^HTTP\/1.1 200/);
  });
});

test("the front's default limits are those that docs/operate/security.md and docs/operate/proxy.md state", () => {
  expect(defaultLimits).toMatchObject({
    ...{
      silentMs: 10_000,
      headersMs: 10_000,
      bodyMs: 60_000,
      anonymousMs: 15_000,
      unfinishedMax: 32,
      idleMs: 72_000,
      graceMs: 5_000,
      arrivalMs: 1_000,
    },
    ...{
      streamsMax: 100,
      pingMs: 15_000,
      pingAnswerMs: 20_000,
      connectionsMax: 10_000,
      connectionsPerAddress: 256,
    },
  });
});

describe("a quiet HTTP/2 connection", () => {
  test("gets a PING while a request is open, and stays open when it is answered", async () => {
    const { handler, next } = held();
    await using service = await open(handler, { pingMs: 30, pingAnswerMs: 60_000 });
    const client = session(service.port);
    const call = next();
    const answer = callHttp2(client);
    const [, response] = await call;
    await once(client, "ping");
    await once(client, "ping");
    response.end("done");
    expect(await answer).toBe("done");
  });

  test("is closed when a PING is not answered", async () => {
    const { handler, next } = held();
    await using service = await open(handler, { pingMs: 30, pingAnswerMs: 30 });
    const socket = raw(service.port);
    const call = next();
    socket.resume().write(preface + emptySettings + getRequest, "latin1");
    await call;
    await once(socket, "close");
  });
});

describe("a drain", () => {
  test("closes idle connections at once and refuses new ones", async () => {
    await using service = await open(echo, { arrivalMs: 20 });
    const agent = new Agent({ keepAlive: true });
    await text(await answerOf(get(`http://127.0.0.1:${service.port}/`, { agent })));
    const [idle] = Object.values(agent.freeSockets).flatMap((sockets) => sockets ?? []);
    const client = session(service.port);
    await callHttp2(client);
    const silent = raw(service.port);
    await once(silent, "connect");
    const closed = [
      once(idle ?? new EventEmitter(), "close"),
      once(client, "goaway"),
      once(client, "close"),
      text(silent),
    ];
    await service.front.drain(60);
    await Promise.all(closed);
    expect(service.front.draining.aborted).toBe(true);
    await expect(answerOf(get(`http://127.0.0.1:${service.port}/`))).rejects.toThrow("ECONNREFUSED");
  });

  test("lets a running HTTP/1.1 call finish, and announces that the connection closes", async () => {
    const { handler, next } = held();
    await using service = await open(handler);
    const call = next();
    const sent = get(`http://127.0.0.1:${service.port}/`, { agent: new Agent({ keepAlive: true }) });
    const [, response] = await call;
    const drained = service.front.drain(60);
    response.end("done");
    const answer = await answerOf(sent);
    expect(answer.headers.connection).toBe("close");
    expect(await text(answer)).toBe("done");
    await drained;
  });

  test("lets an answer that had begun finish, and closes the connection after it", async () => {
    const { handler, next } = held();
    await using service = await open(handler, { arrivalMs: 20 });
    const call = next();
    const sent = get(`http://127.0.0.1:${service.port}/`, { agent: new Agent({ keepAlive: true }) });
    const [, response] = await call;
    response.write("one ");
    const answer = await answerOf(sent);
    const drained = service.front.drain(60);
    response.end("two");
    expect(await text(answer)).toBe("one two");
    await drained;
  });

  test("answers all requests that a connection sent together", async () => {
    const { handler, next } = held();
    await using service = await open(handler);
    const socket = raw(service.port);
    const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
    const responses: ServerResponse[] = [];
    for (const path of ["/1", "/2", "/3"]) {
      const call = next();
      socket.write(get(path));
      responses.push((await call)[1]);
    }
    responses[0]?.end("one;");
    await once(socket, "data");
    const drained = service.front.drain(60);
    responses[1]?.end("two;");
    responses[2]?.end("three;");
    expect((await text(socket)).match(/\r\nConnection: .*|[a-z]+;/g)).toEqual([
      "\r\nConnection: keep-alive",
      "two;",
      "\r\nConnection: close",
      "three;",
    ]);
    await drained;
  });

  test("does not cut off an answer that is written but not yet sent", async () => {
    const size = 32 * 2 ** 20;
    const { handler, next } = held();
    await using service = await open(handler);
    const call = next();
    const sent = get(`http://127.0.0.1:${service.port}/`);
    const [, response] = await call;
    response.end(Buffer.alloc(size));
    const answer = await answerOf(sent);
    const drained = service.front.drain(60);
    expect((await buffer(answer)).length).toBe(size);
    await drained;
  });

  test("answers HTTP/2 calls that are running or on their way, and reports which requests were too late", async () => {
    const { handler, next } = held();
    await using service = await open(handler, { arrivalMs: 60_000 });
    const client = session(service.port);
    const lastStreams: number[] = [];
    client.on("goaway", (_code, lastStream) => lastStreams.push(lastStream));
    const call = next();
    const noticed = once(client, "goaway");
    const answers = [callHttp2(client)];
    const [, response] = await call;
    const drained = service.front.drain(60);
    const second = next();
    answers.push(callHttp2(client));
    const [, secondResponse] = await second;
    await noticed;
    await expect(callHttp2(client), "the client sends no more").rejects.toThrow("after receiving a GOAWAY");
    response.end("one");
    secondResponse.end("two");
    expect(await Promise.all(answers)).toEqual(["one", "two"]);
    await drained;
    expect([lastStreams[0], lastStreams.at(-1)]).toEqual([2 ** 31 - 1, 3]);
  });

  test.each([
    ["nothing", ""],
    ["a part of a request", "GET /a HTTP/1.1\r\n"],
    ["a part of HTTP/2's preface", preface.slice(0, 2)],
  ])("answers the first request of a connection that had sent %s", async (_what, part) => {
    const isHttp2 = part !== "" && preface.startsWith(part);
    // The raw HTTP/2 client answers no PING, and its session ends after this time.
    await using service = await open(echo, { arrivalMs: isHttp2 ? 300 : 60_000 });
    const socket = raw(service.port);
    const accepted = once(service.server, "connection");
    socket.write(part);
    const [inside] = (await accepted) as [Socket];
    while (inside.bytesRead < part.length) await new Promise(setImmediate);
    const drained = service.front.drain(60);
    await once(service.front.draining, "abort");
    const request = isHttp2 ? preface + emptySettings + getRequest : "GET /a HTTP/1.1\r\nHost: a\r\n\r\n";
    socket.write(request.slice(part.length), "latin1");
    const answer = await text(socket);
    await drained;
    if (isHttp2) expect(answer).toContain("GET / over 2.0");
    else expect(answer).toMatch(/Connection: close[\s\S]*GET \/a over 1.1$/);
  });

  test("answers a request that arrived in time, in a turn of the event loop that is longer than this time", async () => {
    await using service = await open(echo, { arrivalMs: 20 });
    const socket = raw(service.port);
    await once(service.server, "connection");
    const drained = service.front.drain(60);
    await once(service.front.draining, "abort");
    socket.write("GET /a HTTP/1.1\r\nHost: a\r\n\r\n");
    for (const begin = performance.now(); performance.now() - begin < 60; );
    expect(await text(socket)).toMatch(/Connection: close[\s\S]*GET \/a over 1.1$/);
    await drained;
  });

  test("announces the end of an HTTP/2 connection before it asks for a PING, and answers what crossed with it", async () => {
    await using service = await open(echo, { arrivalMs: 60_000 });
    service.front.leave();
    const socket = raw(service.port);
    const received = frames(socket);
    socket.write(preface + emptySettings + getRequest, "latin1");
    await received("DATA");
    expect(received.kinds(), "the client has not acknowledged the settings").not.toContain("PING");
    socket.write("\0\0\0\x04\x01\0\0\0\0", "latin1");
    const ping = await received("PING");
    expect(received.kinds().slice(-2)).toEqual(["GOAWAY", "PING"]);
    const crossed = getRequest.replace("\x01\x82", "\x03\x82");
    socket.write(
      Buffer.concat([
        Buffer.from(crossed, "latin1"),
        Buffer.from("\0\0\x08\x06\x01\0\0\0\0", "latin1"),
        ping,
      ]),
    );
    await once(socket, "end");
    expect(
      received.kinds().filter((kind) => kind === "HEADERS"),
      "answers",
    ).toHaveLength(2);
  });

  test("answers a connection that arrives in a long turn of the event loop, after connections were accepted in it", async () => {
    await using service = await open(echo);
    const arrived = Promise.withResolvers<Socket>();
    setImmediate(() => {
      const socket = raw(service.port);
      socket.write("GET /a HTTP/1.1\r\nHost: a\r\n\r\n");
      arrived.resolve(socket);
      process.nextTick(() => {
        for (const begin = performance.now(); performance.now() - begin < 5; );
      });
    });
    const drained = service.front.drain(60);
    expect(await text(await arrived.promise)).toMatch(/Connection: close[\s\S]*GET \/a over 1.1$/);
    await drained;
  });

  test("accepts connections after the process has said that it leaves, and ends each after its answer", async () => {
    await using service = await open(echo);
    service.front.leave();
    expect(service.front.draining.aborted).toBe(false);
    const agent = new Agent({ keepAlive: true });
    const answer = await answerOf(get(`http://127.0.0.1:${service.port}/a`, { agent }));
    expect([answer.headers.connection, await text(answer)]).toEqual(["close", "GET /a over 1.1"]);
    const client = session(service.port);
    const ended = once(client, "close");
    expect(await callHttp2(client)).toBe("GET / over 2.0");
    await ended;
  });

  test("ends a stream that listens to its signal", async () => {
    const respond: Handler = (_request, response) => {
      response.write("open;");
      service.front.draining.addEventListener("abort", () => response.end("ended"));
    };
    await using service = await open(respond, { arrivalMs: 20 });
    const client = session(service.port);
    const overHttp1 = await answerOf(get(`http://127.0.0.1:${service.port}/`));
    const overHttp2 = client.request({ ":path": "/" });
    await once(overHttp2, "response");
    const texts = Promise.all([text(overHttp1), text(overHttp2)]);
    await service.front.drain(60);
    expect(await texts).toEqual(["open;ended", "open;ended"]);
  });

  test("destroys connections that have not ended at the deadline", async () => {
    const deadline = Promise.withResolvers<void>();
    const attempts: number[] = [];
    const sleep = (ms: number) => {
      attempts.push(ms);
      return deadline.promise;
    };
    await using service = await open((_request, response) => void response.write("open;"), {
      clock: { ...systemClock, sleep },
    });
    const overHttp1 = await answerOf(get(`http://127.0.0.1:${service.port}/`));
    const client = session(service.port);
    const overHttp2 = client.request({ ":path": "/" });
    await once(overHttp2, "response");
    const gone = [expect(text(overHttp1)).rejects.toThrow("aborted"), once(client, "close")];
    overHttp2.on("error", () => undefined).resume();
    const begun = [once(service.front.draining, "abort"), once(client, "goaway")];
    const drained = service.front.drain(25);
    await Promise.all(begun);
    expect(attempts).toEqual([25_000]);
    deadline.resolve();
    await drained;
    await Promise.all(gone);
  });

  test("of a server that never listened ends at once", async () => {
    const front = httpFront();
    front.serverFactory(echo, {});
    await front.drain(60);
    await httpFront().drain(60);
  });

  test("may be requested twice", async () => {
    await using service = await open(echo);
    await Promise.all([service.front.drain(60), service.front.drain(60)]);
    await service.front.drain(60);
  });
});

describe("Fastify", () => {
  test("is served over both versions, and its close does not wait for idle connections", async () => {
    const front = httpFront();
    const app = fastify({ serverFactory: front.serverFactory, forceCloseConnections: false });
    app.post("/", async (request) => ({ over: request.raw.httpVersion, body: request.body }));
    await app.listen({ port: 0, host: "127.0.0.1" });
    const { port } = app.server.address() as AddressInfo; // it listens to TCP
    const sent = request({
      port,
      method: "POST",
      headers: { "content-type": "application/json" },
      agent: new Agent({ keepAlive: true }),
    });
    sent.end('{"a":1}');
    expect(await text(await answerOf(sent))).toBe('{"over":"1.1","body":{"a":1}}');
    const client = session(port);
    const stream = client.request(
      { ":method": "POST", "content-type": "application/json" },
      { endStream: false },
    );
    stream.end('{"b":2}');
    expect(await text(stream)).toBe('{"over":"2.0","body":{"b":2}}');
    await app.close();
    expect(front.draining.aborted).toBe(true);
  });
});
