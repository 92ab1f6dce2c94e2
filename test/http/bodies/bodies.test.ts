import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { Failure } from "../../../src/core/failure.ts";
import { framed } from "../../wires/raw.ts";
import { begin, type Sending } from "./client.ts";
import { bodyLimit, openStub } from "./stub.ts";
import { bodyWires } from "./wires.ts";

const each = Object.entries(bodyWires);
const kib = 1024;

describe.each(each)("a body of %s", (_name, wire) => {
  test("is accepted when it arrives in pieces", async () => {
    await using stub = await openStub({});
    const sending = begin(stub.url, wire);
    const body = wire.body(100 * kib);
    for (let at = 0; at < body.length; at += 10_000) sending.write(body.subarray(at, at + 10_000));
    sending.end();
    const { text } = await sending.answer();
    for (const [, refusal] of [wire.late, wire.full]) expect(text).not.toMatch(refusal);
  });

  test("that does not end is answered in its wire form, and its connection or stream is closed", async () => {
    await using stub = await openStub({ bodyMs: 60 });
    const sending = begin(stub.url, wire);
    sending.write(wire.body(50 * kib).subarray(0, 30 * kib));
    const [status, form] = wire.late;
    const answer = await sending.answer();
    expect([answer.status, answer.text]).toEqual([status, expect.stringMatching(form)]);
    await sending.closed;
  });

  test("beyond the memory for bodies is refused with Retry-After, and releases the memory that it held", async () => {
    await using stub = await openStub({ bodyMemory: 400 * kib, bodyShare: 100 * kib });
    const over = begin(stub.url, wire);
    over.write(wire.body(150 * kib));
    const [status, form] = wire.full;
    const answer = await over.answer();
    expect([answer.status, answer.text]).toEqual([status, expect.stringMatching(form)]);
    if (status === 503) expect(answer.headers.get("retry-after")).toBe("1");
    over.destroy();
    const fits = begin(stub.url, wire);
    fits.write(wire.body(45 * kib));
    fits.end();
    expect((await fits.answer()).text).not.toMatch(form);
  });
});

const health = { path: "/grpc.health.v1.Health/Check", type: "application/json" } as const;
const create = bodyWires["v2 over HTTP/1.1"] ?? never();
const grpc = bodyWires["gRPC over HTTP/2"] ?? never();

/** The answer that arrives first; the others may never arrive. */
function firstAnswer(sendings: readonly Sending[]): ReturnType<Sending["answer"]> {
  const answers = sendings.map((sending) => sending.answer());
  for (const answer of answers) answer.catch(() => undefined);
  return Promise.race(answers);
}

function never(): never {
  throw new Error("no such wire");
}

const taskWires = each.flatMap(([name, wire]) => {
  const path = wire.path
    .replace("project.create", "task.create")
    .replace("project.v2.ProjectService/CreateProject", "task.v2.TaskService/CreateTask");
  return path === wire.path ? [] : [[name, { ...wire, path }] as const];
});

test.each(
  taskWires,
)("the decoded bytes of a large body of %s count in the minute of its account, small ones do not", async (_name, wire) => {
  const counted: number[] = [];
  await using stub = await openStub({}, {}, undefined, async (bytes) => {
    if (bytes > 0) counted.push(bytes);
    if (counted.length > 1)
      throw new Failure("rate_limited", "no bytes are left in this minute", { retryAfter: 7 });
  });
  const sent = async (bytes: number) => {
    const sending = begin(stub.url, wire);
    sending.write(wire.body(bytes));
    sending.end();
    return sending.answer();
  };
  for (const bytes of [200 * kib, 300 * kib, 200 * kib])
    expect((await sent(bytes)).text).not.toContain("no bytes are left");
  expect(counted).toEqual([expect.toSatisfy((bytes: number) => bytes > 299 * kib && bytes < 301 * kib)]);
  const refused = await sent(300 * kib);
  expect(refused.text + (refused.headers.get("grpc-message") ?? "")).toMatch(/no( |%20)bytes/);
  if (refused.status !== 200)
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "7"]);
});

describe("the memory for bodies", () => {
  test("gives each account at most its share, and other accounts are served at the same time", async () => {
    await using stub = await openStub({ bodyMemory: 400 * kib, bodyShare: 100 * kib });
    const first = begin(stub.url, create);
    first.write(create.body(150 * kib).subarray(0, 80 * kib));
    const second = begin(stub.url, create);
    second.write(create.body(150 * kib).subarray(0, 80 * kib));
    const refused = await firstAnswer([first, second]);
    expect(refused.status).toBe(503);
    const other = begin(stub.url, create, { "x-service-api-key": "bob" });
    other.write(create.body(45 * kib));
    other.end();
    expect((await other.answer()).status).toBe(200);
    first.destroy();
    second.destroy();
  });

  test("counts the decompressed size of a compressed message", async () => {
    await using stub = await openStub({ bodyMemory: 400 * kib, bodyShare: 100 * kib });
    const [status, form] = grpc.full;
    for (const [size, isTaken] of [
      [90 * kib, true],
      [200 * kib, false],
      [90 * kib, true],
    ] as const) {
      const sending = begin(stub.url, grpc, { "grpc-encoding": "gzip" });
      const message = grpc.body(size).subarray(5);
      sending.write(framed(gzipSync(message), 1));
      sending.end();
      const answer = await sending.answer();
      expect([answer.status, form.test(answer.text)]).toEqual([status, !isTaken]);
    }
  });
});

describe("an unfinished body of a caller without an account", () => {
  test("gets a shorter timeout", async () => {
    await using stub = await openStub({ anonymousMs: 60 });
    const sending = begin(stub.url, { ...health, http2: false });
    sending.write(Buffer.from("{"));
    expect((await sending.answer()).text).toContain("the body did not arrive within 0.06 s");
  });

  test.each([
    false,
    true,
  ])("is one of few of its address, which others do not share (HTTP/2: %s)", async (http2) => {
    await using stub = await openStub({ unfinishedMax: 2 });
    const from = (address: string) => begin(stub.url, { ...health, http2 }, { "x-forwarded-for": address });
    const sendings = [from("192.0.2.1"), from("192.0.2.1"), from("192.0.2.1")];
    for (const sending of sendings) sending.write(Buffer.from("{"));
    const refused = await firstAnswer(sendings);
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "1"]);
    const other = from("192.0.2.2");
    other.write(Buffer.from("{}"));
    other.end();
    expect((await other.answer()).status).toBe(200);
    for (const sending of sendings) sending.destroy();
  });

  test("releases its slot when it ends", async () => {
    await using stub = await openStub({ unfinishedMax: 1 });
    for (let i = 0; i < 3; i++) {
      const sending = begin(stub.url, { ...health, http2: true });
      sending.write(Buffer.from("{"));
      sending.write(Buffer.from("}"));
      sending.end();
      expect((await sending.answer()).status).toBe(200);
    }
  });
});

test.each([
  false,
  true,
])("a client that leaves after an early answer gives its place back (HTTP/2: %s)", async (http2) => {
  await using stub = await openStub({ unfinishedMax: 1 });
  const tooLong = begin(stub.url, { ...health, http2 });
  tooLong.write(Buffer.alloc(70_000, " "));
  expect((await tooLong.answer()).text).toContain("is larger than 65536 bytes");
  tooLong.destroy();
  /** An unfinished body. The server has its first bytes when it answers the next request. */
  async function next(): Promise<number> {
    const sending = begin(stub.url, { ...health, http2 });
    sending.write(Buffer.from("{"));
    await fetch(`${stub.url}/livez`);
    sending.write(Buffer.from("}"));
    sending.end();
    return (await sending.answer()).status;
  }
  await expect.poll(next).toBe(200);
});

test("a refused body is read to its end, and the next request on its connection is answered", async () => {
  await using stub = await openStub({});
  const socket = connect(Number(new URL(stub.url).port));
  const writeHead = (length: number): void => {
    const lines = [
      `POST ${create.path} HTTP/1.1`,
      "Host: a",
      "X-Service-API-Key: ann",
      "Content-Type: application/json",
    ];
    socket.write(`${[...lines, `Content-Length: ${length}`].join("\r\n")}\r\n\r\n`);
  };
  const length = 8 * bodyLimit;
  writeHead(length);
  socket.write(Buffer.alloc(length, " "));
  writeHead(2);
  socket.end("{}");
  expect((await text(socket)).match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 413", "HTTP/1.1 200"]);
});

test("a conversation has no timeout", async () => {
  const talking = Promise.withResolvers<void>();
  await using stub = await openStub(
    { bodyMs: 20, graceMs: 20 },
    {
      converse: (_admission, messages) =>
        (async function* () {
          talking.resolve();
          yield* messages;
        })(),
    },
  );
  const attach = begin(stub.url, {
    path: "/browser.v2.BrowserService/Attach",
    type: "application/grpc+proto",
    http2: true,
  });
  await talking.promise;
  // Several times the timeout of a body.
  const ordinary = begin(stub.url, create);
  ordinary.write(Buffer.from("{"));
  expect((await ordinary.answer()).status).toBe(408);
  const again = begin(stub.url, create);
  again.write(Buffer.from("{"));
  expect((await again.answer()).status).toBe(408);
  let closed = false;
  void attach.closed.then(() => {
    closed = true;
  });
  expect(closed).toBe(false);
  attach.end();
  await attach.closed;
});

test("a client that disconnects before its body is read releases its slot", async () => {
  const counting: PromiseWithResolvers<void>[] = [];
  const arrived = Promise.withResolvers<void>();
  await using stub = await openStub({ unfinishedMax: 1 }, {}, () => {
    if (counting.length > 0) return Promise.resolve();
    const counted = Promise.withResolvers<void>();
    counting.push(counted);
    arrived.resolve();
    return counted.promise;
  });
  const leaving = begin(stub.url, { ...health, http2: true });
  leaving.write(Buffer.from("{"));
  await arrived.promise;
  leaving.destroy();
  await leaving.closed.catch(() => undefined);
  // The answer to a later request on another connection proves that the server noticed the disconnect.
  const other = begin(stub.url, create);
  other.write(create.body(10));
  other.end();
  await other.answer();
  counting[0]?.resolve();
  const next = begin(stub.url, { ...health, http2: true });
  next.write(Buffer.from("{}"));
  next.end();
  expect((await next.answer()).status).toBe(200);
});
