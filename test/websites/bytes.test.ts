import { createHash, randomBytes } from "node:crypto";
import { connect as connectHttp2 } from "node:http2";
import { connect, type Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { siteContentType } from "../../src/core/websites/checkpoint.ts";
import type { Person } from "../support/service.ts";
import { hostOf, openSiteRig, publish, runOfflineTask, type SiteRig, saveSite, visitHttp2 } from "./site.ts";

const megabyte = 1024 ** 2;
const film = randomBytes(40 * megabyte);
const digits = "0123456789";
const files = {
  "index.html": "home",
  "digits.txt": digits,
  empty: "",
  "film.mp4": film,
  "404.html": "nothing of mine",
  "döcs/index.html": "docs",
};

let rig: SiteRig;
let ann: Person;
let host: string;
let url: string;
beforeAll(async () => {
  rig = await openSiteRig();
  url = rig.service.url;
  ann = await rig.service.person();
  const taskId = await runOfflineTask(ann, "[[say hello]]");
  await rig.save(taskId, files);
  host = hostOf(await publish(ann, taskId));
});
afterAll(() => rig[Symbol.asyncDispose]());

const ask = async (path: string, headers: Record<string, string>, method = "GET") => {
  const { status, text, headers: responseHeaders } = await rig.visit(host, path, { method, headers });
  return [status, text, responseHeaders["content-range"] ?? null];
};

describe("parts of a file", () => {
  test.each([
    ["bytes=0-0", 206, "0", "bytes 0-0/10"],
    ["bytes=3-", 206, "3456789", "bytes 3-9/10"],
    ["bytes=-3", 206, "789", "bytes 7-9/10"],
    ["bytes=-99", 206, digits, "bytes 0-9/10"],
    ["bytes=8-99", 206, "89", "bytes 8-9/10"],
    ["bytes=10-", 416, "", "bytes */10"],
    ["bytes=-0", 416, "", "bytes */10"],
    ["bytes=5-2", 200, digits, null],
    ["bytes=0-1,4-5", 200, digits, null],
    ["items=0-1", 200, digits, null],
    ["bytes=a-b", 200, digits, null],
    ["bytes=-", 200, digits, null],
  ])("%s answers %i (RFC 9110 14)", async (range, status, text, expectedRange) => {
    expect(await ask("/digits.txt", { range })).toEqual([status, text, expectedRange]);
  });

  test("HEAD has none, an empty file has none, and neither has a 404 page", async () => {
    const { status, headers } = await rig.visit(host, "/digits.txt", {
      method: "HEAD",
      headers: { range: "bytes=0-1" },
    });
    expect([status, headers["content-length"]]).toEqual([200, "10"]);
    expect(await ask("/empty", { range: "bytes=0-" })).toEqual([416, "", "bytes */0"]);
    expect(await ask("/nothing", { range: "bytes=0-1" })).toEqual([404, files["404.html"], null]);
  });

  test("with If-Range a visitor's partial file continues only while it is unchanged", async () => {
    const etag = String((await rig.visit(host, "/digits.txt")).headers.etag);
    expect(etag).toBe(`"${createHash("sha256").update(digits).digest("hex")}"`);
    const range = "bytes=5-";
    expect(await ask("/digits.txt", { range, "if-range": etag })).toEqual([206, "56789", "bytes 5-9/10"]);
    expect(await ask("/digits.txt", { range, "if-range": `W/${etag}` }), "a weak tag does not match").toEqual(
      [200, digits, null],
    );
    expect(await ask("/digits.txt", { range, "if-range": new Date().toUTCString() })).toEqual([
      200,
      digits,
      null,
    ]);
    for (const known of [etag, `W/${etag}`, `"a", ${etag}`, "*"])
      expect(await ask("/digits.txt", { range, "if-none-match": known }), known).toEqual([304, "", null]);
    expect(await ask("/digits.txt", { "if-none-match": '"other"' })).toEqual([200, digits, null]);
    expect(await ask("/digits.txt", { "if-none-match": etag }, "HEAD")).toEqual([304, "", null]);
    expect((await ask("/nothing", { "if-none-match": "*" }))[0], "a missing page has no tag").toBe(404);
  });
});

describe("folders", () => {
  test("redirect to the canonical form of an address, and never off the site", async () => {
    const { status, headers } = await rig.visit(host, "/d%C3%B6cs?a=//b");
    expect([status, headers.location]).toEqual([308, "/d%C3%B6cs/?a=//b"]);
    expect((await rig.visit(host, "/d%C3%B6cs/")).text).toBe("docs");
    for (const path of ["//evil.test", "//evil.test/..", "/%2F%2Fevil.test", "/\\evil.test", "/%5Cevil.test"])
      expect((await rig.visit(host, path)).headers.location, path).toBeUndefined();
  });
});

describe("over HTTP/2", () => {
  const visitOver2 = (headers: Record<string, string>) =>
    visitHttp2(url, { ":authority": host, ":path": "/digits.txt", ...headers });

  test("the same answers as HTTP/1.1: full, parts, not modified, HEAD, other methods, 404", async () => {
    const { headers } = await visitOver2({});
    expect(headers).toMatchObject({
      "x-content-type-options": "nosniff",
      "content-length": "10",
      "accept-ranges": "bytes",
    });
    expect(await visitOver2({ range: "bytes=-2" })).toMatchObject({ status: 206, text: "89" });
    expect(await visitOver2({ "if-none-match": String(headers.etag) })).toMatchObject({
      status: 304,
      text: "",
    });
    expect(await visitOver2({ ":method": "HEAD" })).toMatchObject({ status: 200, text: "" });
    expect(await visitOver2({ ":method": "POST" })).toMatchObject({ status: 405 });
    expect(await visitOver2({ ":path": "/../digits.txt" })).toMatchObject({
      status: 404,
      text: files["404.html"],
    });
  });

  test("a large file is complete, next to other requests", async () => {
    const session = connectHttp2(url);
    try {
      const of = (path: string) => buffer(session.request({ ":authority": host, ":path": path }));
      const [one, small, two] = await Promise.all([of("/film.mp4"), of("/digits.txt"), of("/film.mp4")]);
      expect([one.equals(film), small.toString(), two.equals(film)]).toEqual([true, digits, true]);
    } finally {
      session.close();
    }
  });
});

describe("large files", () => {
  const { hostname, port } = { hostname: "127.0.0.1", port: () => Number(new URL(url).port) };
  /** A visitor who sent a request and does not read. */
  function opened(): Socket {
    const socket = connect(port(), hostname);
    socket.pause();
    socket.write(`GET /film.mp4 HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    return socket;
  }

  test("are not in memory for visitors who do not read, and are complete for them once they do", async () => {
    const held = () => process.memoryUsage().arrayBuffers;
    const before = held();
    const visitors = Array.from({ length: 8 }, opened);
    await delay(500);
    const rise = held() - before;
    expect(rise, "eight of them would be 320 MB").toBeLessThan(60 * megabyte);
    const last = visitors.pop();
    const bytes = last ? await buffer(last) : Buffer.alloc(0);
    expect(bytes.subarray(-film.length).equals(film)).toBe(true);
    for (const visitor of visitors) visitor.destroy();
  });

  test("of visitors who leave are not failures, and the next one is served", async () => {
    const logged = rig.service.logged.length;
    for (const visitor of Array.from({ length: 20 }, opened)) setImmediate(() => visitor.destroy());
    await delay(200);
    expect((await rig.visit(host, "/digits.txt")).text).toBe(digits);
    expect(rig.service.logged.slice(logged).filter(({ level }) => level === "error")).toEqual([]);
  });
});

describe("hosts", () => {
  /** The Host of a raw client, byte by byte. */
  async function raw(lines: string): Promise<string> {
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    socket.write(`${lines}\r\nConnection: close\r\n\r\n`);
    return (await buffer(socket)).toString();
  }
  const livez = (hostHeader: string) => raw(`GET /livez HTTP/1.1\r\n${hostHeader}`);
  const isSite = (answer: string) => answer.includes("Content-Security-Policy: sandbox");

  test.each([
    ["a port", (name: string) => `Host: ${name}:1`],
    ["letters in upper case", (name: string) => `Host: ${name.toUpperCase()}`],
    ["the dot of the root", (name: string) => `Host: ${name}.`],
    ["several dots", (name: string) => `Host: ${name}..`],
    ["dots and a port", (name: string) => `Host: ${name}..:80`],
    ["user information in front", (name: string) => `Host: platform.test@${name}`],
    ["blanks", (name: string) => `Host:   ${name}  `],
    ["a second Host after it", (name: string) => `Host: ${name}\r\nHost: platform.test`],
  ])("with %s a website's host is never ours", async (_, hostHeader) => {
    const answer = await livez(hostHeader(host));
    expect([isSite(answer) || answer.startsWith("HTTP/1.1 400"), answer.includes('"ok"')]).toEqual([
      true,
      false,
    ]);
  });

  test.each([
    "localhost.sites.test",
    "127.0.0.1.sites.test",
    "platform.test.sites.test",
    "www.sites.test",
    "sites.test",
    `${"a".repeat(19)}.sites.test`,
    `${"a".repeat(21)}.sites.test`,
    `${"a".repeat(19)}1.sites.test`,
    `${"a".repeat(19)}-.sites.test`,
    `${"ä".repeat(20)}.sites.test`,
    `a.${"a".repeat(20)}.sites.test`,
    `${"a".repeat(20)}..sites.test`,
  ])("%s belongs to no site: 404, and nothing of ours", async (name) => {
    const answer = await livez(`Host: ${name}`);
    expect(answer).toMatch(/^HTTP\/1\.1 404 /);
    expect(isSite(answer)).toBe(true);
  });

  test("labels are 20 lower-case letters and digits of base32, unique per site", async () => {
    const labels = await Promise.all(
      Array.from(
        { length: 5 },
        async () => (await rig.service.store.websites.ofTask(await saveSite(ann)))?.label ?? "",
      ),
    );
    for (const label of labels) expect(label).toMatch(/^[a-z2-7]{20}$/);
    expect(new Set(labels).size).toBe(5);
  });
});

test.each([
  ["a.html", "text/html; charset=utf-8"],
  ["a.HTM", "text/html; charset=utf-8"],
  ["css/a.css", "text/css; charset=utf-8"],
  ["a.mjs", "text/javascript; charset=utf-8"],
  ["a.json", "application/json; charset=utf-8"],
  ["a.webmanifest", "application/manifest+json; charset=utf-8"],
  ["feed.xml", "application/xml; charset=utf-8"],
  ["feed.atom", "application/atom+xml; charset=utf-8"],
  ["a.xhtml", "application/xhtml+xml; charset=utf-8"],
  ["a.svg", "image/svg+xml; charset=utf-8"],
  ["a.md", "text/markdown; charset=utf-8"],
  ["a.png", "image/png"],
  ["a.woff2", "font/woff2"],
  ["a.wasm", "application/wasm"],
  ["a.mp4", "video/mp4"],
  ["a.pdf", "application/pdf"],
  ["folder.html/plain", "application/octet-stream"],
  ["a.unknown-ending", "application/octet-stream"],
])("%s is served as %s", (path, type) => {
  expect(siteContentType(path)).toBe(type);
});
