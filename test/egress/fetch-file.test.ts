import { buffer, text } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { fetchFile } from "../../src/adapters/egress/fetch-file.ts";
import { LookUpFailed } from "../../src/adapters/egress/look-up.ts";
import { allowedAddresses } from "../../src/config/address-range.ts";
import { systemClock } from "../../src/core/clock.ts";
import { stillClock } from "../support/still-clock.ts";
import { openReceiver } from "./receiver.ts";

const loopback = allowedAddresses.parse("loopback");
const signal = new AbortController().signal;
const max = 1000;
/** The errors that callers read. */
const refusal = (reason: string) => ({
  reason: "invalid_argument",
  path: "file_url",
  message: `file_url: could not be fetched: ${reason}`,
});
const notPublic = refusal(
  "the address must be public, on port 80 or 443; this one is not, or nothing answers there",
);
const noAddress = (subject: string) =>
  refusal(`${subject} must be an http or https URL without user name and password`);
const tooLarge = refusal("the file must be at most 1000 bytes");
const late = refusal("the file was not received within 30 seconds");
const unknown = refusal("the host name was not found");
/** Names of this test; each look-up gets the next answer, and after that the last one. */
function names(answers: Readonly<Record<string, readonly (readonly string[])[]>>) {
  const asked: string[] = [];
  const resolve = async (host: string): Promise<readonly string[]> => {
    const rounds = answers[host] ?? [];
    const turn = Math.min(asked.filter((name) => name === host).length, rounds.length - 1);
    asked.push(host);
    return rounds[turn] ?? Promise.reject(new LookUpFailed("not_found", host));
  };
  return { asked, resolve };
}
const none = names({}).resolve;
const get = (url: string, resolve = none, allowed = loopback) =>
  fetchFile(allowed, systemClock, resolve)(url, { max, accountId: "ann", signal });

describe("a fetched file", () => {
  test("has its bytes, type and name, and the request carries only our name", async () => {
    await using server = await openReceiver((_request, response) =>
      response
        .writeHead(200, {
          "content-type": "Text/CSV; charset=utf-8",
          "content-disposition": 'attachment; filename="a.csv"',
          "set-cookie": "a=b",
        })
        .end("a,b\n1,2\n"),
    );
    const file = await get(`${server.url}/path/x.bin?q=1#part`);
    expect({ ...file, bytes: await text(file.bytes) }).toMatchObject({
      bytes: "a,b\n1,2\n",
      contentType: "text/csv",
      filename: "a.csv",
    });
    expect(server.requests).toEqual(["GET /path/x.bin?q=1"]);
    const { host, connection, ...headers } = server.headers();
    expect(headers).toEqual({
      "user-agent": "agent-task-platform",
      accept: "*/*",
      "accept-encoding": "identity",
    });
    await server.allClosed();
  });

  test("may be empty, and need not declare a type", async () => {
    await using server = await openReceiver((_request, response) => response.end());
    const file = await get(server.url);
    expect({ ...file, bytes: await text(file.bytes) }).toMatchObject({
      bytes: "",
      contentType: null,
      filename: null,
    });
  });

  test("may be as large as allowed, with and without a length", async () => {
    await using server = await openReceiver(({ url }, response) => {
      if (url === "/chunked") response.flushHeaders();
      response.end("x".repeat(max));
    });
    for (const path of ["/chunked", "/length"])
      expect(await buffer((await get(server.url + path)).bytes)).toHaveLength(max);
  });
});

describe("redirects", () => {
  test("are followed up to five times, and the last address gives the name", async () => {
    await using server = await openReceiver(({ url = "" }, response) => {
      const left = Number(url.slice(1));
      if (left === 0) response.end("there");
      else
        response
          .writeHead([301, 302, 303, 307, 308][left % 5] ?? 302, { location: `${left - 1}` })
          .end("moved");
    });
    const file = await get(`${server.url}/5`);
    expect([await text(file.bytes), file.filename]).toEqual(["there", "0"]);
    expect(server.requests).toHaveLength(6);
    await expect(get(`${server.url}/6`)).rejects.toMatchObject(refusal("it redirects more than 5 times"));
    expect(server.requests).toHaveLength(12);
  });

  test("in a loop end", async () => {
    await using server = await openReceiver((_request, response) =>
      response.writeHead(302, { location: "/again" }).end(),
    );
    await expect(get(server.url)).rejects.toMatchObject(refusal("it redirects more than 5 times"));
    expect(server.requests).toHaveLength(6);
    await server.allClosed();
  });

  test.each([
    ...[
      "http://10.0.0.1/",
      "http://169.254.169.254/latest/meta-data",
      "http://[::ffff:169.254.169.254]/",
      "http://0xa9fea9fe/",
      "//10.0.0.1/x",
      "http://inside.test/",
    ].map((location) => ({ location, why: notPublic })),
    ...[
      "ftp://127.0.0.1/",
      "file:///etc/passwd",
      "data:text/plain,x",
      "http://user:secret@127.0.0.1/",
      "http://%zz/",
    ].map((location) => ({
      location,
      why: noAddress("the redirect target"),
    })),
    { location: "http://unknown.test/", why: unknown },
  ])("to $location are refused", async ({ location, why: reason }) => {
    await using server = await openReceiver((_request, response) =>
      response.writeHead(302, { location }).end(),
    );
    const { resolve } = names({ "inside.test": [["192.168.1.1"]] });
    await expect(get(server.url, resolve)).rejects.toMatchObject(reason);
    expect(server.requests).toEqual(["GET /"]);
  });
});

describe("an address that is not public", () => {
  const forms = (port: number) => [
    ...[
      `http://127.0.0.1:${port}`,
      `http://localhost:${port}`,
      `http://0x7f.1:${port}`,
      `http://2130706433:${port}`,
      `http://0177.0.0.1:${port}`,
    ],
    ...[
      `http://127.1:${port}`,
      `http://[::ffff:127.0.0.1]:${port}`,
      `http://[::ffff:7f00:1]:${port}`,
      `http://0:${port}`,
    ],
    ...[
      `http://0.0.0.0:${port}`,
      `http://[::]:${port}`,
      `http://127.0.0.1.:${port}`,
      `http://①②⑦.0.0.1:${port}`,
      `http://name.test:${port}`,
    ],
  ];

  test("is never connected to, in any spelling", async () => {
    await using server = await openReceiver((_request, response) => response.end("secret"));
    const { resolve } = names({ localhost: [["127.0.0.1"]], "name.test": [["127.0.0.1"]] });
    for (const url of forms(server.port))
      await expect(get(url, resolve, [])).rejects.toMatchObject(notPublic);
    expect(server.connections()).toBe(0);
  });

  test.each([
    ["http://169.254.169.254/latest/meta-data/"],
    ["http://10.0.0.1/"],
    ["https://192.168.0.1/"],
    ["http://[fe80::1]/"],
    ["http://[fd00::1]/"],
    ["http://[64:ff9b::a9fe:a9fe]/"],
    ["http://[2002:a9fe:a9fe::1]/"],
  ])("is refused where only loopback is allowed: %s", async (url) => {
    await expect(get(url)).rejects.toMatchObject({
      ...notPublic,
      cause: expect.objectContaining({ name: "RefusedDestination" }),
    });
  });

  test("is refused when a look-up finds it among public ones, before any connection", async () => {
    await using server = await openReceiver((_request, response) => response.end());
    const { resolve, asked } = names({
      "two.test": [["127.0.0.1", "10.0.0.1"]],
      "turned.test": [["fd00::1", "127.0.0.1"]],
    });
    for (const host of ["two.test", "turned.test"])
      await expect(get(`http://${host}:${server.port}`, resolve)).rejects.toMatchObject(notPublic);
    expect(asked).toEqual(["two.test", "turned.test"]);
    expect(server.connections()).toBe(0);
  });

  test("cannot replace a checked one: a name is looked up once for a connection, and again for the next", async () => {
    await using server = await openReceiver((_request, response) =>
      response.writeHead(302, { location: "/again" }).end(),
    );
    const { resolve, asked } = names({ "rebound.test": [["127.0.0.1"], ["10.0.0.1"]] });
    await expect(get(`http://rebound.test:${server.port}/`, resolve)).rejects.toMatchObject(notPublic);
    expect(asked).toEqual(["rebound.test", "rebound.test"]);
    expect(server.requests).toEqual(["GET /"]);
  });

  test.each([
    "",
    "nonsense",
    "ftp://127.0.0.1/",
    "file:///etc/passwd",
    "javascript:1",
    "http://",
    "http://u@127.0.0.1/",
    "http://u:p@127.0.0.1/",
  ])("%j is not an address", async (url) => {
    await expect(get(url)).rejects.toMatchObject(noAddress("it"));
  });

  test("a name without an address, or with an invalid one, is refused", async () => {
    const { resolve } = names({ "empty.test": [[]], "odd.test": [["localhost"]] });
    for (const host of ["empty.test", "odd.test", "unknown.test"])
      await expect(get(`http://${host}/`, resolve)).rejects.toMatchObject(
        host === "unknown.test" ? unknown : notPublic,
      );
  });
});

test("checked addresses are tried in turn until one answers", async () => {
  await using server = await openReceiver((request, response) => response.end(request.headers.host));
  const { resolve, asked } = names({ "files.test": [["127.0.0.2", "::1", "127.0.0.1"]] });
  const file = await get(`http://files.test:${server.port}/`, resolve);
  expect(await text(file.bytes)).toBe(`files.test:${server.port}`);
  expect(asked).toEqual(["files.test"]);
});

describe("refuses an answer:", () => {
  test.each([204, 206, 304, 400, 401, 404, 500])("status %i", async (status) => {
    await using server = await openReceiver((_request, response) =>
      response.writeHead(status, "inner text").end(),
    );
    await expect(get(server.url)).rejects.toMatchObject(
      refusal(`the server answered with status ${status}, not with 200`),
    );
    await server.allClosed();
  });

  test("a redirect without a location", async () => {
    await using server = await openReceiver((_request, response) => response.writeHead(302).end());
    await expect(get(server.url)).rejects.toMatchObject(
      refusal("the server answered with status 302, not with 200"),
    );
  });

  test.each([
    "gzip",
    "br",
    "identity, gzip",
    "x-unknown",
  ])("encoded content that was not requested: %s", async (encoding) => {
    await using server = await openReceiver((_request, response) =>
      response.writeHead(200, { "content-encoding": encoding }).end(gzipSync(Buffer.alloc(100_000))),
    );
    await expect(get(server.url)).rejects.toMatchObject(
      refusal("the server sent it with a content encoding that was not requested"),
    );
  });

  test("a closed port of an allowed address gives the same text as an address that is not allowed", async () => {
    const server = await openReceiver(() => undefined);
    await server[Symbol.asyncDispose]();
    const messageOf = (url: string) => get(url).catch(({ message }: Error) => message);
    expect(await messageOf(server.url)).toBe(await messageOf("http://10.0.0.1/"));
    await expect(get(server.url)).rejects.toMatchObject(notPublic);
  });

  test("an answer of an allowed address that is not HTTP gives the same text", async () => {
    await using server = await openReceiver((_request, response) =>
      response.socket?.end("220 mail.test ESMTP\r\n"),
    );
    await expect(get(server.url)).rejects.toMatchObject(notPublic);
  });

  test("a length above the limit, before a byte is read", async () => {
    await using server = await openReceiver((_request, response) =>
      response.writeHead(200, { "content-length": max + 1 }).flushHeaders(),
    );
    await expect(get(server.url)).rejects.toMatchObject(tooLarge);
    await server.allClosed();
  });

  test("an endless body", async () => {
    let written = 0;
    await using server = await openReceiver((_request, response) => {
      const write = () => {
        while (!response.destroyed && response.write("x".repeat(500))) written += 500;
        if (!response.destroyed) response.once("drain", write);
      };
      write();
    });
    const file = await get(server.url);
    await expect(text(file.bytes)).rejects.toMatchObject(tooLarge);
    await server.allClosed();
    expect(written).toBeGreaterThan(max);
  });

  test("a body shorter than its length", async () => {
    await using server = await openReceiver((_request, response) => {
      response.writeHead(200, { "content-length": 100 }).write("short");
      setImmediate(() => response.destroy());
    });
    const { bytes } = await get(server.url);
    const cut = refusal("the connection failed before the complete file was received");
    await expect(text(bytes)).rejects.toMatchObject(cut);
    expect(bytes.errored).toMatchObject(cut);
  });
});

describe("the time limit", () => {
  test("of 30 seconds in total ends a fetch from a server that never answers", async () => {
    const clock = stillClock();
    await using server = await openReceiver(() => undefined);
    const seen = expect(
      fetchFile(loopback, clock, none)(server.url, { max, accountId: "ann", signal }),
    ).rejects.toMatchObject(notPublic);
    await server.firstRequest;
    await clock.advance(29_999);
    expect(server.open()).toBe(1);
    await clock.advance(1);
    await seen;
    await server.allClosed();
  });

  test("of 30 seconds in total ends a fetch of a slow body", async () => {
    const clock = stillClock();
    await using server = await openReceiver((_request, response) => void response.write("x"));
    const { bytes } = await fetchFile(loopback, clock, none)(server.url, { max, accountId: "ann", signal });
    const seen = expect(text(bytes)).rejects.toMatchObject(late);
    await clock.advance(29_999);
    expect(server.open()).toBe(1);
    await clock.advance(1);
    await seen;
    await server.allClosed();
  });

  test("also ends the look-up of a name that is never found", async () => {
    const clock = stillClock();
    const { promise: never } = Promise.withResolvers<readonly string[]>();
    const seen = expect(
      fetchFile(loopback, clock, () => never)("http://slow.test/", { max, accountId: "ann", signal }),
    ).rejects.toMatchObject(late);
    await clock.advance(30_000);
    await seen;
  });

  test("a caller that aborts gets its own reason, and the connection is closed", async () => {
    await using server = await openReceiver((_request, response) => void response.write("x"));
    const caller = new AbortController();
    const file = await fetchFile(
      loopback,
      stillClock(),
      none,
    )(server.url, { max, accountId: "ann", signal: caller.signal });
    const seen = expect(text(file.bytes)).rejects.toThrow("enough");
    caller.abort(new Error("enough"));
    await seen;
    await server.allClosed();
    await expect(
      fetchFile(loopback, stillClock(), none)(server.url, { max, accountId: "ann", signal: caller.signal }),
    ).rejects.toThrow("enough");
  });

  test("a caller that stops reading closes the connection", async () => {
    await using server = await openReceiver((_request, response) => void response.write("x"));
    const file = await fetchFile(loopback, stillClock(), none)(server.url, { max, accountId: "ann", signal });
    file.bytes.destroy();
    await server.allClosed();
  });
});
