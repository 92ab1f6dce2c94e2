import type { ServerResponse } from "node:http";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import type { Clock } from "../../src/core/clock.ts";
import { systemClock } from "../../src/core/clock.ts";
import { noTokens } from "../../src/core/connectors/credentials.ts";
import { connectorSignIns } from "../../src/mcp/sign-in.ts";
import { openLocal } from "../support/mcp-server.ts";
import { patient } from "../support/names.ts";
import { patientClock } from "../support/patient-clock.ts";

type Answer = object | ((response: ServerResponse) => void);

/** What it says instead of what it should, by path. */
let says: Record<string, Answer> = {};
const asked: string[] = [];
const waits = Promise.withResolvers<void>();

const local = await openLocal(async (request, response) => {
  const path = request.url ?? "";
  asked.push(path);
  for await (const _ of request);
  const answer: Answer | undefined = says[path] ?? honest()[path];
  if (answer === undefined) return void response.writeHead(404).end();
  if (typeof answer === "function") return answer(response);
  response.writeHead(path === "/register" ? 201 : 200, { "content-type": "application/json" }).end(JSON.stringify(answer));
});
afterAll(() => local[Symbol.asyncDispose]());
beforeEach(() => {
  says = {};
  asked.length = 0;
});

const resource = "/.well-known/oauth-protected-resource/mcp";
const metadata = "/.well-known/oauth-authorization-server";

const honestMetadata = () => ({
  ...{ issuer: local.url, authorization_endpoint: `${local.url}/authorize`, token_endpoint: `${local.url}/token` },
  ...{ registration_endpoint: `${local.url}/register`, response_types_supported: ["code"], code_challenge_methods_supported: ["S256"] },
});
const honest = (): Record<string, Answer> => ({
  [resource]: { resource: `${local.url}/mcp`, authorization_servers: [local.url], scopes_supported: ["read"] },
  [metadata]: honestMetadata(),
  "/register": { client_id: "us", redirect_uris: ["https://platform.test/connectors/callback"] },
  "/token": { access_token: "a", token_type: "Bearer", expires_in: 60, refresh_token: "r", scope: "read" },
});

const signIns = (clock: Clock = systemClock) =>
  connectorSignIns({
    ...{ clock, allowed: [{ kind: "loopback" }], redirectUrl: "https://platform.test/connectors/callback" },
    resolve: async (host) => [host === "localhost" ? "127.0.0.1" : "10.0.0.7"],
  });
const begin = () => signIns().begin(`${local.url}/mcp`, noTokens, "state", patient);
const finish = async (issuer = "", clock?: Clock) => signIns(clock).finish(await begin(), { code: "c", issuer }, patient);
const pour = (response: ServerResponse) => {
  response.writeHead(200, { "content-type": "application/json" });
  const more = () => {
    while (!response.destroyed && response.write(" ".repeat(65_536)));
    if (!response.destroyed) response.once("drain", more);
  };
  more();
};
const stranger = "https://stranger.example";

test("an authorization server that is honest is signed in to, and asked for no more than the server's metadata names", async () => {
  const begun = await begin();
  expect(new URL(begun.url).searchParams.get("scope")).toBe("read");
  expect((await finish()).tokens).toEqual({ access: "a", refresh: "r", expiresAt: expect.any(Number) });
});

describe("a sign-in is not begun where", () => {
  test.each([
    ["the metadata is another issuer's, whose code would come here", metadata, () => ({ ...honestMetadata(), issuer: stranger }), "broken"],
    ["the issuer is no address", metadata, () => ({ ...honestMetadata(), issuer: "x" }), "broken"],
    [
      "the resource is another's, whose tokens would come here",
      resource,
      () => ({ resource: `${stranger}/mcp`, authorization_servers: [local.url] }),
      "broken",
    ],
    [
      "the resource is below the server",
      resource,
      () => ({ resource: `${local.url}/mcp/a`, authorization_servers: [local.url] }),
      "broken",
    ],
    ["PKCE is not taken", metadata, () => ({ ...honestMetadata(), code_challenge_methods_supported: ["plain"] }), "broken"],
    ["the page is plain http", metadata, () => ({ ...honestMetadata(), authorization_endpoint: "http://stranger.example/" }), "broken"],
    ["the page is no page", metadata, () => ({ ...honestMetadata(), authorization_endpoint: "javascript:alert(1)" }), "unreachable"],
    [
      "the page has no end",
      metadata,
      () => ({ ...honestMetadata(), authorization_endpoint: `${local.url}/${"x".repeat(9_000)}` }),
      "broken",
    ],
    ["the metadata is more than is kept", metadata, () => ({ ...honestMetadata(), more: "x".repeat(40_000) }), "too_large"],
    ["the metadata has no end", metadata, () => pour, "unreachable"],
    ["the registration has no end", "/register", () => pour, "unreachable"],
    [
      "the registration is at an address inside",
      metadata,
      () => ({ ...honestMetadata(), registration_endpoint: "https://inside.example/register" }),
      "unreachable",
    ],
    [
      "the authorization server is at an address inside",
      resource,
      () => ({ resource: `${local.url}/mcp`, authorization_servers: ["https://10.0.0.7"] }),
      "unreachable",
    ],
  ])("%s", async (_why, path, answer, kind) => {
    says = { [path]: answer() };
    await expect(begin()).rejects.toMatchObject({ name: "ServerFault", kind });
    expect(asked).not.toContain("/token");
  });
});

describe("no tokens are taken", () => {
  test.each([
    ["at an address inside", metadata, () => ({ ...honestMetadata(), token_endpoint: "https://inside.example/token" }), "unreachable"],
    ["without an end", "/token", () => pour, "unreachable"],
    ["of another kind", "/token", () => ({ access_token: "a", token_type: "DPoP" }), "broken"],
    ["that would be two headers", "/token", () => ({ access_token: "a\r\nx: y", token_type: "bearer" }), "broken"],
    ["that are too long", "/token", () => ({ access_token: "a".repeat(9_000), token_type: "bearer" }), "broken"],
    ["that are none", "/token", () => ({ token_type: "bearer" }), "unreachable"],
    [
      "by a redirect to another origin, which would bring the code there",
      "/token",
      () => (response: ServerResponse) =>
        void response.writeHead(307, { location: `${local.url.replace("127.0.0.1", "localhost")}/elsewhere` }).end(),
      "unreachable",
    ],
  ])("%s", async (_why, path, answer, kind) => {
    says = { [path]: answer() };
    await expect(finish()).rejects.toMatchObject({ name: "ServerFault", kind });
    expect(asked).not.toContain("/elsewhere");
  });

  test("for the code of another issuer, or of one that does not say so although it said it would", async () => {
    await expect(finish(stranger)).rejects.toMatchObject({ kind: "refused" });
    expect((await finish(local.url)).tokens?.access).toBe("a");
    says = { [metadata]: { ...honestMetadata(), authorization_response_iss_parameter_supported: true } };
    asked.length = 0;
    await expect(finish("")).rejects.toMatchObject({ kind: "refused" });
    expect(asked).not.toContain("/token");
  });

  test("from one that answers drop by drop, once its time is over", async () => {
    says = {
      "/token": (response) => {
        response.writeHead(200, { "content-type": "application/json" });
        response.write(" ", () => waits.resolve());
      },
    };
    const clock = patientClock(0);
    const used = finish("", clock).catch((thrown: unknown) => thrown);
    await waits.promise;
    clock.pass(30_000);
    expect(await used).toMatchObject({ kind: "timeout" });
  });
});

test("a refresh that fails for another reason than a refusal asks nobody to sign in again", async () => {
  const has = await finish();
  const refresh = () => signIns().refresh(has, patient);
  for (const answer of [
    pour,
    (response: ServerResponse) => void response.writeHead(503).end("stranger"),
    (response: ServerResponse) => void response.writeHead(400).end("stranger"),
    (response: ServerResponse) => void response.writeHead(302, { location: `${stranger}/token` }).end(),
  ]) {
    says = { "/token": answer };
    const thrown = await refresh().catch((fault: unknown) => fault);
    expect(thrown).toMatchObject({ kind: "unreachable" });
    expect(String(thrown)).not.toContain("stranger");
  }
  says = { "/token": (response) => void response.writeHead(400).end('{"error":"invalid_grant"}') };
  await expect(refresh()).rejects.toMatchObject({ kind: "refused" });
  says = { "/token": { access_token: "b", token_type: "bearer", scope: "read write admin" } };
  expect((await refresh()).tokens).toEqual({ access: "b", refresh: "r", expiresAt: null });
});
