import { verify } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import type { RequestListener } from "node:http";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { Webhook as StandardWebhook } from "standardwebhooks";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemRandom } from "../../src/core/ids.ts";
import {
  encodeWebhookSecret,
  newWebhookSecret,
  sealWebhookSecret,
} from "../../src/core/webhooks/new-webhook.ts";
import { signedContent } from "../../src/webhooks/sign.ts";
import { type Certificate, openReceiver, type Receiver, selfSigned } from "../egress/receiver.ts";
import { cipher } from "../support/cipher.ts";
import { lacks } from "../support/needs.ts";
import { stillClock } from "../support/still-clock.ts";
import { event, publicKeys, secret, senderWith, webhookAt } from "./send-rig.ts";

const send = senderWith();
const none = { delivered: false, status: null, response: null, retryAfter: null };
const answering =
  (status: number, headers: Readonly<Record<string, string>> = {}, body = ""): RequestListener =>
  (request, response) => {
    request.resume().on("end", () => response.writeHead(status, headers).end(body));
  };

/** A server that handles each connection with `greet`. */
async function rawServer(
  greet: (socket: Socket) => void,
): Promise<AsyncDisposable & { readonly url: string }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on("error", () => undefined));
    greet(socket);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo; // It listens on TCP.
  return {
    url: `http://127.0.0.1:${port}/`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((closed) => server.close(closed));
    },
  };
}

describe("a request to a webhook", () => {
  test("has the exact body, the signature headers, the sender's name, and no credential", async () => {
    let body = Buffer.alloc(0);
    await using server = await openReceiver(async (request, response) => {
      body = await buffer(request);
      response.writeHead(204).end();
    });
    const url = `${server.url}/in?tenant=7`;
    const began = Math.floor(Date.now() / 1000);
    expect(await send(webhookAt(url), event)).toMatchObject({
      delivered: true,
      status: 204,
      failure: null,
      retryAfter: null,
    });
    expect(server.requests).toEqual(["POST /in?tenant=7"]);
    expect(body.toString()).toBe(event.body);
    const headers = server.headers();
    expect(Object.keys(headers).toSorted()).toEqual([
      ...["accept", "accept-encoding", "connection", "content-length", "content-type", "host", "user-agent"],
      ...[
        "webhook-id",
        "webhook-signature",
        "webhook-timestamp",
        "x-webhook-signature",
        "x-webhook-timestamp",
      ],
    ]);
    expect(headers).toMatchObject({
      "content-type": "application/json",
      "user-agent": "agent-task-platform/0.1.0",
      "webhook-id": event.id,
    });
    const at = Number(headers["x-webhook-timestamp"]);
    expect(at).toBeGreaterThanOrEqual(began);
    const signature = Buffer.from(String(headers["x-webhook-signature"]), "base64");
    expect(
      verify("RSA-SHA256", Buffer.from(signedContent({ at, url, body })), publicKeys.rsa, signature),
    ).toBe(true);
    const verifier = new StandardWebhook(encodeWebhookSecret(secret));
    expect(verifier.verify(body, headers as Record<string, string>)).toEqual(JSON.parse(event.body)); // each header occurs once
  });

  test("is signed with the old secret too while that is valid, and afterwards only with the new one (spec/decisions.md 42)", async () => {
    await using server = await openReceiver(answering(200));
    const clock = stillClock();
    const webhook = webhookAt(server.url);
    const old = {
      oldSecret: sealWebhookSecret(cipher, webhook.id, newWebhookSecret(systemRandom)),
      oldSecretUntil: clock.now() + 1,
    };
    const items = async () => {
      await senderWith({ clock })({ ...webhook, ...old }, event);
      return String(server.headers()["webhook-signature"]).split(" ").length;
    };
    expect(await items()).toBe(3);
    clock.step(1);
    expect(await items()).toBe(2);
  });

  test.each([200, 201, 204, 299])("is delivered with %i", async (status) => {
    await using server = await openReceiver(answering(status));
    expect(await send(webhookAt(server.url), event)).toMatchObject({
      delivered: true,
      status,
      failure: null,
    });
  });

  test.each([
    301, 302, 303, 307, 308, 400, 401, 404, 410, 500, 503,
  ])("is not delivered with %i, and nothing is followed", async (status) => {
    await using elsewhere = await openReceiver(answering(200));
    await using server = await openReceiver(answering(status, { location: elsewhere.url }));
    expect(await send(webhookAt(server.url), event)).toMatchObject({
      delivered: false,
      status,
      failure: null,
    });
    expect([server.requests.length, elsewhere.connections()]).toEqual([1, 0]);
  });

  test("returns the answer's Retry-After", async () => {
    await using server = await openReceiver(answering(429, { "retry-after": "120" }));
    expect(await send(webhookAt(server.url), event)).toMatchObject({
      delivered: false,
      status: 429,
      retryAfter: "120",
    });
  });

  test("has the latency of the answer's head", async () => {
    const clock = stillClock();
    await using server = await openReceiver(async (request, response) => {
      request.resume();
      await clock.advance(70);
      response.writeHead(200).end();
    });
    expect(await senderWith({ clock })(webhookAt(server.url), event)).toMatchObject({
      delivered: true,
      latencyMs: 70,
    });
  });
});

describe("a connection", () => {
  test("is reused only by the same webhook, and closed when it is not used", async () => {
    await using server = await openReceiver(answering(200));
    const webhook = webhookAt(server.url);
    for (let attempt = 1; attempt <= 3; attempt++)
      expect(await send(webhook, event)).toMatchObject({ delivered: true });
    expect(server.connections()).toBe(1);
    await send(webhookAt(server.url), event);
    expect([server.requests.length, server.connections()]).toEqual([4, 2]);
    await server.allClosed();
  });

  test("is used for five seconds at most, however busy it is", async () => {
    const clock = stillClock();
    await using server = await openReceiver(answering(200));
    const [webhook, busy] = [webhookAt(server.url), senderWith({ clock })];
    await busy(webhook, event);
    await clock.advance(4_999);
    await busy(webhook, event);
    expect(server.connections()).toBe(1);
    await clock.advance(1);
    await busy(webhook, event);
    expect([server.requests.length, server.connections()]).toEqual([3, 2]);
  });

  test("is not reused for a name that leads elsewhere now: each attempt looks the name up and checks it (spec/webhooks.md 10)", async () => {
    await using server = await openReceiver(answering(200));
    const answers = [
      ["127.0.0.1"],
      ["127.0.0.1"],
      ["127.0.0.2", "127.0.0.1"],
      ["127.0.0.1", "10.0.0.1"],
      ["10.0.0.1"],
      ["127.0.0.1"],
    ];
    const webhook = webhookAt(`http://rebound.test:${server.port}/`);
    const rebinding = senderWith({ resolve: async () => answers.shift() ?? [] });
    const connections: number[] = [];
    const failures: unknown[] = [];
    while (answers.length > 0) {
      failures.push((await rebinding(webhook, event)).failure);
      connections.push(server.connections());
    }
    expect(failures).toEqual([null, null, null, "address_refused", "address_refused", null]);
    expect(connections).toEqual([1, 1, 2, 2, 2, 2]);
    expect(server.requests).toHaveLength(4);
  });

  test("with an endless answer is closed, and not used again", async () => {
    await using server = await openReceiver(({ url }, response) => {
      const more = () => {
        while (!response.destroyed && response.write("x".repeat(10_000)));
        if (!response.destroyed) response.once("drain", more);
      };
      if (url === "/endless") more();
      else response.end();
    });
    const webhook = webhookAt(`${server.url}/endless`);
    expect(await send(webhook, event)).toMatchObject({ delivered: true });
    await server.allClosed();
    expect(await send({ ...webhook, url: server.url }, event)).toMatchObject({ delivered: true });
    expect(server.connections()).toBe(2);
  });
});

describe("an attempt ends with a reason", () => {
  test("after ten seconds without an answer", async () => {
    const clock = stillClock();
    await using server = await openReceiver(() => undefined);
    const sent = senderWith({ clock })(webhookAt(server.url), event);
    await server.firstRequest;
    let isOver = false;
    void sent.then(() => {
      isOver = true;
    });
    await clock.advance(9_999);
    expect(isOver).toBe(false);
    await clock.advance(1);
    expect(await sent).toMatchObject({ ...none, failure: "timeout", latencyMs: 10_000 });
    await server.allClosed();
  });

  test("after ten seconds when its name is not found", async () => {
    const clock = stillClock();
    const { promise: never } = Promise.withResolvers<readonly string[]>();
    const asked = Promise.withResolvers<void>();
    const resolve = () => {
      asked.resolve();
      return never;
    };
    const sent = senderWith({ clock, resolve })(webhookAt("https://slow.test/"), event);
    await asked.promise;
    await clock.advance(10_000);
    expect(await sent).toMatchObject({ ...none, failure: "timeout", latencyMs: 10_000 });
  });

  test("after ten seconds with an incomplete head", async () => {
    const clock = stillClock();
    const began = Promise.withResolvers<void>();
    await using server = await rawServer((socket) => {
      socket.write("HTTP/1.1 200 OK\r\nx-slow: ");
      socket.once("data", () => began.resolve());
    });
    const sent = senderWith({ clock })(webhookAt(server.url), event);
    await began.promise;
    await clock.advance(10_000);
    expect(await sent).toMatchObject({ ...none, failure: "timeout" });
  });

  test("after ten seconds when only the body is slow, and then the status counts", async () => {
    const clock = stillClock();
    await using server = await openReceiver(
      (_request, response) => void response.writeHead(200).write("so far"),
    );
    const sent = senderWith({ clock, allow: "loopback" })(webhookAt(server.url), event);
    await server.firstRequest;
    let result: unknown;
    void sent.then((to) => {
      result = to;
    });
    while (result === undefined) {
      await clock.advance(1_000);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(result).toMatchObject({ delivered: true, status: 200 });
  });

  test.each([
    [
      "a connection that is reset",
      (socket: Socket) => socket.once("data", () => socket.resetAndDestroy()),
      "connection",
    ],
    [
      "a connection that is closed without an answer",
      (socket: Socket) => socket.once("data", () => socket.end()),
      "connection",
    ],
    [
      "a protocol other than HTTP",
      (socket: Socket) => socket.once("data", () => socket.end("SSH-2.0-OpenSSH_9.9\r\n")),
      "protocol",
    ],
    [
      "a head without end",
      (socket: Socket) =>
        socket.once("data", () => socket.write(`HTTP/1.1 200 OK\r\nx: ${"x".repeat(100_000)}`)),
      "protocol",
    ],
  ] as const)("at %s", async (_what, greet, failure) => {
    await using server = await rawServer(greet);
    expect(await send(webhookAt(server.url), event)).toMatchObject({ ...none, failure });
  });

  test("where no server listens, and where a name leads nowhere", async () => {
    const closedServer = await openReceiver(answering(200));
    await closedServer[Symbol.asyncDispose]();
    expect(await send(webhookAt(closedServer.url), event)).toMatchObject({ ...none, failure: "connection" });
    expect(await send(webhookAt("https://nowhere.example/"), event)).toMatchObject({
      ...none,
      failure: "connection",
    });
  });

  test("as delivered when a receiver closes after its head", async () => {
    await using server = await rawServer((socket) =>
      socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf")),
    );
    expect(await send(webhookAt(server.url), event)).toMatchObject({
      delivered: true,
      status: 200,
      failure: null,
    });
  });

  test("with the reason of the caller that aborts it", async () => {
    await using server = await openReceiver(() => undefined);
    const cutting = new AbortController();
    const sent = send(webhookAt(server.url), event, cutting.signal);
    await server.firstRequest;
    cutting.abort(new Error("this process stops"));
    await expect(sent).rejects.toThrow("this process stops");
  });
});

describe.skipIf(lacks("openssl"))("the text of an answer", () => {
  let folder: string;
  let certificate: Certificate;
  const trusted = getCACertificates("default");
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "delivery-"));
    certificate = selfSigned(folder);
    setDefaultCACertificates([...trusted, certificate.cert]);
  });
  afterAll(() => {
    setDefaultCACertificates([...trusted]);
    rmSync(folder, { recursive: true, force: true });
  });
  const url = ({ port }: Receiver, host = "files.test") => `https://${host}:${port}/`;
  const here = async () => ["127.0.0.1"];

  test("is not stored for addresses that are not public (spec/decisions.md 39)", async () => {
    await using server = await openReceiver(answering(500, {}, "internal secret"), certificate);
    for (const allow of ["loopback", `127.0.0.0/8:${server.port}`])
      expect(await senderWith({ allow, resolve: here })(webhookAt(url(server)), event)).toMatchObject({
        status: 500,
        response: null,
      });
  });

  test("is refused over TLS with an untrusted certificate, and under another name", async () => {
    await using server = await openReceiver(answering(200), certificate);
    const sender = senderWith({ resolve: here });
    expect(await sender(webhookAt(url(server)), event)).toMatchObject({ delivered: true });
    expect(await sender(webhookAt(url(server, "other.test")), event)).toMatchObject({
      ...none,
      failure: "tls",
    });
    setDefaultCACertificates([...trusted]);
    expect(await sender(webhookAt(url(server)), event)).toMatchObject({ ...none, failure: "tls" });
    setDefaultCACertificates([...trusted, certificate.cert]);
    expect(server.requests).toHaveLength(1);
  });

  test("requires TLS, otherwise there is no answer", async () => {
    await using server = await openReceiver(answering(200));
    expect(await senderWith({ resolve: here })(webhookAt(url(server)), event)).toMatchObject({
      ...none,
      failure: "tls",
    });
  });
});
