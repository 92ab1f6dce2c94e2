import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "vitest";
import { createProveDomain } from "../../src/adapters/egress/prove-domain.ts";
import { systemClock } from "../../src/core/clock.ts";
import { stillClock } from "../support/still-clock.ts";
import { type DnsAnswer, openDnsServer } from "./dns-server.ts";

const token = "T".repeat(43);
const domain = "shop.example.com";
const by = { accountId: "ann", signal: new AbortController().signal };
const nameError = { code: 3 };

/** A domain with these TXT records and this web server on loopback. */
async function openDomain(
  records: DnsAnswer,
  listener?: RequestListener,
  { isAllowed = true, clock = systemClock } = {},
) {
  const dns = await openDnsServer((name, type) =>
    name === `_atp-verify.${domain}` && type === "TXT" ? records : nameError,
  );
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.headers.host?.split(":")[0]} ${request.method} ${request.url}`);
    if (listener) listener(request, response);
    else response.writeHead(404).end();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo; // It listens on TCP.
  const prove = createProveDomain({
    clock,
    resolve: async () => ["127.0.0.1"],
    servers: [dns.address],
    allowed: isAllowed ? [{ kind: "loopback" }] : [],
    ports: [port, port],
  });
  return {
    prove: () => prove(domain, token, by),
    asked,
    dns,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await dns[Symbol.asyncDispose]();
    },
  };
}

describe("the proof of a custom domain", () => {
  test("is a TXT record, also one of several and one in parts; then no request is sent", async () => {
    await using site = await openDomain([
      { type: "TXT", data: "other" },
      { type: "TXT", data: token },
    ]);
    expect([await site.prove(), site.asked]).toEqual([true, []]);
  });

  test.each([
    ["no record", nameError],
    ["an empty answer", []],
    ["another text", [{ type: "TXT", data: token.slice(1) }]],
    ["a longer text", [{ type: "TXT", data: `${token} ` }]],
    ["other letter case", [{ type: "TXT", data: token.toLowerCase() }]],
    ["a server failure", { code: 2 }],
  ] as const)("is not %s", async (_, records) => {
    await using site = await openDomain(records);
    expect(await site.prove()).toBe(false);
  });

  test("is the text at the path, with or without a line feed, under the domain's own name", async () => {
    for (const text of [token, `${token}\n`]) {
      await using site = await openDomain(nameError, (_, response) => response.end(text));
      expect([await site.prove(), site.asked]).toEqual([true, [`${domain} GET /.well-known/atp-verify`]]);
    }
  });

  const hostile: readonly (readonly [string, RequestListener])[] = [
    [
      "a redirect to the text",
      (request, response) => {
        if (request.url === "/text") response.end(token);
        else response.writeHead(302, { location: "/text" }).end(token);
      },
    ],
    ["the text with status 404", (_, response) => response.writeHead(404).end(token)],
    ["a page that contains the text", (_, response) => response.end(`<p>${token}</p>`)],
    ["the text at the end of a large answer", (_, response) => response.end(`${" ".repeat(2_000)}${token}`)],
    [
      "an answer without end",
      (_, response) => {
        const timer = setInterval(() => response.write(" ".repeat(10_000)), 1);
        response.once("close", () => clearInterval(timer));
      },
    ],
    ["a connection that breaks", (request) => request.socket.destroy()],
    ["something other than HTTP", (request) => request.socket.end("hello")],
  ];
  test.each(hostile)("is not %s", async (_, listener) => {
    await using site = await openDomain(nameError, listener);
    expect(await site.prove()).toBe(false);
  });

  test("is not looked for at addresses that are not public", async () => {
    await using site = await openDomain(nameError, (_, response) => response.end(token), {
      isAllowed: false,
    });
    expect([await site.prove(), site.asked]).toEqual([false, []]);
  });

  test("is given up when name server and web server do not answer", async () => {
    const clock = stillClock();
    await using site = await openDomain(null, () => undefined, { clock });
    const proved = site.prove();
    await site.dns.waitForQuestions(1);
    await clock.advance(15_000);
    expect(await proved).toBe(false);
  });
});
