import type { RequestListener } from "node:http";
import { describe, expect, test } from "vitest";
import { createFetchClientDocument } from "../../src/adapters/egress/fetch-client-document.ts";
import type { Resolve } from "../../src/adapters/egress/resolve.ts";
import { allowedAddresses } from "../../src/config/address-range.ts";
import { systemClock } from "../../src/core/clock.ts";
import {
  type ClientDocuments,
  clientDocuments,
  isDocumentClientId,
} from "../../src/core/oauth/client-documents.ts";
import { lacks } from "../support/needs.ts";
import { stillClock } from "../support/still-clock.ts";
import { documentOf, openDocument, trustedServers } from "./unverified-rig.ts";

const loopback = allowedAddresses.parse("loopback");
const here = async () => ["127.0.0.1"];

interface Found {
  readonly documents: ClientDocuments;
  /** The addresses for which a fetch was counted. */
  readonly counted: string[];
}

function documentsWith({ clock = systemClock, resolve = here as Resolve, allowed = loopback } = {}): Found {
  const counted: string[] = [];
  const fetch = createFetchClientDocument(clock, resolve, allowed);
  return {
    counted,
    documents: clientDocuments({ clock, fetch, count: async (address) => void counted.push(address) }),
  };
}

const unreachable =
  "the document of the client could not be used: no answer of at most 5120 bytes was received within 5 seconds";

test.each([
  ["https://app.example/client", true],
  ["https://app.example:8443/oauth/client.json?v=1", true],
  ["http://app.example/client", false],
  ["https://app.example", false],
  ["https://app.example/", false],
  ["https://app.example/client#x", false],
  ["https://app.example/client#", false],
  ["https://user@app.example/client", false],
  ["https://app.example/a/../client", false],
  ["https://app.example/%2e%2e/client", false],
  ["https://APP.example/client", false],
  ["https://app.example:443/client", false],
  [`https://app.example/${"a".repeat(500)}`, false],
])("an address is a client id only in normal form (spec/oauth.md 16.1): %s", (text, is) => {
  expect(isDocumentClientId(text)).toBe(is);
});

describe.skipIf(lacks("openssl"))("a metadata document (spec/oauth.md 16.1)", () => {
  const open = trustedServers();
  const answering = async (answer: RequestListener) => {
    const server = await open(answer);
    return Object.assign(server, { clientId: `${server.url}/client` });
  };

  test("is an unverified client with the scopes of MCP, whose name has its host; redirects elsewhere and the logo are ignored", async () => {
    await using server = await openDocument(open);
    const { documents } = documentsWith();
    expect(await documents.find(server.clientId, "192.0.2.1")).toMatchObject({
      ...{
        clientId: server.clientId,
        spaceId: null,
        verified: false,
        scopes: ["create_task", "manage_all_tasks", "approve:task"],
      },
      name: `Kiosk (127.0.0.1:${server.port})`,
      homepageUrl: `${server.url}/about`,
      redirectUris: [`${server.url}/cb`, "http://localhost/cb"],
    });
    expect(server.requests).toEqual(["GET /client"]);
    expect(server.headers()).not.toHaveProperty("cookie");
  });

  test.each<readonly [string, object, string]>([
    ["of another client", { client_id: "https://other.example/client" }, "client_id"],
    ["without redirects of its own", { redirect_uris: ["https://elsewhere.example/cb"] }, "redirect_uris"],
    [
      "whose redirect only begins like the loopback",
      { redirect_uris: ["http://localhost.example/cb", "http://127.0.0.1.example/cb"] },
      "redirect_uris",
    ],
    ["without redirects", { redirect_uris: undefined }, "redirect_uris"],
    [
      "with 21 redirects",
      { redirect_uris: Array.from({ length: 21 }, (_, at) => `http://localhost/${at}`) },
      "redirect_uris",
    ],
    ["with a script as redirect", { redirect_uris: ["javascript:alert(1)"] }, "redirect_uris[0]"],
    ["with a secret", { token_endpoint_auth_method: "client_secret_basic" }, "token_endpoint_auth_method"],
    ["with a key", { token_endpoint_auth_method: "private_key_jwt" }, "token_endpoint_auth_method"],
    ["without codes", { grant_types: ["client_credentials"] }, "grant_types"],
    ["with a name that turns direction", { client_name: "a\u202eb" }, "client_name"],
    ["with a long name", { client_name: "a".repeat(61) }, "client_name"],
  ])("is refused %s", async (_, members, path) => {
    await using server = await openDocument(open, () => members);
    await expect(documentsWith().documents.find(server.clientId, "a")).rejects.toThrow(
      `the document of the client: ${path}: `,
    );
  });

  test.each<readonly [string, RequestListener, string]>([
    [
      "a redirect",
      (_request, answer) => answer.writeHead(302, { location: "/other" }).end(),
      "answered with status 302",
    ],
    ["an error", (_request, answer) => answer.writeHead(500).end(), "answered with status 500"],
    [
      "a page",
      (_request, answer) => answer.writeHead(200, { "content-type": "text/html" }).end("{}"),
      "content type",
    ],
    [
      "no JSON",
      (_request, answer) => answer.writeHead(200, { "content-type": "application/json" }).end("{"),
      "is not JSON",
    ],
    [
      "a list",
      (_request, answer) => answer.writeHead(200, { "content-type": "application/json" }).end("[]"),
      "JSON object",
    ],
    [
      "more than 5 KiB",
      (_request, answer) =>
        answer.writeHead(200, { "content-type": "application/json" }).end(" ".repeat(5121)),
      unreachable,
    ],
    ["a broken connection", (request) => request.socket.destroy(), unreachable],
  ])("is not taken from %s", async (_, answer, text) => {
    await using server = await answering(answer);
    await expect(documentsWith().documents.find(server.clientId, "a")).rejects.toThrow(text);
    expect(server.requests).toEqual(["GET /client"]);
  });

  test("is given up after 5 seconds, also in the middle of its body", async () => {
    await using server = await answering((_request, answer) => {
      answer.writeHead(200, { "content-type": "application/json" });
      answer.write("{");
    });
    const clock = stillClock();
    const found = documentsWith({ clock }).documents.find(server.clientId, "a");
    await server.firstRequest;
    await Promise.all([expect(found).rejects.toThrow(unreachable), clock.advance(5_000)]);
    await server.allClosed();
  });

  test("is not fetched from addresses that are not public, from a name that leads to one, and not over another port (spec/decisions.md 39)", async () => {
    await using server = await openDocument(open);
    const { documents } = documentsWith({ allowed: [] });
    for (const host of ["127.0.0.1", "[::1]", "10.0.0.1", "169.254.169.254", "private.example"])
      await expect(documents.find(`https://${host}:${server.port}/client`, "a")).rejects.toThrow(unreachable);
    expect(server.connections()).toBe(0);
  });

  test("comes from the address that was checked: the name is looked up once", async () => {
    await using server = await openDocument(open, () => ({ client_id: "x" }));
    const looked: string[] = [];
    const resolve: Resolve = async (host) => (looked.push(host) === 1 ? ["127.0.0.1"] : ["10.0.0.1"]);
    const { documents } = documentsWith({ resolve });
    await expect(documents.find(`https://files.test:${server.port}/client`, "a")).rejects.toThrow(
      "client_id: must be equal to the URL",
    );
    expect([looked, server.requests]).toEqual([["files.test"], ["GET /client"]]);
  });

  test("is cached as long as its server says, an hour without a word, and at most a day; each fetch counts for its address", async () => {
    for (const [header, ms] of [
      [{}, 3_600_000],
      [{ "cache-control": "public, max-age=600" }, 600_000],
      [{ "cache-control": "max-age=0" }, 60_000],
      [{ "cache-control": "max-age=999999999" }, 86_400_000],
    ] as const) {
      await using server = await openDocument(open, () => ({}), header);
      const clock = stillClock();
      const { documents, counted } = documentsWith({ clock });
      await documents.find(server.clientId, "a");
      clock.step(ms - 1);
      await documents.find(server.clientId, "b");
      expect(server.requests).toHaveLength(1);
      clock.step(1);
      await documents.find(server.clientId, "c");
      expect([server.requests.length, counted]).toEqual([2, ["a", "c"]]);
    }
  });

  test("that was refused is not cached", async () => {
    let members: object = { client_id: "x" };
    await using server = await answering((_request, answer) => {
      answer.writeHead(200, { "content-type": "application/json" }).end(documentOf(server.url, members));
    });
    const { documents } = documentsWith();
    await expect(documents.find(server.clientId, "a")).rejects.toThrow("client_id");
    members = {};
    expect(await documents.find(server.clientId, "a")).toMatchObject({ verified: false });
  });
});
