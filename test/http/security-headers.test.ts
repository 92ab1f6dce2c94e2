import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { openService } from "../support/service.ts";
import { stillClock } from "../support/still-clock.ts";

const paths = [
  "/livez",
  "/readyz",
  "/sign-in",
  "/docs/",
  "/openapi.json",
  "/llms.txt",
  "/v2/task.list",
  "/v1/tasks",
  "/nowhere",
  "/app",
];

test("every answer forbids to guess its type, and tells browsers to use https only where the pages have it", async () => {
  for (const [env, hsts] of [
    [{ BASE_URL: "https://api.example.com" }, "max-age=31536000"],
    [{ BASE_URL: "https://api.example.com", HSTS: "off" }, null],
    [{ BASE_URL: "http://127.0.0.1:8080" }, null],
  ] as const) {
    await using service = await openService({ idle: true, env });
    for (const path of paths) {
      const { headers } = await fetch(service.url + path, { redirect: "manual" });
      expect([path, headers.get("x-content-type-options"), headers.get("strict-transport-security")]).toEqual(
        [path, "nosniff", hsts],
      );
    }
  }
});

test("a request that no handler sees is refused with the same header", async () => {
  await using service = await openService({ idle: true });
  const { port } = new URL(service.url);
  const answerTo = async (request: string) => {
    const socket = connect(Number(port), "127.0.0.1");
    socket.end(request);
    return text(socket);
  };
  const long = "a".repeat(40_000);
  for (const [status, request] of [
    [400, "GET / HTTP/1.1\r\nNo colon\r\n\r\n"],
    [400, "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"],
    [400, "NOTHING / HTTP/1.1\r\nHost: a\r\n\r\n"],
    [400, "GET / HTTP/1.1\r\n\r\n"],
    [417, "GET / HTTP/1.1\r\nHost: a\r\nExpect: more\r\nConnection: close\r\n\r\n"],
    [431, `GET / HTTP/1.1\r\nHost: a\r\nA: ${long}\r\n\r\n`],
    [431, `GET /${long} HTTP/1.1\r\nHost: a\r\n\r\n`],
  ] as const) {
    const answer = await answerTo(request);
    expect([request.slice(0, 99), Number(answer.slice(9, 12))]).toEqual([request.slice(0, 99), status]);
    expect(answer).toMatch(/^x-content-type-options: nosniff\r$/im);
  }
});

test("HEAD is answered as GET without its body", async () => {
  await using service = await openService({ idle: true });
  for (const path of paths) {
    const get = await fetch(service.url + path, { redirect: "manual" });
    const head = await fetch(service.url + path, { method: "HEAD", redirect: "manual" });
    expect([path, head.status, head.headers.get("content-type")]).toEqual([
      path,
      get.status,
      get.headers.get("content-type"),
    ]);
    expect(await head.text()).toBe("");
  }
});

test("/.well-known/security.txt names a contact and ends in a year (RFC 9116)", async () => {
  const clock = stillClock();
  const contact = "mailto:security@example.com";
  const base = "https://api.example.com";
  await using own = await openService({
    idle: true,
    clock,
    env: { BASE_URL: base, SECURITY_CONTACT: contact },
  });
  const answer = await fetch(`${own.url}/.well-known/security.txt`);
  expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "text/plain; charset=utf-8"]);
  const expires = new Date(clock.now() + 365 * 24 * 3_600_000).toISOString();
  expect((await answer.text()).split("\n")).toEqual(
    expect.arrayContaining([
      `Contact: ${contact}`,
      `Expires: ${expires}`,
      `Canonical: ${base}/.well-known/security.txt`,
    ]),
  );
  await using service = await openService({ idle: true });
  const [, page = ""] =
    /^Contact: (\S+)$/m.exec(await (await fetch(`${service.url}/.well-known/security.txt`)).text()) ?? [];
  const { pathname, hash } = new URL(page);
  // Without a built site the page is Markdown, whose heading has the words of the anchor.
  expect((await (await fetch(service.url + pathname)).text()).toLowerCase()).toMatch(
    new RegExp(hash.slice(1).replaceAll("-", "[- ]")),
  );
});
